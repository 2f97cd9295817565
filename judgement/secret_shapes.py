"""A secret inside text is known by its shape or by the name before it; scanning is linear.

A mark, once written, is never read as text again, so marking twice is marking once. No pattern
can fail after an unbounded run: each starts behind a character that its own run excludes, or is
bounded, or takes all that it has read.
"""

import re
from collections.abc import Callable
from typing import Final

from pmcl.contracts import keyed_digest
from pmcl.judgement.secret_names import is_count, secret_kind

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
    | (?<![A-Za-z0-9])(?P<api_key>
          sk-[A-Za-z0-9_-]{{16,}}+
        | [rs]k_(?:live|test)_[A-Za-z0-9]{{16,}}+
        | AIza[A-Za-z0-9_-]{{32,}}+)
    | (?<![A-Za-z0-9])(?P<token>
          gh[opsur]_[A-Za-z0-9]{{16,}}+
        | github_pat_[A-Za-z0-9_]{{16,}}+
        | glpat-[A-Za-z0-9_-]{{16,}}+
        | xox[a-z]-[A-Za-z0-9-]{{8,}}+)
    | (?<![A-Za-z0-9])(?P<access_key>(?:AKIA|ASIA)[A-Z0-9]{{16}})(?![A-Za-z0-9])
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
# Every shape and every secret name holds one of these, here by the rarest letter of each; most
# texts hold none and are not scanned.
_HINTS: Final = {
    ":": ("://",),
    "-": ("-----begin", "glpat-", "sk-"),
    "_": ("gho_", "ghp_", "ghr_", "ghs_", "ghu_", "github_pat", "k_live_", "k_test_"),
    "b": ("bearer",),
    "d": ("cred",),
    "g": ("sig",),
    "j": ("eyj", "jwt"),
    "k": ("akia", "cookie", "key", "token"),
    "p": ("otp", "pass", "pin"),
    "s": ("asia", "secret"),
    "u": ("auth",),
    "w": ("pw",),
    "x": ("xox",),
    "z": ("aiza",),
}
_NOTHING: Final = frozenset({"true", "false", "null", "none", "undefined"})


def digest(secret: str, key: bytes) -> str:
    """Return the HMAC-SHA-256 of a secret, hex: equal secrets can be told, none can be read."""
    return keyed_digest(key, secret.encode("utf-8", "surrogatepass"))


def mark_secrets(text: str, key: bytes) -> str:
    """Return `text` with each secret replaced by `[redacted:<kind>:<16 hex digits>]`."""
    if not _may_hold(text.lower()):
        return text

    def mark(kind: str, secret: str) -> str:
        return f"[redacted:{kind}:{digest(secret, key)[:_SHOWN_DIGITS]}]"

    for _ in range(_PASSES_MAX):
        marked = _mark_named(_shape.sub(lambda found: _mark_shape(found, mark), text), mark)
        if marked == text:
            break
        text = marked
    return text


def _may_hold(lowered: str) -> bool:
    for letter, hints in _HINTS.items():  # several times quicker than one pattern
        if letter in lowered:
            for hint in hints:
                if hint in lowered:
                    return True
    return False


def _mark_shape(found: re.Match[str], mark: Callable[[str, str], str]) -> str:
    kind = found.lastgroup
    if kind is None or _settled.fullmatch(found[kind]):
        return found[0]
    start, end = found.start(kind) - found.start(), found.end(kind) - found.start()
    return found[0][:start] + mark(kind, found[kind]) + found[0][end:]


def _mark_named(text: str, mark: Callable[[str, str], str]) -> str:
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
    if secret.lower() in _NOTHING or _settled.fullmatch(secret) or is_count(kind, secret):
        return None
    return slice(*value.span(value.lastgroup))
