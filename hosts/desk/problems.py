"""Every refusal is told by one object with the same fields; it quotes neither a body nor a key.

Source: SPEC A8.
"""

from typing import Final

import msgspec

from pmcl.contracts import PmclError, RefusedError
from pmcl.hosts.desk.errors import NotOpenError, UnknownVerdictError
from pmcl.hosts.errors import DispatchRefusedError, ObservationLostError

__all__ = ["Problem", "problem_of"]

_UNAVAILABLE: Final = "a sidecar and a host file that can be used"


class Problem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Why a request was refused.

    Attributes:
        code: stable, for programs.
        field: path of the offending field, or what else was wrong: a header, the path.
        value: the offending value, cut; "" where showing it would leak.
        limit: what is allowed.
        lost, stored: keys of observations that are not stored, evidence ids of those that are.
    """

    code: str
    field: str
    value: str
    limit: str
    message: str
    lost: tuple[str, ...] = ()
    stored: tuple[str, ...] = ()


def problem_of(error: PmclError) -> Problem:
    """Return what the caller is told of an error."""
    if isinstance(error, RefusedError):
        return _problem(error, error.code, error.field, error.value, error.limit)
    if isinstance(error, DispatchRefusedError):
        limit = "a verdict that is not held, in time, of this lease, for these arguments, once"
        return _problem(error, error.reason, "$.verdict_id", "", limit)
    if isinstance(error, UnknownVerdictError):
        return _problem(error, error.code, "$.verdict_id", "", "a verdict that was given here")
    if isinstance(error, NotOpenError):
        limit = "a dispatch that waits for its outcome"
        return _problem(error, error.code, "$.verdict_id", error.ended, limit)
    if isinstance(error, ObservationLostError):
        lost = _problem(error, "observation_lost", "$", "", "stored in time")
        return msgspec.structs.replace(lost, lost=error.lost, stored=error.stored)
    return _problem(error, "unavailable", "$", type(error).__name__, _UNAVAILABLE)


def _problem(error: PmclError, code: str, field: str, value: str, limit: str) -> Problem:
    return Problem(code=code, field=field, value=value, limit=limit, message=str(error))
