"""Text as a tool returns it, taken apart: which value stands under which key, and what is prose.

JSON, Python literals, lines of `key: value`, tables and lists are recognised; anything else is
prose. Nothing here fails: what cannot be taken apart is one piece of prose.
"""

import ast
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, Literal

import msgspec

from pmcl.judgement.grounding.hidden import hidden_in
from pmcl.judgement.grounding.listings import blocks_of, is_listing, unnumbered

__all__ = ["Leaf", "leaves_of"]

_DEEPEST: Final = 16
_LITERAL_MAX_CHARS: Final = 32_768
_KEY_MAX_WORDS: Final = 4

_key_line = re.compile(
    r"^(\s*(?:[-*\u2022]\s+|\d{1,3}[.)]\s+)?)([\w][\w .'/()-]{0,40}?)\s*[:=]\s+(\S.*)$"
)
_item_line = re.compile(r"^(\s*[-*\u2022]\s+|\s*\d{1,3}[.)]\s+)(.*)$")
_inner_key = re.compile(r"""[{,[]\s*['"][\w .-]{1,40}['"]\s*:\s*""")
_quoted_pair = re.compile(r"'[:,\]]")
_cells = re.compile(r"\t+|\s{3,}|\s*\|\s*")
_paragraph = re.compile(r"\n[ \t]*\n")
_rule = re.compile(r"^[\s=_*+|-]*$")


class Leaf(msgspec.Struct, frozen=True):
    """One value.

    Attributes:
        key: the name it stands under, empty when it has none.
        stated: whoever wrote the text of another field also wrote the name.
        code: it is programming code or a log, told by its form, as a whole file or within a text.
    """

    key: str
    text: str
    stated: bool = False
    code: Literal["", "file", "block"] = ""


def leaves_of(text: str) -> list[Leaf]:
    """Return the values of a text in order, and behind them the words that it hides."""
    hidden = [Leaf("", piece) for piece in hidden_in(text)]
    try:
        leaves = [*_leaves("", unnumbered(text), 0)]
    except (RecursionError, ValueError):  # a number that Python does not write out, for one
        leaves = [Leaf("", text)]
    return [*leaves, *hidden]


def _leaves(key: str, text: str, depth: int) -> Iterator[Leaf]:
    stripped = text.strip()
    structured = depth < _DEEPEST and stripped[:1] in ("{", "[", '"')
    value = _decoded(stripped) if structured else None
    if value is not None:
        yield from _walk(key, value, depth + 1)
    elif depth == 0 and is_listing(stripped):
        yield from _code(stripped, "file")
    elif structured and _inner_key.search(stripped):
        yield from _broken(stripped, depth + 1)
    elif "\n" not in stripped:
        yield from _one_line(key, stripped)
    elif depth >= _DEEPEST:
        yield Leaf(key, stripped)
    elif depth > 0:
        yield from _lines(key, text, depth)
    else:
        for is_code, block in blocks_of(text):
            yield from _code(block, "block") if is_code else _lines(key, block, depth)


def _code(block: str, of: Literal["file", "block"]) -> Iterator[Leaf]:
    """Yield the paragraphs of code."""
    return (Leaf("", part, code=of) for part in _paragraph.split(block) if part.strip())


def _decoded(text: str) -> Any:
    try:
        value = json.loads(text, object_pairs_hook=_members)
    except (ValueError, RecursionError):
        value = _literal(text)
    return value if isinstance(value, dict | list | tuple | str) else None


def _literal(text: str) -> Any:
    if len(text) > _LITERAL_MAX_CHARS or _quoted_pair.search(text) is None:
        return None
    try:
        return ast.literal_eval(_Apart().visit(ast.parse(text, mode="eval")))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any] | list[dict[str, Any]]:
    """Return an object, or its members one by one where a name stands twice: a reader sees both."""
    return dict(pairs) if _are_unlike(name for name, _ in pairs) else [{k: v} for k, v in pairs]


class _Apart(ast.NodeTransformer):
    """Does the same for literals."""

    def visit_Dict(self, node: ast.Dict) -> ast.expr:
        self.generic_visit(node)
        if _are_unlike(ast.dump(key) for key in node.keys if key is not None):
            return node
        members = zip(node.keys, node.values, strict=True)
        return ast.List([ast.Dict([key], [value]) for key, value in members], ast.Load())


def _are_unlike(names: Iterable[str]) -> bool:
    names = [*names]
    return len(set(names)) == len(names)


def _walk(key: str, value: Any, depth: int) -> Iterator[Leaf]:
    if depth > _DEEPEST:
        yield Leaf(key, str(value))
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield Leaf("", str(name))
            yield from _walk(str(name), inner, depth + 1)
    elif isinstance(value, list | tuple | set):
        for inner in value:
            yield from _walk(key, inner, depth + 1)
    elif isinstance(value, str):
        yield from _leaves(key, value, depth)
    elif value is not None:
        yield Leaf(key, str(value))


def _broken(text: str, depth: int) -> Iterator[Leaf]:
    """Yield the pieces between the keys of JSON or a literal that does not decode."""
    last, key = 0, ""
    for match in _inner_key.finditer(text):
        yield from _piece(key, text[last : match.start()])
        key, last = re.sub(r"[\W]+", " ", match.group()).strip(), match.end()
    yield from _piece(key, text[last:])


def _piece(key: str, text: str) -> Iterator[Leaf]:
    stripped = text.strip(" \n\t,{}[]")
    if stripped:
        yield Leaf(key, stripped.strip("'\""))


def _one_line(key: str, line: str) -> Iterator[Leaf]:
    match = _key_line.match(line)
    if match and len(match[2].split()) <= _KEY_MAX_WORDS:
        yield from _worded(match[2])
        yield Leaf(match[2], _unquoted(match[3].strip()), stated=bool(key))
    elif line:
        item = _item_line.match(line)
        yield Leaf(key, _unquoted(item[2] if item else line))


def _lines(key: str, text: str, depth: int) -> Iterator[Leaf]:
    lines = text.splitlines()
    paragraph: list[str] = []
    position = 0
    while position < len(lines):
        line = lines[position]
        position += 1
        found = _entry(line)
        if found is None:
            if _rule.match(line):
                yield from _flush(key, paragraph)
            elif len(cells := _cells.split(line.strip())) > 1 and max(map(len, cells)) < 80:
                yield from _flush(key, paragraph)
                yield from (Leaf(key, cell) for cell in cells if cell)
            else:
                paragraph.append(line.strip())
            continue
        yield from _flush(key, paragraph)
        indent, name, value = found
        if name and _is_among_names(
            line, lines[max(0, position - 2) : position - 1], lines[position : position + 1]
        ):
            yield Leaf(name, value, stated=True)
            continue
        yield from _worded(name)
        more, position = _continued(lines, position, indent, value)
        yield from _leaves(name or key, _unquoted(more), depth + 1) if more != text else ()
    yield from _flush(key, paragraph)


def _worded(name: str) -> Iterator[Leaf]:
    """Yield a name of several words, since it may say something itself (`add to setup.py: ...`)."""
    if " " in name:
        yield Leaf("", name)


def _entry(line: str) -> tuple[int, str, str] | None:
    """Return indentation, key and value of a line `key: value` or `- value`."""
    match = _key_line.match(line)
    if match and len(match[2].split()) <= _KEY_MAX_WORDS:
        return len(match[1]), match[2], match[3].strip()
    match = _item_line.match(line)
    return (len(match[1]), "", match[2].strip()) if match and match[2].strip() else None


def _is_among_names(line: str, *neighbours: list[str]) -> bool:
    """Return whether a list entry `key: value` stands among plain entries: then it is one too."""
    beside = [other for lines in neighbours for other in lines]
    plain = [other for other in beside if not _key_line.match(other)]
    return bool(plain) and all(map(_item_line.match, (line, *beside)))


def _continued(lines: list[str], position: int, indent: int, value: str) -> tuple[str, int]:
    """Return the value with the lines that go on with it, and the position after them."""
    quote = value[:1] if value[:1] in ("'", '"') else ""
    parts = [value]
    while position < len(lines):
        line = lines[position]
        deeper = bool(line.strip()) and _indent(line) >= max(indent, 1) and _entry(line) is None
        if not (not _closed(parts, quote) if quote else deeper):
            break
        parts.append(line.strip())
        position += 1
    return "\n".join(parts), position


def _closed(parts: list[str], quote: str) -> bool:
    joined = parts[-1] if len(parts) > 1 else parts[0][1:]
    trailing = len(joined) - len(joined.rstrip(quote))
    return trailing % 2 == 1


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        inner = value[1:-1]
        if value[0] == "'":
            return inner.replace("''", "'")
        return inner.replace("\\n", "\n").replace("\\\n", "").replace('\\"', '"').replace("\\", "")
    return value


def _flush(key: str, paragraph: list[str]) -> Iterator[Leaf]:
    if paragraph:
        yield Leaf(key, "\n".join(paragraph))
        paragraph.clear()
