"""Canonical JSON: one value, one sequence of bytes, one hash.

Source: RFC 8785 (JSON Canonicalization Scheme).
"""

import hashlib
import hmac
import json
import re
from typing import Any

import msgspec
import rfc8785

from pmcl.contracts.errors import ContractError

__all__ = ["canonical", "keyed_digest", "parse_strict", "sha256"]

_sorted_encoder = msgspec.json.Encoder(order="sorted")
# Where msgspec's sorted encoding can differ from RFC 8785: integral floats, exponents, integers
# beyond 2^53, and keys outside the BMP (they sort by UTF-16 there).
_odd_number = re.compile(rb"\d\.0(?!\d)|\d[eE][0-9+-]|\d{16}")
_beyond_bmp = re.compile(rb"[\xf0-\xf4]")
_string = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)


def _is_canonical(encoded: bytes) -> bool:
    if not encoded.isascii() and _beyond_bmp.search(encoded) is not None:
        return False
    return _odd_number.search(_outside_strings(encoded)) is None


def _outside_strings(encoded: bytes) -> bytes:
    """Return JSON without its strings: nearly every hex digest looks like an odd number."""
    if b"\\" in encoded:
        return _string.sub(b"", encoded)
    return b"".join(encoded.split(b'"')[::2])


def canonical(value: Any) -> bytes:
    """Return the RFC 8785 bytes of a value made of JSON types or contracts.

    Raises:
        ContractError: the value has no canonical form (an integer beyond 2^53, NaN, a lone
            surrogate, a non-string key, nesting too deep).
    """
    try:
        encoded = _sorted_encoder.encode(value)
        if b"null" in encoded:  # msgspec also writes it for NaN and infinity
            json.dumps(msgspec.to_builtins(value), allow_nan=False)
        if _is_canonical(encoded):
            return encoded
        return rfc8785.dumps(json.loads(encoded))
    except (ValueError, TypeError, RecursionError, msgspec.MsgspecError) as error:
        raise ContractError("$", type(error).__name__, "a value with a canonical form") from error


def sha256(data: bytes) -> str:
    """Return the SHA-256 of `data`, 64 hex digits."""
    return hashlib.sha256(data).hexdigest()


def keyed_digest(key: bytes, data: bytes) -> str:
    """Return HMAC-SHA-256 of `data` under `key`, 64 hex digits."""
    # `hmac.digest` would let go of the interpreter lock, and wait for it, for the shortest text.
    return hmac.new(key, data, "sha256").hexdigest()


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ContractError("$", "duplicate key", "each key once")
    return members


def _refuse_constant(name: str) -> None:
    raise ContractError("$", name, "a finite number")


def parse_strict(data: bytes) -> Any:
    """Return the JSON value in `data`.

    Raises:
        ContractError: not UTF-8 JSON, a duplicate key, NaN or Infinity, a number out of range, a
            lone surrogate, or nesting too deep.
    """
    try:
        value = msgspec.json.decode(data)
        # Bytes that msgspec writes back unchanged cannot have held a duplicate key.
        if _sorted_encoder.encode(value) != data:
            value = json.loads(data, object_pairs_hook=_unique, parse_constant=_refuse_constant)
    except (ValueError, RecursionError, msgspec.MsgspecError) as error:
        raise ContractError("$", "", "strict JSON, each key once") from error
    return value
