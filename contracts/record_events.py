"""Events about the record itself: what became of payloads, and of copies of the ledger."""

from typing import Final

from pmcl.contracts.event import Event

__all__ = [
    "CELL_HOST",
    "CELL_SCOPE",
    "BackupMade",
    "ErasureBegan",
    "ErasureEnded",
    "OutcomeUnverified",
    "PayloadErased",
    "PayloadRetaken",
]

CELL_SCOPE: Final = "_cell"
CELL_HOST: Final = "operator"
"""Whose an event is that belongs to no host; no host can be registered in this scope."""


class BackupMade(Event, frozen=True, kw_only=True, tag="pmcl/backup-made/1"):
    """A copy of the ledger was written and verified.

    Attributes:
        place: its folder, as the operator named it.
        sequence: the last row of the journal that it holds.
        by: `operator/<label>`.
    """

    backup_id: str
    place: str
    sequence: int
    by: str


class PayloadRetaken(Event, frozen=True, kw_only=True, tag="pmcl/payload-retaken/1"):
    """A payload that an older copy of the ledger lacked was taken from INTAKE again.

    Its first salt is lost, so its envelope has another commitment from now on.

    Attributes:
        commitment: HMAC of the payload under its new salt.
    """

    evidence_id: str
    commitment: str


class ErasureBegan(Event, frozen=True, kw_only=True, tag="pmcl/erasure-began/1"):
    """An operator wants content gone; what was recorded later stays.

    Attributes:
        of_scope: whose content.
        of_host: of this host alone; None for all of the scope.
        evidence_ids: these observations alone, with what names them; empty for everything.
        by: `operator/<label>`.
    """

    erasure_id: str
    of_scope: str
    of_host: str | None
    evidence_ids: tuple[str, ...]
    by: str


class PayloadErased(Event, frozen=True, kw_only=True, tag="pmcl/payload-erased/1"):
    """The content of an observation or an evaluation is gone; its envelope stays.

    Attributes:
        payload_id: of the evidence or the evaluation.
    """

    erasure_id: str
    payload_id: str


class OutcomeUnverified(Event, frozen=True, kw_only=True, tag="pmcl/outcome-unverified/1"):
    """The last evidence that showed the outcome's receipt was erased."""

    outcome_id: str
    evidence_id: str


class ErasureEnded(Event, frozen=True, kw_only=True, tag="pmcl/erasure-ended/1"):
    """Nothing of the content is left in what the sidecar keeps.

    Attributes:
        messages: of INTAKE and of the dead letters that were erased.
    """

    erasure_id: str
    messages: int
