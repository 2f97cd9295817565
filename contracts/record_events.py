"""Events about the record itself: what became of payloads, and of copies of the ledger."""

from pmcl.contracts.event import Event

__all__ = ["PayloadRetaken"]


class PayloadRetaken(Event, frozen=True, kw_only=True, tag="pmcl/payload-retaken/1"):
    """A payload that an older copy of the ledger lacked was taken from INTAKE again.

    Its first salt is lost, so its envelope has another commitment from now on.

    Attributes:
        commitment: HMAC of the payload under its new salt.
    """

    evidence_id: str
    commitment: str
