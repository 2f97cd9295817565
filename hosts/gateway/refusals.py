"""Which status tells of which error, and what the gateway itself refuses.

Source: SPEC A8.
"""

from typing import Final

from pmcl.contracts import (
    AuthorityError,
    BusError,
    BusyError,
    ConflictError,
    ContractError,
    DetectorMissingError,
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
from pmcl.hosts.desk import NotOpenError, Problem, UnknownVerdictError, problem_of
from pmcl.hosts.errors import DispatchRefusedError

__all__ = ["RETRY_AFTER_S", "GatewayRefusedError", "status_of", "told"]

RETRY_AFTER_S: Final = 1


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
    (DetectorMissingError, 503),
    (LedgerUnavailableError, 503),
    (RefusedError, 400),
    (DispatchRefusedError, 409),
    (UnknownVerdictError, 404),
    (NotOpenError, 409),
    (HostError, 503),
    (LedgerError, 503),
    (BusError, 503),
)


def status_of(error: PmclError) -> int:
    """Return the HTTP status of an error."""
    if isinstance(error, GatewayRefusedError):
        return error.status
    return next((status for kind, status in _STATUSES if isinstance(error, kind)), 500)


def told(error: PmclError) -> Problem:
    """Return what the caller is told of an error."""
    return error.problem if isinstance(error, GatewayRefusedError) else problem_of(error)
