"""Secrets that are nobody's, made anew from a seed, in every form that redaction knows."""

import random
import string
from collections.abc import Iterable

import msgspec

__all__ = ["Sentinel", "leaky_text", "sentinels"]

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


def _word(count: int, text: str, secret: str = "{}") -> _Form:  # noqa: S107 - a form
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
    chance = random.Random(seed)  # noqa: S311 - secrets that are nobody's
    made = {}
    for kind, form in _FORMS.items():
        parts = tuple(["".join(chance.choices(of, k=count)) for count, of in form.parts])
        secret = form.secret.format(*parts)
        made[kind] = Sentinel(kind, form.text.format(secret), secret, parts)
    return made


def leaky_text(found: Iterable[Sentinel]) -> str:
    """Return a text that holds them all, each on a line of its own."""
    return "\n".join(f"line of {each.kind}: see\n{each.text}\nand go on" for each in found)
