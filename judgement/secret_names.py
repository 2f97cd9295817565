"""A field name says that its value is a secret, or it does not; no value is looked at here."""

import re
import unicodedata
from functools import lru_cache
from typing import Final

__all__ = ["is_count", "secret_kind"]

_PHRASES: Final = (
    "password passwd passphrase pwd secret token credential authorization cookie bearer "
    "api_key apikey access_key accesskey secret_key secretkey private_key privatekey "
    "signing_key encryption_key master_key session_key auth_key account_key shared_key ssh_key "
    "auth_token passcode recovery_code backup_code mfa_code amz_signature goog_signature"
)
# These also end a longer word: `PGPASSWORD`, `dbpassword`, `authtoken`.
_ENDINGS: Final = (
    "password passwd passphrase passcode apikey accesskey secretkey privatekey "
    "authtoken accesstoken refreshtoken clientsecret"
)
# What holds a password when `pass` stands behind it.
_OWNERS: Final = "admin db ftp login mail mysql pg redis root smtp ssh user"
# Alone they name a secret, inside a longer name they rarely do.
_WHOLE: Final = frozenset({"auth", "pass", "pw", "pin_code", "otp", "sig", "signature", "jwt"})
# What a name ends in when it tells about a secret and does not hold one.
_ABOUT: Final = (
    "at budget count expires expiry file filename id ids length limit name path policy ttl "
    "type uri url usage"
)

_phrase = re.compile(
    rf"(?:^|_)((?:{'|'.join(_PHRASES.split())})s?)(?:_|$)"
    rf"|((?:{'|'.join(_ENDINGS.split())})s?)(?:_|$)"
    rf"|(?:^|_)(?:{'|'.join(_OWNERS.split())})_(pass)$"
)
_about = frozenset(_ABOUT.split())
_word = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_CACHED_CHARS: Final = 64


def secret_kind(name: str) -> str | None:
    """Return the kind of secret that a field of this name holds, `None` for none.

    Words count, not letters: `accessToken` and `X-Api-Key` do, `tokenizer` and `token_count` do
    not.
    """
    return _kind_of_short(name) if len(name) <= _CACHED_CHARS else _kind(name)


def is_count(kind: str, value: object) -> bool:
    """Return whether the value only counts secrets, as in `max_tokens`."""
    return kind == "tokens" and (isinstance(value, int | float) or str(value).isdecimal())


def _kind(name: str) -> str | None:
    if not name.isascii():
        name = unicodedata.normalize("NFKC", name)
    words = [word.lower() for word in _word.findall(name)]
    if not words or words[-1] in _about:
        return None
    joined = "_".join(words)
    if joined in _WHOLE:
        return joined
    found = _phrase.search(joined)
    return None if found is None or found.lastindex is None else found[found.lastindex]


_kind_of_short = lru_cache(maxsize=4096)(_kind)
