"""The values that decide whom or what an effect reaches, told by shape, name and description."""

import re
from collections.abc import Iterator
from typing import Any, Final, Literal

import msgspec

from pmcl.contracts import ToolDefinition
from pmcl.judgement.grounding.folding import compact, fold

__all__ = [
    "Reach",
    "Value",
    "ValueKind",
    "addresses_in",
    "beside_endpoints",
    "has_endpoint",
    "reach_of",
    "values_of",
]

ValueKind = Literal["endpoint", "name", "secret", "amount", "command", "text"]

Reach = Literal["address", "link", "party", "secret", "nobody"]

VALUES_MAX: Final = 64
_TEXT_MIN_CHARS: Final = 12
_NAME_MAX_WORDS: Final = 5
_DEEPEST: Final = 8
_MARK_DIGITS: Final = 16
"""As many of a redacted secret's digits stand in the mark that replaces it in a text."""

# Those that begin with a run of many signs begin where the run does: tried at every place of a long
# one, they take the square of its length.
_email = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_url = re.compile(
    r"(?:https?://|ftp://|www\.)[^\s'\"<>()\[\]{},]+|"
    r"(?<![\w-])(?<![\w-]\.)(?:[\w-]+\.)+[a-z]{2,}/[^\s'\"<>()]*"
)
_iban = re.compile(r"\b[a-z]{2}\d{2}(?:[ -]?[a-z0-9]{2,5}){2,8}\b")
_digits = re.compile(r"(?<![\w.])\+?\d(?:[ ().-]?\d){7,}(?![\w.])")
_chain = re.compile(r"\b0x[0-9a-f]{16,}\b|\b[a-z0-9]{26,62}\b")
_ENDPOINTS: Final = (_email, _url, _iban, _digits)
_path = re.compile(r"(?:^|(?<=[\s'\"=:]))~?(?:/[\w.+@-]+)+/?")
_host = re.compile(r"^(?:[\w-]+\.)+[a-z]{2,}(?::\d+)?$")
_date = re.compile(r"^\d{4}-\d{2}-\d{2}(?:[t ]\d{2}:\d{2}(?::\d{2})?)?|^\d{1,2}:\d{2}")
_word = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

_COMMAND: Final = frozenset("command cmd commands script shell code bash".split())
_SECRET: Final = frozenset("password passcode passphrase pin secret pwd".split())
_AMOUNT: Final = frozenset(
    "amount price total quantity cost sum fee budget limit count units shares".split()
)
_WHO: Final = frozenset(
    "account address assignee attendee attendees bcc beneficiary cc channel channels city contact "
    "contacts destination device domain domains email emails file filename folder from group guest "
    "guests hotel host id ids iban identifier invitee invitees location member members name "
    "number organizer owner participant participants passenger passengers path payee person phone "
    "recipient recipients repo repository restaurant room server street target title to url user "
    "username users website".split()
)
_PARTIES: Final = frozenset(
    "account accounts assignee attendee attendees bcc beneficiary cc contact contacts destination "
    "email emails guest guests iban invitee invitees member members mobile participant "
    "participants payee person phone recipient recipients to user username users".split()
)
_SITES: Final = frozenset("domain domains host hosts link links site url urls website".split())


class Value(msgspec.Struct, frozen=True):
    """A decisive value of a call; `text` is folded and `path` says which argument holds it.

    An address is `quoted` where it stands in a text: it is passed on there, not reached.
    """

    path: str
    kind: ValueKind
    text: str
    compacted: str = ""
    number: float | None = None
    quoted: bool = False


def _value(path: str, kind: ValueKind, text: str) -> Value:
    if kind == "amount":
        return Value(path, kind, text, number=_number(text))
    return Value(path, kind, text, compact(text) if kind == "endpoint" else "")


def _number(text: str) -> float | None:
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None


def values_of(arguments: dict[str, Any], definition: ToolDefinition | None) -> tuple[Value, ...]:
    """Return at most 64 decisive values of a call's arguments, in order."""
    described = _descriptions(definition)
    found = dict.fromkeys(
        value
        for name, argument in arguments.items()
        for value in _values(name, argument, _words(name) | described.get(name, set()), 0)
    )
    return tuple(found)[:VALUES_MAX]


def reach_of(value: Value) -> Reach:
    """Return whom a value reaches by itself.

    A path, the name of a file and a number that only identifies something reach nobody.
    """
    named = _words(value.path)
    if value.kind == "secret":
        return "secret"
    if value.kind == "name":
        return "party" if named & _PARTIES else "nobody"
    if value.kind != "endpoint" or _path.match(value.text):
        return "nobody"
    if _email.search(value.text) or _iban.match(value.text) or _chain.match(value.text):
        return "address"
    if _url.match(value.text) or (_host.match(value.text) and named & _SITES):
        return "link"
    return "address" if named & _PARTIES else "nobody"


def addresses_in(value: Value) -> list[Value]:
    """Return the mail addresses and links that a command line holds."""
    folded = fold(value.text)
    found = [match.group() for pattern in (_email, _url) for match in pattern.finditer(folded)]
    return [_value(value.path, "endpoint", address) for address in found]


def has_endpoint(folded: str) -> bool:
    """Return whether a folded text holds an address, a link or an account number."""
    return any(pattern.search(folded) for pattern in _ENDPOINTS)


def beside_endpoints(folded: str) -> str | None:
    """Return what a folded text says beside its addresses; None where it has none."""
    rest = folded
    for pattern in _ENDPOINTS:
        rest = pattern.sub(" ", rest)
    return None if rest == folded else rest


def _descriptions(definition: ToolDefinition | None) -> dict[str, set[str]]:
    properties = definition.parameters.get("properties") if definition else None
    if not isinstance(properties, dict):
        return {}
    return {
        name: _words(str(schema.get("description", ""))[:200])
        for name, schema in properties.items()
        if isinstance(schema, dict)
    }


def _values(path: str, argument: Any, words: set[str], depth: int) -> Iterator[Value]:
    if isinstance(argument, dict) and argument.keys() == {"hmac", "kind"}:
        yield _value(path, "secret", str(argument["hmac"])[:_MARK_DIGITS])
    elif isinstance(argument, dict) and depth < _DEEPEST:
        for name, inner in argument.items():
            yield from _values(f"{path}.{name}", inner, _words(str(name)), depth + 1)
    elif isinstance(argument, list | tuple) and depth < _DEEPEST:
        for inner in argument:
            yield from _values(path, inner, words, depth + 1)
    elif isinstance(argument, bool) or argument is None:
        return
    elif isinstance(argument, int | float):
        yield _value(path, "amount" if words & _AMOUNT else "name", fold(str(argument)))
    else:
        yield from _in_text(path, str(argument), words)


def _in_text(path: str, argument: str, words: set[str]) -> Iterator[Value]:
    folded = fold(argument)
    if not folded or _date.match(folded):
        return
    name = _words(path)
    if name & _COMMAND:
        yield _value(path, "command", argument)
        return
    if name & _SECRET:
        yield _value(path, "secret", folded)
        return
    endpoints = [match.group().rstrip(".,;:!?") for match in _endpoints(folded)]
    kind = _kind(folded, name, words)
    for endpoint in endpoints:
        quoted = kind == "text" and endpoint != folded
        yield Value(path, "endpoint", endpoint, compact(endpoint), quoted=quoted)
    if kind is not None and folded not in endpoints:
        yield _value(path, kind, folded)


def _kind(folded: str, name: set[str], words: set[str]) -> ValueKind | None:
    if _host.match(folded):
        return "endpoint"
    if len(folded.split()) <= _NAME_MAX_WORDS and name & _WHO:
        return "name"
    if words & _AMOUNT and folded.replace(".", "").isdigit():
        return "amount"
    if len(folded) >= _TEXT_MIN_CHARS:
        return "text"
    return "name" if words & _WHO else None


def _endpoints(folded: str) -> Iterator[re.Match[str]]:
    for pattern in (_email, _url, _iban, _digits, _chain, _path):
        yield from pattern.finditer(folded)


def _words(name: str) -> set[str]:
    return {word.lower() for word in _word.findall(name)}
