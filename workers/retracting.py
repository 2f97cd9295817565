"""The retraction worker: an operator takes back what reflection derived, and it stays taken back.

An item that ended is not opened or closed again: what it replaced or resolved stays as it is.
Source: SPEC B4.
"""

from collections.abc import Mapping
from typing import Any

from pmcl.contracts import Contract, ItemClosed, Kind, Retraction, RetractItem, UnknownItemError
from pmcl.ledger import items
from pmcl.ledger.items import Item
from pmcl.outbox import UnitOfWork
from pmcl.workers.operators import operator_of
from pmcl.workers.worker import Decision, Incoming

__all__ = ["RetractionWorker"]


class RetractionWorker:
    """Closes items; the same word again changes nothing."""

    name: str = "retraction"
    kind: Kind = "ops"
    needs_watermark: bool = False
    accepts: Mapping[str | None, type[Contract]] = {"retract": RetractItem}

    async def prepare(self, incoming: Incoming) -> None:
        """Return nothing: everything is in the ledger."""

    def decide(self, unit: UnitOfWork, incoming: Incoming, prepared: None) -> Decision:
        """Return the end of a live item, or only what would be taken back."""
        asked: RetractItem = incoming.body
        item = items.find(unit.tx, asked.item_id)
        if item is None:
            raise UnknownItemError("$.item_id", asked.item_id, "an item of this ledger")
        if item.state != "live" or asked.dry_run:
            return Decision(reply=_retraction(item, changed=item.state == "live"))
        closed = ItemClosed(
            scope=item.scope,
            host=item.host,
            at_ms=unit.now_ms,
            item_id=item.item_id,
            reason="retracted",
            by=operator_of(asked.label),
        )
        ended = {"state": closed.reason, "closed_by": closed.by, "closed_at": closed.at_ms}
        return Decision(events=(closed,), reply=_retraction(item, changed=True, **ended))


def _retraction(item: Item, *, changed: bool, **ended: Any) -> Retraction:
    fields = {
        "item_id": item.item_id,
        "scope": item.scope,
        "host": item.host,
        "kind": item.kind,
        "state": item.state,
        "closed_by": item.closed_by,
        "closed_at": item.closed_at,
    }
    return Retraction(changed=changed, **(fields | ended))
