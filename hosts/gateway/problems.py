"""Every refusal is one JSON object with the same fields, under a status that its kind decides.

No problem quotes a body or a key.
Source: SPEC A8.
"""

from typing import Final

import msgspec

from pmcl.contracts import (
    AuthorityError,
    BusError,
    BusyError,
    ConflictError,
    ContractError,
    EvidencePendingError,
    HostError,
    LeaseEndedError,
    LeaseNotFoundError,
    LedgerError,
    LedgerUnavailableError,
    PmclError,
    RefusedError,
    StaleGenerationError,
    TooLargeError,
    UnknownEvidenceError,
    UnknownPlanError,
)
from pmcl.hosts.errors import DispatchRefusedError, ObservationLostError

__all__ = [
    "RETRY_AFTER_S",
    "GatewayRefusedError",
    "Problem",
    "problem_of",
    "status_of",
]

RETRY_AFTER_S: Final = 1


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


class GatewayRefusedError(PmclError):
    """The gateway itself refused a request, before anybody was asked."""

    def __init__(self, status: int, code: str, field: str, *, value: str = "", limit: str) -> None:
        self.status = status
        self.problem = Problem(
            code=code,
            field=field,
            value=value[:64],
            limit=limit,
            message=f"{code}: {field} is {value[:64]!r}, allowed: {limit}",
        )
        super().__init__(self.problem.message)


# The first that fits counts.
_STATUSES: Final[tuple[tuple[type[PmclError], int], ...]] = (
    (TooLargeError, 413),
    (ContractError, 400),
    (LeaseNotFoundError, 409),
    (LeaseEndedError, 409),
    (StaleGenerationError, 409),
    (AuthorityError, 403),
    (ConflictError, 409),
    (UnknownEvidenceError, 422),
    (UnknownPlanError, 422),
    (BusyError, 503),
    (EvidencePendingError, 503),
    (LedgerUnavailableError, 503),
    (RefusedError, 400),
    (DispatchRefusedError, 409),
    (HostError, 503),
    (LedgerError, 503),
    (BusError, 503),
)
_UNAVAILABLE: Final = "a sidecar and a host file that can be used"


def status_of(error: PmclError) -> int:
    """Return the HTTP status of an error."""
    if isinstance(error, GatewayRefusedError):
        return error.status
    return next((status for kind, status in _STATUSES if isinstance(error, kind)), 500)


def problem_of(error: PmclError) -> Problem:
    """Return what the caller is told of an error."""
    if isinstance(error, GatewayRefusedError):
        return error.problem
    if isinstance(error, RefusedError):
        return _problem(error, error.code, error.field, error.value, error.limit)
    if isinstance(error, DispatchRefusedError):
        limit = "a verdict that is not held, in time, of this lease, for these arguments, once"
        return _problem(error, error.reason, "$.verdict_id", "", limit)
    if isinstance(error, ObservationLostError):
        lost = _problem(error, "observation_lost", "$", "", "stored in time")
        return msgspec.structs.replace(lost, lost=error.lost, stored=error.stored)
    return _problem(error, "unavailable", "$", type(error).__name__, _UNAVAILABLE)


def _problem(error: PmclError, code: str, field: str, value: str, limit: str) -> Problem:
    return Problem(code=code, field=field, value=value, limit=limit, message=str(error))
