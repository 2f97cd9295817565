"""A secret inside text is known by its shape or by the name before it; scanning is linear.

A mark, once written, is never read as text again, so marking twice is marking once. No pattern
can fail after an unbounded run: each starts behind a character that its own run excludes, or is
bounded, or takes all that it has read.
"""

import re
from typing import Final

from pmcl.contracts import keyed_digest
from pmcl.judgement.secret_detector import DETECTOR_HINTS, Mark, mark_detected
from pmcl.judgement.secret_hints import hints, holds_one, joined
from pmcl.judgement.secret_names import is_count, secret_kind
from pmcl.judgement.secret_phrases import TOLD_HINTS, mark_told
from pmcl.judgement.secret_prefixes import PREFIX_LITERALS, PREFIX_RUN, PREFIXED

__all__ = ["MARK", "digest", "mark_secrets"]

MARK: Final = re.compile(r"\[redacted:[a-z_]{1,32}:[0-9a-f]{16}\]")
_MARK = MARK.pattern
_SHOWN_DIGITS: Final = 16
# A mark can bare the start of a secret that stood right behind another one: scan until nothing
# changes. More than two passes take a text made for it.
_PASSES_MAX: Final = 4

_shape = re.compile(
    rf"""
      {_MARK}
    | (?P<private_key>-----BEGIN[ ][A-Z0-9 ]{{0,40}}PRIVATE[ ]KEY(?:[ ]BLOCK)?-----
        (?:(?!-----END).)*+(?:-----END[A-Z0-9\ ]{{0,60}}(?:-----)?)?)
    | (?<=://)[^\s/?\#:@"'<>]*+:(?P<url_password>[^\s/?\#"'<>]{{1,512}})(?=@)
    | (?<![A-Za-z0-9_-])(?P<jwt>eyJ[A-Za-z0-9_-]{{8,}}+\.[A-Za-z0-9_-]{{8,}}+\.[A-Za-z0-9_-]*+)
    | (?<![A-Za-z0-9])(?P<api_key>sk-[A-Za-z0-9_-]{{16,}}+|AIza[A-Za-z0-9_-]{{32,}}+)
    | (?<![A-Za-z0-9])(?P<token>
          github_pat_[A-Za-z0-9_]{{16,}}+
        | gl(?:pat|dt|ft|soat|rt|cbt|imt|ptt|agent|oas|ffct)-[A-Za-z0-9_.-]{{16,}}+
        | (?:xox[a-z]|xapp)-[A-Za-z0-9-]{{8,}}+
        | dckr_pat_[A-Za-z0-9_-]{{20,}}+
        | hvs\.[A-Za-z0-9_-]{{24,}}+
        | ya29\.[A-Za-z0-9_-]{{20,}}+
        | {PREFIXED})
    | (?<![A-Za-z0-9])(?P<secret>GOCSPX-[A-Za-z0-9_-]{{20,}}+|AGE-SECRET-KEY-1[A-Z0-9]{{20,}}+)
    | (?<![A-Za-z0-9_])[Bb][Ee][Aa][Rr][Ee][Rr][ \t]{{1,8}}+
        (?P<bearer>[A-Za-z0-9+/._~-]{{16,}}+(?!=\w)=*+)
    """,
    re.VERBOSE | re.DOTALL,
)

_named = re.compile(
    rf"""
      {_MARK}
    | (?<![A-Za-z0-9_.-])(?:
        (?P<flag>--[A-Za-z0-9][A-Za-z0-9_.-]*+)[ \t]{{1,8}}+(?!-)
      | (?P<name>[A-Za-z0-9_.-]++)
        (?:\\{{0,4}}+["'])?+[ \t]{{0,8}}+(?:=>|:=|[:=])[ \t]{{0,8}}+)
    """,
    re.VERBOSE,
)
_scheme = r"(?:(?:[Bb]asic|[Bb]earer|[Dd]igest|[Nn]egotiate|[Tt]oken)[ \t]{1,8})"
_value = re.compile(
    rf"""
      "(?P<double>(?:[^"\\\r\n]|\\.)++)
    | '(?P<single>(?:[^'\\\r\n]|\\.)++)
    | \\{{1,4}}+["'](?P<escaped>[^"'\\\r\n]++)
    | {_scheme}?(?P<bare>[^\s&;,"'<>()\[\]{{}}\\](?:[^\s&;,"'<>\[]|\[(?!redacted:))*+)
    """,
    re.VERBOSE,
)
_cookie = r"""(?:[^\s"'\[;\\]|\[(?!redacted:))++"""
_cookies = re.compile(rf"(?P<bare>{_cookie}(?:;[ ]?{_cookie})*+)")
_settled = re.compile(rf"{_scheme}?(?:{_MARK})+")
# Every shape, and every secret name, holds one of these; most texts hold none and are not scanned.
_LITERALS: Final = (
    "-----BEGIN :// eyJ sk- AIza github_pat glpat- gldt- glft- glsoat- glrt- glcbt- glimt- glptt- "
    "glagent- gloas- glffct- xox xapp- dckr_pat_ hvs. ya29. GOCSPX- AGE-SECRET-KEY-"
)
_SHAPE_HINTS: Final = hints(
    [*_LITERALS.split(), *PREFIX_LITERALS],
    ["bearer"],
    PREFIX_RUN,
)
_NAME_HINTS: Final = hints([], "cookie cred jwt key otp pass pin pw secret sig token auth".split())
_nothing = re.compile(
    r"(?:true|false|null|none|undefined|str|string|bytes|int|bool|boolean|number"
    r"|(?:dict|list|optional|set|tuple)\[[a-z\[\]|.]{1,64})[)\]]{0,4}",
    re.IGNORECASE,
)


def digest(secret: str, key: bytes) -> str:
    """Return the HMAC-SHA-256 of a secret, hex: equal secrets can be told, none can be read."""
    return keyed_digest(key, secret.encode("utf-8", "surrogatepass"))


def mark_secrets(text: str, key: bytes) -> str:
    """Return `text` with each secret replaced by `[redacted:<kind>:<16 hex digits>]`."""
    if not holds_one(text, _ANY_HINTS):
        return text
    scans = [scan for scan, wanted in _SCANS if holds_one(text, wanted)]

    def mark(kind: str, secret: str) -> str:
        return f"[redacted:{kind}:{digest(secret, key)[:_SHOWN_DIGITS]}]"

    for _ in range(_PASSES_MAX):
        marked = text
        for scan in scans:
            marked = scan(marked, mark)
        if marked == text:
            break
        text = marked
    return text


def _mark_shapes(text: str, mark: Mark) -> str:
    return _shape.sub(lambda found: _mark_shape(found, mark), text)


def _mark_shape(found: re.Match[str], mark: Mark) -> str:
    kind = found.lastgroup
    if kind is None or _settled.fullmatch(found[kind]):
        return found[0]
    start, end = found.start(kind) - found.start(), found.end(kind) - found.start()
    return found[0][:start] + mark(kind, found[kind]) + found[0][end:]


def _mark_named(text: str, mark: Mark) -> str:
    done: list[str] = []
    at = 0
    while (found := _named.search(text, at)) is not None:
        name = found["flag"] or found["name"]
        kind = None if name is None else secret_kind(name)
        secret = None if kind is None else _span_of_value(text, found.end(), kind)
        if kind is None or secret is None:
            done.append(text[at : found.end()])
            at = found.end()
        else:
            done.append(text[at : secret.start])
            done.append(mark(kind, text[secret.start : secret.stop]))
            at = secret.stop
    done.append(text[at:])
    return "".join(done)


def _span_of_value(text: str, at: int, kind: str) -> slice | None:
    """Return where the secret behind a name stands; `None` for none, a plain or a marked one."""
    if _settled.match(text, at) is not None:
        return None
    is_header = kind.startswith("cookie") and text.endswith((":", ": "), 0, at)
    value = _cookies.match(text, at) if is_header else None
    value = value or _value.match(text, at)
    if value is None or value.lastgroup is None:
        return None
    secret = value[value.lastgroup]
    if _nothing.fullmatch(secret) or _settled.fullmatch(secret) or is_count(kind, secret):
        return None
    return slice(*value.span(value.lastgroup))


_SCANS: Final = (
    (_mark_shapes, _SHAPE_HINTS),
    (mark_detected, DETECTOR_HINTS),
    (mark_told, TOLD_HINTS),
    (_mark_named, _NAME_HINTS),
)
# A secret behind `aws` or `curl` has a secret's name or one of these flags before it.
_ANY_HINTS: Final = joined(
    _SHAPE_HINTS,
    DETECTOR_HINTS,
    _NAME_HINTS,
    hints([" -u", " --user"], []),
    implied=["aws"],
)
