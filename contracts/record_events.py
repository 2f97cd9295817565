"""Events about the record itself: what became of payloads, and of copies of the ledger."""

from typing import Final

from pmcl.contracts.event import Event

__all__ = ["CELL_HOST", "CELL_SCOPE", "BackupMade", "PayloadRetaken"]

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
