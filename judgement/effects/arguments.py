"""What arguments add to what a tool's name says: they only ever raise.

A program is read, and what writes, reaches out or cannot be read in bounds is told by its name.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from pmcl.contracts import Effect
from pmcl.judgement.effects.contents import Finding, content_of, program_finding
from pmcl.judgement.effects.lexicon import PLAIN, WEB_WORDS
from pmcl.judgement.effects.names import NAME_MAX_CHARS, words_of
from pmcl.judgement.effects.risk import riskiest
from pmcl.judgement.effects.rules import Content

__all__ = ["findings_in", "flag_effect"]

_READ_MAX: Final = 2_000
_DEEPEST: Final = 16

_SCHEMES: Final = ("http://", "https://", "ftp://", "ftps://", "ws://", "wss://", "//")
_OPTIONS: Final = frozenset("args argv cli_args extra_args flags options".split())
_ACTIONS: Final = frozenset("action command_type mode op operation verb".split())
_BODIES: Final = frozenset("body data file files form form_data json payload upload".split())
_SAVES: Final = frozenset("dest destination out output save".split())
_PLACES: Final = frozenset("dir directory file filename folder path to".split())
_EXPRESSIONS: Final = frozenset("expr expression formula".split())
_ARITHMETIC: Final = frozenset("0123456789.,+-*/%^() eE")
_OVERRIDE: Final = "x-http-method-override"
_METHODS: Final[dict[str, Effect]] = {
    "GET": "network",
    "HEAD": "network",
    "OPTIONS": "network",
    "DELETE": "mutation",
    "PATCH": "communication",
    "POST": "communication",
    "PUT": "communication",
}
_EMPTY: Final[tuple[object, ...]] = (None, "", [], {}, False)


def findings_in(
    words: list[str], arguments: Mapping[str, Any], said: Mapping[str, Content]
) -> Iterator[Finding]:
    """Yield what each argument adds to what the tool's name says; never raises.

    Args:
        words: the tool's name.
        arguments: the call's.
        said: what an operator says that arguments hold.
    """
    held = {name: content_of(name, value, words, said) for name, value in arguments.items()}
    requests = "url" in held.values()
    web = requests or not (WEB_WORDS | {"request", "fetch", "curl"}).isdisjoint(words)
    for read, (name, value, depth) in enumerate(_members(arguments)):
        if read == _READ_MAX or depth > _DEEPEST or len(name) > NAME_MAX_CHARS:
            yield Finding("execution", "arguments.unread")
            return
        if value in _EMPTY:
            continue
        content = content_of(name, value, words, said)
        if content is None:
            yield from _by_name(name, value)
        else:
            yield from _by_content(content, value, web=web)
        if requests and name.lower() in _BODIES:
            yield Finding("communication", "http.body")


def flag_effect(name: str) -> Effect | None:
    """Return the effect of a flag like `delete_after`, when it is set; `None` for other names."""
    verbs = [PLAIN[word] for word in words_of(name) if word in PLAIN]
    return riskiest(verbs) if verbs else None


def _members(value: Any, name: str = "", depth: int = 0) -> Iterator[tuple[str, Any, int]]:
    """Yield every named value; an item of a list has the list's name."""
    if depth > _DEEPEST + 1:
        return
    if isinstance(value, Mapping):
        for key, member in value.items():
            yield key, member, depth
            yield from _members(member, key, depth + 1)
    elif isinstance(value, list | tuple):
        for item in value:
            yield name, item, depth
            yield from _members(item, name, depth + 1)


def _by_content(content: Content, value: Any, *, web: bool) -> Iterator[Finding]:
    match content:
        case "shell" | "sql" | "code":
            finding = program_finding(content, value)
            if finding.effect != "inspect_local":
                yield finding
        case "url" if not _is_local(value):
            yield Finding("network", "argument.url")
        case "method" if web or str(value).upper() in _METHODS:
            yield _method(value)
        case "tool":
            yield Finding("execution", "dispatch.hidden")


def _is_local(url: Any) -> bool:
    return isinstance(url, bool | int | float) or (isinstance(url, str) and url.startswith("file:"))


def _method(value: Any) -> Finding:
    return Finding(_METHODS.get(str(value).upper(), "execution"), "http.method")


def _by_name(name: str, value: Any) -> Iterator[Finding]:
    if value in (True, "true", "True", "yes"):
        flag = flag_effect(name)
        if flag is not None:
            yield Finding(flag, "argument.flag")
    if isinstance(value, str):
        yield from _text(name.lower(), value)
        if _is_place_to_write(words_of(name)):
            yield Finding("mutation", "argument.writes_to")


def _text(name: str, value: str) -> Iterator[Finding]:
    if value.lower().startswith(_SCHEMES) and not any(sign.isspace() for sign in value):
        yield Finding("network", "argument.url")
    if name in _OPTIONS and value.startswith("-"):
        yield Finding("execution", "argument.options")
    if name in _EXPRESSIONS and not _ARITHMETIC.issuperset(value):
        yield Finding("execution", "argument.expression")
    if name == _OVERRIDE:
        yield _method(value)
    if name in _ACTIONS:
        asked = flag_effect(value[:256])
        if asked is not None:
            yield Finding(asked, "argument.action")


def _is_place_to_write(words: list[str]) -> bool:
    if words == ["outfile"]:
        return True
    return not _SAVES.isdisjoint(words) and not _PLACES.isdisjoint(words)
