"""The error tree: every error that a user can meet names what was wrong, where, and the limit.

`RefusedError` and its children cross the wire as `pmcl/error/1`; all others stay in their process.
"""

from typing import ClassVar

__all__ = [
    "ApprovalDecidedError",
    "AuthorityError",
    "BusError",
    "BusyError",
    "CallIdConflictError",
    "ConflictError",
    "ContractError",
    "DeadLetteredError",
    "DetectorMissingError",
    "EvidencePendingError",
    "HashMismatchError",
    "HostError",
    "LeaseEndedError",
    "LeaseNotFoundError",
    "LedgerError",
    "LedgerUnavailableError",
    "NotAvailableError",
    "PmclError",
    "RefusedError",
    "SecretInNameError",
    "StaleGenerationError",
    "TooLargeError",
    "TrustNotAllowedError",
    "UnknownApprovalError",
    "UnknownDeadLetterError",
    "UnknownEvidenceError",
    "UnknownItemError",
    "UnknownPlanError",
    "UnknownSchemaError",
    "refusal",
]

_SHOWN_CHARS = 64


class PmclError(Exception):
    """Root of every error that PMCL raises on purpose."""


class BusError(PmclError):
    """The message bus did not do what was asked."""


class LedgerError(PmclError):
    """The ledger's file did not do what was asked."""


class HostError(PmclError):
    """The host's own side refused: its file, its lease or the use it made of a verdict."""


class RefusedError(PmclError):
    """Input was refused and the ledger is as it was.

    Attributes:
        field: path of the offending field, `$` for the whole message.
        value: the offending value, cut to 64 characters; "" where showing it would leak.
        limit: what would have been accepted.
    """

    code: ClassVar[str] = "refused"

    def __init__(self, field: str, value: object, limit: object) -> None:
        self.field = field
        self.value = str(value)[:_SHOWN_CHARS]
        self.limit = str(limit)
        shown = f"is {self.value!r}" if self.value else "does not fit"
        super().__init__(f"{self.code}: {field} {shown}, allowed: {self.limit}")


class ContractError(RefusedError):
    """The message does not have the shape that its contract asks for."""

    code = "malformed"


class TooLargeError(ContractError):
    """A size limit was passed; `value` and `limit` are in the unit that the limit names."""

    code = "too_large"


class SecretInNameError(ContractError):
    """A name that is stored in the open holds a secret; `value` is always empty."""

    code = "secret_in_name"


class UnknownSchemaError(ContractError):
    """The `schema` tag is missing, or of a version that this reader does not know."""

    code = "unknown_schema"


class AuthorityError(RefusedError):
    """Who asks may not ask this."""

    code = "authority"


class LeaseNotFoundError(AuthorityError):
    """No lease of this id belongs to this host."""

    code = "no_lease"


class LeaseEndedError(AuthorityError):
    """The lease was disabled or has expired; begin or resume another."""

    code = "lease_ended"


class StaleGenerationError(AuthorityError):
    """A newer generation of this host has fenced the one that asks."""

    code = "stale_generation"


class TrustNotAllowedError(AuthorityError):
    """The credential may not assert this trust label."""

    code = "trust_not_allowed"


class ConflictError(RefusedError):
    """The idempotency key was used before for other content; the first stands."""

    code = "conflict"


class CallIdConflictError(ConflictError):
    """The call id was used before for another proposal; the first stands."""

    code = "call_id_conflict"


class HashMismatchError(RefusedError):
    """A hash is not the one of what was sent with it."""

    code = "hash_mismatch"


class UnknownEvidenceError(RefusedError):
    """A cited evidence id is not in this scope's ledger."""

    code = "unknown_evidence"


class UnknownPlanError(RefusedError):
    """The plan that a call names was never judged."""

    code = "unknown_plan"


class UnknownApprovalError(RefusedError):
    """No approval has this id."""

    code = "unknown_approval"


class UnknownItemError(RefusedError):
    """No item has this id."""

    code = "unknown_item"


class UnknownDeadLetterError(RefusedError):
    """No dead letter has this sequence."""

    code = "unknown_dead_letter"


class ApprovalDecidedError(RefusedError):
    """The approval is decided, used or over already; `value` is its state."""

    code = "approval_decided"

    def __init__(self, field: str, value: object, limit: object) -> None:
        super().__init__(field, value, limit)
        self.args = (f"{self.code}: this approval is {self.value} already, allowed: {self.limit}",)


class NotAvailableError(RefusedError):
    """This version does not answer this kind of request."""

    code = "not_available"


class BusyError(RefusedError):
    """A bounded queue is full; nothing was written; try again later."""

    code = "busy"


class EvidencePendingError(RefusedError):
    """Acknowledged observations were not committed in time, so the call was not judged."""

    code = "evidence_pending"


class DeadLetteredError(RefusedError):
    """The message could not be dealt with; it is kept as a dead letter for the operator."""

    code = "dead_lettered"


class DetectorMissingError(RefusedError):
    """What may hold a secret was not taken: the rules that would find it do not load here."""

    code = "detector_missing"


class LedgerUnavailableError(RefusedError):
    """The ledger could not commit: nothing was written."""

    code = "ledger_unavailable"


def _tree(error: type[RefusedError]) -> list[type[RefusedError]]:
    return [error, *(leaf for child in error.__subclasses__() for leaf in _tree(child))]


_BY_CODE = {error.code: error for error in _tree(RefusedError)}


def refusal(code: str, field: str, value: str, limit: str) -> RefusedError:
    """Return the error that `code` names on the wire; an unknown code gives the root class."""
    return _BY_CODE.get(code, RefusedError)(field, value, limit)
