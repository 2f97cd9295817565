"""A retraction: an operator takes back something that reflection had derived.

Source: SPEC B4.
"""

from pmcl.contracts.contract import Contract
from pmcl.contracts.derived import ItemKind
from pmcl.contracts.names import Id, Millis, Ulid
from pmcl.contracts.receipts import Received

__all__ = ["RetractItem", "Retraction"]


class RetractItem(Contract, frozen=True, kw_only=True, tag="pmcl/retract-item/1"):
    """Takes a live item back: it counts no longer, and does not return on the same evidence.

    Attributes:
        dry_run: only tell what would be taken back.
        label: who asks, as a name.
    """

    item_id: Ulid
    dry_run: bool = False
    label: Id


class Retraction(Contract, frozen=True, kw_only=True, tag="pmcl/retraction/1"):
    """How the item stands.

    Attributes:
        state: `live` where nothing was taken back.
        changed: that this very word took it back; with `dry_run`, that it would.
        closed_by, closed_at: of one that counts no longer.
    """

    item_id: Ulid
    scope: str
    host: str
    kind: ItemKind
    state: str
    changed: bool
    closed_by: str | None = None
    closed_at: Millis | None = None
    received: Received | None = None
