"""A shell command is a local inspection when every part of it is shown to be one.

It is parsed, never matched: what the parser does not know for sure, a construct that is not in the
list, a command that is not in the table, or a text that is too long is an execution. Source: SPEC
C3; the grammar of tree-sitter-bash.
"""

import posixpath
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Final

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from pmcl.judgement.effects.commands import assigns_harmlessly, inspects
from pmcl.judgement.effects.flags import Word

__all__ = [
    "SCRIPT_MAX_BYTES",
    "command_nodes",
    "command_words",
    "parse",
    "parse_within",
    "shell_inspects",
    "unwrapped",
    "walk",
    "word_of",
    "words_inspect",
]

SCRIPT_MAX_BYTES: Final = 4096
"""Longer scripts are executions unread; it bounds the time that parsing takes."""
_NESTED_MAX: Final = 3
_PIECE_BYTES: Final = 1024
"""The parser looks at a clock between reads, which take longer the longer they are."""

_language = Language(tree_sitter_bash.language())

# Constructs that do nothing by themselves but what is inside them. Loops without an end, functions,
# arithmetic (`a[$(rm)]`), patterns and brace expansion are not among them.
_PLAIN: Final = frozenset(
    (
        "program list pipeline command command_name word number string string_content raw_string "
        "concatenation simple_expansion variable_name special_variable_name command_substitution "
        "process_substitution subshell compound_statement redirected_statement "
        "herestring_redirect heredoc_start heredoc_body heredoc_content "
        "heredoc_end comment negated_command if_statement elif_clause else_clause "
        "do_group unary_expression binary_expression ansi_c_string"
    ).split()
)
_WORDS: Final = frozenset(
    (
        "word number string raw_string concatenation simple_expansion expansion ansi_c_string "
        "command_substitution process_substitution"
    ).split()
)
_SINKS: Final = frozenset({"/dev/null", "/dev/stderr", "/dev/stdout"})
_WRAPPERS: Final = {
    **dict.fromkeys(("command", "nohup", "setsid"), ""),
    "doas": "Cu",
    "env": "Cu",
    "exec": "a",
    "nice": "n",
    "stdbuf": "eio",
    "sudo": "CDRTUghpru",
    "time": "fo",
    "timeout": "ks",
    "xargs": "EILPadns",
}
"""Commands that run another one, and which of their flags take the next word."""
# In some shells these lower-case names stand for a search path.
_PATHS: Final = frozenset({"path", "cdpath", "fpath", "manpath", "module_path", "prompt"})
_PATTERN: Final = frozenset("*?[")
_BLANKS: Final = frozenset(" \t\n")
_DOLLARS: Final = frozenset({"simple_expansion", "string"})
_JOINED: Final = frozenset({"concatenation", "expansion", "simple_expansion"})
_NO_TEST: Final = frozenset("*?<>")  # `[ a > b ]` writes
_RUNS_IN_TEXT: Final = frozenset("$`\\")
_ESCAPED_IN_QUOTES: Final = frozenset('"\\$`')


def shell_inspects(script: str) -> bool:
    """Return whether a script only inspects this machine; never raises."""
    return _inspects(script, _NESTED_MAX)


def words_inspect(words: list[str]) -> bool:
    """Return whether a command that is given word by word only inspects this machine."""
    if sum(map(len, words)) > SCRIPT_MAX_BYTES:
        return False
    return _shown(inspects([Word(word) for word in words]), _NESTED_MAX)


def _inspects(script: str, nested: int) -> bool:
    data = script.encode("utf-8", "surrogatepass")
    if nested == 0 or len(data) > SCRIPT_MAX_BYTES or not _is_plain_text(script):
        return False
    root = parse(script)
    if root.has_error or root.named_child_count == 0:
        return False
    nodes = [*walk(root)]
    return _is_read_whole(nodes, data) and all(
        _is_shown(node, nested) for node in nodes if node.is_named
    )


def _is_plain_text(script: str) -> bool:
    """Return whether parser and shell see the same blanks: no control sign, no foreign blank."""
    return not any(
        sign not in " \t\n" and (sign.isspace() or not sign.isprintable()) for sign in script
    )


def parse(script: str) -> Node:
    """Return the root of the script's tree; it may hold errors."""
    return Parser(_language).parse(script.encode("utf-8", "surrogatepass")).root_node


def parse_within(script: str, is_over: Callable[[], bool]) -> Node | None:
    """Return the root of the script's tree; `None` when it took until `is_over`."""
    data = script.encode("utf-8", "surrogatepass")

    def piece(at: int, _: object) -> bytes:
        return data[at : at + _PIECE_BYTES]

    try:
        tree = Parser(_language).parse(piece, progress_callback=lambda _, __: is_over())
    except ValueError:
        return None
    return tree.root_node


def walk(root: Node) -> Iterator[Node]:
    """Yield the node and all below it."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(node.children)


def _is_read_whole(nodes: list[Node], data: bytes) -> bool:
    """Return whether the grammar passed over nothing but blanks and took no blank into a word.

    It does both at times, where a backslash stands before a blank.
    """
    if not all(_is_joined(node) for node in nodes if node.type in _JOINED):
        return False
    at = 0
    for leaf in sorted((node for node in nodes if not node.children), key=lambda n: n.start_byte):
        if data[at : leaf.start_byte].replace(b"\\\n", b"").strip(b" \t\n"):
            return False
        if leaf.type == "$" and (leaf.parent is None or leaf.parent.type not in _DOLLARS):
            return False  # alone it is a word, which the grammar does not always count as one
        if leaf.type == "word" and not _BLANKS.isdisjoint(_text(leaf).replace("\\ ", "")):
            return False
        at = max(at, leaf.end_byte)
    return not data[at:].strip(b" \t\n")


def _is_joined(node: Node) -> bool:
    return all(one.end_byte == other.start_byte for one, other in pairwise(node.children))


def _is_shown(node: Node, nested: int) -> bool:
    if node.type == "command":
        return _command_inspects(node, nested)
    rule = _RULES.get(node.type)
    return node.type in _PLAIN if rule is None else rule(node)


def _command_inspects(node: Node, nested: int) -> bool:
    if not all(child.is_named for child in node.children):
        return False  # a lone `$` is a word as well
    set_here = [child for child in node.children if child.type == "variable_assignment"]
    if not all(assigns_harmlessly(_text(child).partition("=")[0]) for child in set_here):
        return False
    return _shown(inspects(command_words(node)), nested)


def command_words(node: Node) -> list[Word]:
    """Return the name of a command and what follows it."""
    return [word_of(each) for each in command_nodes(node)]


def command_nodes(node: Node) -> list[Node]:
    """Return where the name of a command and what follows it stand."""
    nodes = []
    for child in node.children:
        if child.type == "command_name":
            nodes.append(child.named_children[0] if child.named_children else child)
        elif child.type in _WORDS:
            nodes.append(child)
    return nodes


def unwrapped(words: list[str | None]) -> list[str | None]:
    """Return the command behind `sudo -u a`, `env A=b`, `timeout 5` and the like."""
    at = 0
    while (name := _word_at(words, at)) and posixpath.basename(name) in _WRAPPERS:
        valued = _WRAPPERS[posixpath.basename(name)]
        at += 1
        while (word := _word_at(words, at)) and _belongs_to_wrapper(word):
            takes_next = len(word) == 2 and word[0] == "-" and word[1] in valued
            at += 2 if takes_next else 1
    return words[at:]


def _word_at(words: list[str | None], at: int) -> str | None:
    return words[at] if at < len(words) else None


def _belongs_to_wrapper(text: str) -> bool:
    return text.startswith("-") or "=" in text or text[:1].isdigit()


def _shown(found: bool | str, nested: int) -> bool:  # noqa: FBT001 - a finding, or a script
    return _inspects(found, nested - 1) if isinstance(found, str) else found


def _assigns_own_name(node: Node) -> bool:
    name = _text(node).partition("=")[0]
    if node.parent is not None and node.parent.type == "command":
        return assigns_harmlessly(name)
    return _is_own_name(name)


def _is_own_name(name: str) -> bool:
    """Return whether a variable means something to the script alone."""
    return name.isidentifier() and name.islower() and name not in _PATHS


def _tests_plainly(node: Node) -> bool:
    """Return whether `[ … ]` has as many words as are written: `[ $x ]` may get operators."""
    spreading = {"simple_expansion", "expansion", "command_substitution", "process_substitution"}
    loose = (
        found.type in spreading and (found.parent is None or found.parent.type != "string")
        for found in walk(node)
    )
    text = _text(node)
    return text.startswith("[ ") and _NO_TEST.isdisjoint(text) and not any(loose)


def _redirects_nowhere(node: Node) -> bool:
    signs = {child.type for child in node.children if not child.is_named}
    targets = [child for child in node.named_children if child.type != "file_descriptor"]
    if len(targets) != 1:
        return False
    target = word_of(targets[0]).text
    if target is None:
        return False
    if signs == {"<"}:
        return not target.startswith(("/dev/tcp", "/dev/udp"))
    if signs <= {">&", "<&"}:
        return target.isdecimal() or target == "-"
    return target in _SINKS


def _is_plain_heredoc(node: Node) -> bool:
    """Return whether a here-document ends where it seems to, and hides nothing that is run.

    The grammar overlooks what runs inside some bodies, so the text between the two ends is read,
    and it may hold none of the signs by which a shell runs or joins anything.
    """
    ends = {child.type: child for child in node.named_children}
    start, end = ends.get("heredoc_start"), ends.get("heredoc_end")
    if start is None or end is None:
        return False
    word = _text(start).strip("'\"")
    if not word.isalnum() or _text(end).strip() != word:
        return False
    between = (node.text or b"")[
        start.end_byte - node.start_byte : end.start_byte - node.start_byte
    ]
    return _text(start) != word or _RUNS_IN_TEXT.isdisjoint(between.decode("utf-8", "replace"))


def word_of(node: Node) -> Word:
    """Return the word as the command gets it, unknown where only running the shell would tell."""
    text = _text(node)
    match node.type:
        case "word" | "number":
            return _plain_word(text, _unescape(text))
        case "raw_string":
            return Word(text[1:-1])
        case "string":
            known = all(child.type == "string_content" for child in node.named_children)
            return Word(_unescape_quoted(text[1:-1]) if known else None)
        case "process_substitution":
            return Word("/dev/fd/0")  # a path at any rate, never a flag
        case "concatenation":
            parts = [word_of(child).text for child in node.children]
            whole = "".join(part for part in parts if part is not None)
            return Word(None) if None in parts else _plain_word(text, whole)
    return Word(None)


def _plain_word(text: str, given: str) -> Word:
    """Return a word without expansions; braces and patterns can make others of it."""
    if "{" in text and ("," in text or ".." in text):
        return Word(None)
    spreads = not _PATTERN.isdisjoint(text)
    if spreads and text[0] in "-*?[":
        return Word(None)  # a file may be called like a flag
    return Word(given, spreads)


def _unescape(text: str) -> str:
    signs = iter(text.replace("\\\n", ""))
    return "".join(next(signs, "") if sign == "\\" else sign for sign in signs)


def _unescape_quoted(text: str) -> str:
    done: list[str] = []
    at = 0
    while at < len(text):
        follows = text[at + 1 : at + 2]
        if text[at] == "\\" and follows in _ESCAPED_IN_QUOTES and follows:
            at += 1
        done.append(text[at])
        at += 1
    return "".join(done)


def _loops_over_words(node: Node) -> bool:
    variable = node.child_by_field_name("variable")
    own = variable is not None and _is_own_name(_text(variable))
    return own and node.children[0].type == "for"


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "surrogatepass")


_RULES: Final[dict[str, Callable[[Node], bool]]] = {
    "expansion": lambda node: _text(node)[2:-1].isidentifier(),
    "file_descriptor": lambda node: _text(node).isdecimal(),  # `-o2>&1` is none
    "file_redirect": _redirects_nowhere,
    "for_statement": _loops_over_words,
    "heredoc_redirect": _is_plain_heredoc,
    "test_command": _tests_plainly,
    # These two run what the subscript of their operand holds.
    "test_operator": lambda node: _text(node) not in ("-v", "-R"),
    "variable_assignment": _assigns_own_name,
}
