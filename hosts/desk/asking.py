"""What is asked fits its struct, or the error names the field; it never quotes a secret."""

from typing import Any, TypeVar

import msgspec

from pmcl.contracts import ContractError, Mismatch
from pmcl.judgement import is_open_name

__all__ = ["read_asked"]

S = TypeVar("S", bound=msgspec.Struct)


def read_asked(value: Any, kind: type[S]) -> S:
    """Return a JSON value as a `kind`.

    Raises:
        ContractError: it does not fit; an unknown field is named unless it could be a secret.
    """
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        found = Mismatch.of(error)
        name = found.unknown or ""
        raise ContractError(found.path, name if is_open_name(name) else "", found.limit) from error
