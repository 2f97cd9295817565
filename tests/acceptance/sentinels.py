"""Secrets that are nobody's, made anew from a seed, and where traces of them are found.

A trace is any 8 bytes of a secret's random part, plain, in base64 (at each of its three offsets) or
in hex.
"""

import base64
import random
import string
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

__all__ = ["Sentinel", "Tracer", "leaky_text", "sentinels"]

_FRAGMENT_BYTES = 8
_ALNUM = string.ascii_letters + string.digits
_UPPER = string.ascii_uppercase + string.digits
_B64 = _ALNUM + "-_"


class Sentinel(msgspec.Struct, frozen=True):
    """One secret.

    Attributes:
        text: as it is met in a text.
        secret: the whole of what must not be found again.
        parts: its random parts; no 8 bytes of them are anything else's.
    """

    kind: str
    text: str
    secret: str
    parts: tuple[str, ...]


class _Form(msgspec.Struct, frozen=True):
    """How a kind is made: `{}` stands for a random part in `secret`, for the secret in `text`.

    A part that is too short, or of digits alone, would be found where nothing leaked.
    """

    secret: str
    parts: tuple[tuple[int, str], ...]
    text: str = "{}"


def _word(count: int, text: str, secret: str = "{}") -> _Form:
    return _Form(secret, ((count, _ALNUM),), text)


_PEM = "\n".join(("-----BEGIN PRIVATE KEY-----", *["{}"] * 6, "-----END PRIVATE KEY-----"))
_FORMS = {
    "github": _word(36, "{}", "ghp_{}"),
    "openai": _word(48, "{}", "sk-proj-{}"),
    "stripe": _word(24, "{}", "sk_live_{}"),
    "slack": _word(24, "{}", "xoxb-123456789012-{}"),
    "aws": _Form("AKIA{}", ((16, _UPPER),)),
    "jwt": _Form("eyJhbGciOiJIUzI1NiJ9.{}.{}", ((40, _B64), (43, _B64))),
    "sendgrid": _Form("SG.{}.{}", ((22, _B64), (43, _B64))),
    "pem": _Form(_PEM, ((64, _ALNUM + "+/"),) * 6),
    "bearer": _word(40, "Authorization: Bearer {}"),
    "basic": _word(34, "Authorization: Basic {}", "Ym9iOm{}"),
    "password": _word(20, "password={}"),
    "flag": _word(20, "deploy --password {} --verbose"),
    "argument": _word(32, "deploy --token {}"),
    "json": _word(32, '{{"client_secret": "{}"}}'),
    "pair": _word(32, "X-Auth-Token: {}"),
    "url": _word(20, "https://bob:{}@db.example.com/main"),
    "connection": _word(20, "Server=db.example.com;Uid=bob;Pwd={};"),
    "cookie": _word(32, "Cookie: session={}"),
    "curl": _word(20, "curl -u bob:{} https://api.example.com/v1"),
    "phrase": _word(20, "the password is '{}', he said"),
}


def sentinels(seed: int) -> dict[str, Sentinel]:
    """Return one sentinel of each kind."""
    chance = random.Random(seed)
    made = {}
    for kind, form in _FORMS.items():
        parts = tuple(["".join(chance.choices(of, k=count)) for count, of in form.parts])
        secret = form.secret.format(*parts)
        made[kind] = Sentinel(kind, form.text.format(secret), secret, parts)
    return made


def leaky_text(found: Iterable[Sentinel]) -> str:
    """Return a text that holds them all, each on a line of its own."""
    return "\n".join(f"line of {each.kind}: see\n{each.text}\nand go on" for each in found)


class Tracer:
    """Knows every trace of some sentinels."""

    def __init__(self, known: Iterable[Sentinel]) -> None:
        self._traces: dict[int, dict[bytes, str]] = {}
        for sentinel in known:
            for part in sentinel.parts:
                self._add_all(sentinel.kind, part.encode())

    def _add_all(self, kind: str, part: bytes) -> None:
        self._add(f"{kind}, plain", part, _FRAGMENT_BYTES)
        for upper in (False, True):
            hexed = part.hex().upper() if upper else part.hex()
            self._add(f"{kind}, hex", hexed.encode(), 2 * _FRAGMENT_BYTES, step=2)
        for offset in range(3):
            for altchars in (b"+/", b"-_"):
                padded = base64.b64encode(bytes(offset) + part, altchars)
                # What an offset or the padding has mixed with other bytes is cut off.
                core = padded[-(-offset * 4 // 3) if offset else 0 :].rstrip(b"=")[:-1]
                self._add(f"{kind}, base64", core, 12)

    def _add(self, name: str, text: bytes, length: int, step: int = 1) -> None:
        of_length = self._traces.setdefault(length, {})
        for start in range(0, len(text) - length + 1, step):
            of_length[text[start : start + length]] = name

    def in_bytes(self, data: bytes) -> set[str]:
        """Return the kinds and forms of the traces in some bytes."""
        found = set()
        for length, traces in self._traces.items():
            get = traces.get
            for start in range(len(data) - length + 1):
                name = get(data[start : start + length])
                if name is not None:
                    found.add(name)
        return found

    def in_files(self, *roots: Path, without: Iterable[Path] = ()) -> dict[str, set[str]]:
        """Return the traces in the files below some folders, by path."""
        found = {}
        for path in _files(roots, {*without}):
            if traces := self.in_bytes(path.read_bytes()) | self.in_bytes(path.name.encode()):
                found[str(path)] = traces
        return found


def _files(roots: Iterable[Path], without: set[Path]) -> Iterator[Path]:
    for root in roots:
        for path in sorted(root.rglob("*")) if root.is_dir() else [root]:
            if path.is_file() and without.isdisjoint({path, *path.parents}):
                yield path
