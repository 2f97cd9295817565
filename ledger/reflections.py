"""Reflections: one open claim of a host at most, and a record of every cycle.

A claim is one more than the host's claim before. Who holds an older one, or one that was ended by
somebody else, finds no open cycle under it and can write nothing. Source: SPEC E1, E2.
"""

from collections.abc import Collection
from typing import Any, Final

import msgspec

from pmcl.contracts import (
    LeaseBegan,
    ReflectionClaimed,
    ReflectionEnded,
    ReflectionQueued,
    Spending,
    TurnCompleted,
)
from pmcl.ledger import turns
from pmcl.store import Row, Transaction, load_queries

__all__ = [
    "IdleDue",
    "OpenCycle",
    "ReflectionHost",
    "apply_began",
    "apply_claimed",
    "apply_completed",
    "apply_ended",
    "apply_queued",
    "due",
    "findings",
    "host_of",
    "newest",
    "open_cycle",
    "overdue",
    "ready",
    "spent",
]

_queries = load_queries("pmcl.ledger", "reflections")
SCHEMA: Final = _queries.schema

_strings = msgspec.json.Decoder(tuple[str, ...])


class ReflectionHost(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a host's reflection.

    Attributes:
        claim: the newest.
        slot: the time of its last idle job; of its first lease, while there was none.
        idle_lease, idle_generation: under which its idle job was queued; no lease when none waits.
        trigger_id, attempts: of the job that was claimed last.
        mark: of what was read in the last cycle that ended well.
        failures: in a row.
        retry_at: before which nothing is tried; 0 after a success.
    """

    scope: str
    host: str
    claim: int
    slot: int
    idle_lease: str | None
    idle_generation: int | None
    turns_waiting: int
    trigger_id: str | None
    attempts: int
    mark: str | None
    failures: int
    retry_at: int

    @property
    def whose(self) -> str:
        """Its one name in the cell, `scope.host`."""
        return f"{self.scope}.{self.host}"


class OpenCycle(msgspec.Struct, frozen=True, kw_only=True):
    """A cycle whose end is not recorded; `reserved` is charged until it is."""

    cycle_id: str
    scope: str
    host: str
    claim: int
    attempt: int
    lease_id: str
    generation: int
    mark: str
    reserved: Spending


class IdleDue(msgspec.Struct, frozen=True, kw_only=True):
    """A living lease whose host was idle for a period since `slot`."""

    scope: str
    host: str
    lease_id: str
    generation: int
    slot: int


def _host(row: Row) -> ReflectionHost:
    return ReflectionHost(**{name: row[name] for name in ReflectionHost.__struct_fields__})


def _spending(row: Row) -> Spending:
    return Spending(tokens=row["tokens"], ms=row["ms"], cost=row["cost"])


def _open(row: Row) -> OpenCycle:
    names = [name for name in OpenCycle.__struct_fields__ if name != "reserved"]
    return OpenCycle(**{name: row[name] for name in names}, reserved=_spending(row))


def due(tx: Transaction, now_ms: int, period_ms: int) -> list[IdleDue]:
    """Return at most 64 hosts with a living lease and no idle job for a period."""
    rows = tx.all(_queries.due, now_ms=now_ms, period_ms=period_ms)
    return [IdleDue(**{name: row[name] for name in IdleDue.__struct_fields__}) for row in rows]


def ready(
    tx: Transaction, now_ms: int, open_ms: int, passed_over: Collection[str]
) -> ReflectionHost | None:
    """Return the host whose last claim is oldest, of those whose job can be taken now.

    Hosts that are passed over are named by `ReflectionHost.whose`.
    """
    enough = len(passed_over) + 1
    rows = tx.all(_queries.ready, now_ms=now_ms, open_ms=open_ms, max_rows=enough)
    return next((host for host in map(_host, rows) if host.whose not in passed_over), None)


def overdue(tx: Transaction, now_ms: int, longest_ms: int) -> list[OpenCycle]:
    """Return at most 64 open cycles whose claim ran out, or ends after any claim could."""
    rows = tx.all(_queries.overdue, now_ms=now_ms, longest_ms=longest_ms)
    return [_open(row) for row in rows]


def open_cycle(tx: Transaction, cycle_id: str) -> OpenCycle | None:
    """Return the cycle while its end is not recorded."""
    row = tx.one(_queries.open, cycle_id=cycle_id)
    return None if row is None else _open(row)


def host_of(tx: Transaction, scope: str, host: str) -> ReflectionHost | None:
    """Return what is known of a host's reflection; None before its first lease."""
    row = tx.one(_queries.host, scope=scope, host=host)
    return None if row is None else _host(row)


def spent(tx: Transaction, scope: str, host: str, now_ms: int, window_ms: int) -> Spending:
    """Return what the host's cycles within the window used, or have reserved."""
    row = tx.one(_queries.spent, scope=scope, host=host, now_ms=now_ms, window_ms=window_ms)
    assert row is not None
    return _spending(row)


def findings(tx: Transaction, scope: str, host: str) -> frozenset[str]:
    """Return the codes of what was spoken about in the last 64 cycles that found something."""
    rows = tx.all(_queries.findings, scope=scope, host=host)
    return frozenset(code for row in rows for code in _strings.decode(row["findings"]))


def newest(tx: Transaction, scope: str, host: str, max_rows: int) -> list[Row]:
    """Return the host's newest cycles, newest first."""
    return tx.all(_queries.newest, scope=scope, host=host, max_rows=max_rows)


def apply_began(tx: Transaction, event: LeaseBegan) -> None:
    """Record from when on the host's idle time counts; a later lease changes nothing."""
    tx.run(_queries.expect, scope=event.scope, host=event.host, at_ms=event.at_ms)


def apply_completed(tx: Transaction, event: TurnCompleted) -> None:
    """Record the turn; its reflection waits."""
    turns.complete(tx, event)
    tx.run(_queries.queue_turn, **_whose(event))


def apply_queued(tx: Transaction, event: ReflectionQueued) -> None:
    """Record that an idle job waits."""
    columns = {name: getattr(event, name) for name in ("slot", "lease_id", "generation")}
    tx.run(_queries.queue_idle, **_whose(event), **columns)


def apply_claimed(tx: Transaction, event: ReflectionClaimed) -> None:
    """Record the cycle; its job waits no longer."""
    columns = msgspec.structs.asdict(event) | msgspec.structs.asdict(event.reserved)
    tx.run(_queries.claim, **columns)
    taken = tx.run(_queries.take, **columns)
    assert taken == 1
    if event.turns:
        claimed = turns.claim(tx, event.scope, event.host, event.generation, event.cycle_id)
        assert claimed == event.turns


def apply_ended(tx: Transaction, event: ReflectionEnded) -> None:
    """Record how the cycle ended, and what that means for its host and its job."""
    row = tx.one(_queries.open, cycle_id=event.cycle_id)
    assert row is not None
    tx.run(
        _queries.finish,
        **msgspec.structs.asdict(event.used),
        **msgspec.structs.asdict(event.counts),
        cycle_id=event.cycle_id,
        claim=event.claim,
        at_ms=event.at_ms,
        result=event.result,
        reason=event.reason,
        findings=msgspec.json.encode(event.findings).decode(),
        requeued=int(event.requeued),
    )
    if event.result in ("noop", "proposed"):
        tx.run(_queries.succeed, **_whose(event), mark=row["mark"])
    elif event.retry_at is not None:
        tx.run(_queries.fail, **_whose(event), retry_at=event.retry_at)
    turns.settle(tx, event.cycle_id, waits=event.requeued)
    if event.requeued:
        job = {name: row[name] for name in ("turns", "idle", "lease_id", "generation")}
        tx.run(_queries.requeue, **_whose(event), **job)


def _whose(event: Any) -> dict[str, str]:
    return {"scope": event.scope, "host": event.host}
