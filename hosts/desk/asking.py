"""What is asked fits its struct, or the error names the field; it never quotes a secret."""

from typing import Any, Final, TypeVar

import msgspec

from pmcl.contracts import ContractError, convert
from pmcl.judgement import is_open_name

__all__ = ["read_asked"]

S = TypeVar("S", bound=msgspec.Struct)

_UNKNOWN: Final = "Object contains unknown field `"


def read_asked(value: Any, kind: type[S]) -> S:
    """Return a JSON value as a `kind`.

    Raises:
        ContractError: it does not fit.
    """
    try:
        return convert(value, kind)
    except ContractError as error:
        raise _without_names(error) from error


def _without_names(error: ContractError) -> ContractError:
    """Return the error, without the name of an unknown field that could be a secret."""
    if not error.limit.startswith(_UNKNOWN):
        return error
    name = error.limit.removeprefix(_UNKNOWN).removesuffix("`")
    return ContractError(error.field, name if is_open_name(name) else "", "known fields only")
