"""Holds: an effect on resources stays held until evidence satisfies the hold's predicate."""

from typing import Final

import msgspec

from pmcl.contracts import HoldPlaced, HoldReleased
from pmcl.judgement import OpenHold
from pmcl.store import Transaction, load_queries

__all__ = ["apply_placed", "apply_released", "on_resources"]

_queries = load_queries("pmcl.ledger", "holds")
SCHEMA: Final = _queries.schema

_strings = msgspec.json.Decoder(tuple[str, ...])


def on_resources(tx: Transaction, resource_keys: tuple[str, ...]) -> tuple[OpenHold, ...]:
    """Return the open holds that touch any of the resources, each once."""
    rows = {
        row["hold_id"]: row
        for resource_key in resource_keys
        for row in tx.all(_queries.on_resource, resource_key=resource_key)
    }
    return tuple(
        OpenHold(
            hold_id=row["hold_id"],
            effect=row["effect"],
            resource_keys=_strings.decode(row["resource_keys"]),
            reason=row["reason"],
            lift=row["lift"],
            cited=_strings.decode(row["cited"]),
        )
        for row in rows.values()
    )


def apply_placed(tx: Transaction, event: HoldPlaced) -> None:
    """Record a hold on each of its resources."""
    tx.run(
        _queries.place,
        hold_id=event.hold_id,
        scope=event.scope,
        host=event.host,
        evaluation_id=event.evaluation_id,
        effect=event.effect,
        resource_keys=msgspec.json.encode(event.resource_keys).decode(),
        reason=event.reason,
        lift=event.lift,
        cited=msgspec.json.encode(event.cited).decode(),
        at_ms=event.at_ms,
    )
    for resource_key in event.resource_keys:
        tx.run(_queries.hold_resource, resource_key=resource_key, hold_id=event.hold_id)


def apply_released(tx: Transaction, event: HoldReleased) -> None:
    """Record which evidence released a hold, and free its resources."""
    row = tx.one(_queries.find, hold_id=event.hold_id)
    assert row is not None
    tx.run(
        _queries.release,
        hold_id=event.hold_id,
        at_ms=event.at_ms,
        evaluation_id=event.evaluation_id,
        evidence_ids=msgspec.json.encode(event.evidence_ids).decode(),
    )
    for resource_key in _strings.decode(row["resource_keys"]):
        tx.run(_queries.free_resource, resource_key=resource_key, hold_id=event.hold_id)
