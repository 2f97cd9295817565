"""Contracts are frozen structs with a `schema` tag; what does not fit is refused by field.

Unknown fields are tolerated on read; an unknown schema is not.
"""

import re
from functools import cache
from typing import Any, TypeVar, cast

import msgspec

from pmcl.contracts.canonical import parse_strict
from pmcl.contracts.errors import ContractError, TooLargeError, UnknownSchemaError
from pmcl.contracts.limits import MESSAGE_MAX_BYTES
from pmcl.contracts.mismatch import Mismatch

__all__ = ["Contract", "convert", "decode", "encode", "schema_of"]

C = TypeVar("C", bound="Contract")
S = TypeVar("S", bound=msgspec.Struct)


class Contract(msgspec.Struct, frozen=True, kw_only=True, tag_field="schema"):
    """Base of everything that crosses the wire: frozen, tagged `pmcl/<name>/<major>`."""


_encoder = msgspec.json.Encoder(order="sorted")
_tag = re.compile(r"pmcl/[a-z-]{1,32}/[0-9]{1,4}")


def encode(contract: Contract) -> bytes:
    """Return the JSON bytes of a contract, keys sorted."""
    return _encoder.encode(contract)


@cache
def schema_of(kind: type[Contract]) -> str:
    """Return the `schema` tag of a contract class."""
    return cast("str", kind.__struct_config__.tag)


def decode(data: bytes, *kinds: type[C], max_bytes: int = MESSAGE_MAX_BYTES) -> C:
    """Return the contract in `data`, one of `kinds` by its `schema` tag.

    Raises:
        TooLargeError: more than `max_bytes`.
        UnknownSchemaError: the tag is missing or none of `kinds`.
        ContractError: anything else that does not fit; `field` is its JSON path.
    """
    if len(data) > max_bytes:
        raise TooLargeError("$", f"{len(data)} bytes", f"{max_bytes} bytes")
    value = parse_strict(data)
    known = {schema_of(kind): kind for kind in kinds}
    tag = value.get("schema") if isinstance(value, dict) else None
    kind = known.get(tag) if isinstance(tag, str) else None
    if kind is None:
        shown = tag if isinstance(tag, str) and _tag.fullmatch(tag) is not None else ""
        raise UnknownSchemaError("$.schema", shown, ", ".join(known))
    return convert(value, kind)


def convert(value: Any, kind: type[S]) -> S:
    """Return JSON value `value` as a `kind`; its field is named when it does not fit."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        found = Mismatch.of(error)
        raise ContractError(found.path, "", found.limit) from error
