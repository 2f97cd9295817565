"""The stop worker: after an operator's word nothing that was passed before can be dispatched.

A stop ends every lease, and so fences every verdict that was given under one. What is asked for
afterwards is judged under the stop. Source: SPEC F7.
"""

from collections.abc import Mapping

from pmcl.contracts import (
    CELL_HOST,
    CELL_SCOPE,
    CellResumed,
    CellStopped,
    Contract,
    Kind,
    Resume,
    Stop,
    StopState,
)
from pmcl.ledger import leases, stops
from pmcl.outbox import UnitOfWork
from pmcl.workers.lease import lease_ended
from pmcl.workers.operators import operator_of
from pmcl.workers.worker import Decision, Incoming

__all__ = ["StopWorker"]


class StopWorker:
    """Stops and resumes; the same word again changes nothing."""

    name: str = "stop"
    kind: Kind = "ops"
    needs_watermark: bool = False
    accepts: Mapping[str | None, type[Contract]] = {"resume": Resume, "stop": Stop}

    async def prepare(self, incoming: Incoming) -> None:
        """Return nothing: everything is in the ledger."""

    def decide(self, unit: UnitOfWork, incoming: Incoming, prepared: None) -> Decision:
        """Return the state that the word leads to."""
        match incoming.body:
            case Stop() as stop:
                return _stop(unit, stop)
            case _:
                return _resume(unit, incoming.body)


def _stop(unit: UnitOfWork, asked: Stop) -> Decision:
    standing = stops.in_force(unit.tx)
    if standing is not None:
        return Decision(
            reply=StopState(stopped=True, changed=False, since=standing.since, by=standing.by)
        )
    live = leases.live(unit.tx)
    if asked.dry_run:
        return Decision(reply=StopState(stopped=False, changed=True, leases=len(live)))
    by = operator_of(asked.label)
    stopped = CellStopped(scope=CELL_SCOPE, host=CELL_HOST, at_ms=unit.now_ms, by=by)
    ended = [lease_ended(unit, lease, "stopped") for lease in live]
    return Decision(
        events=(stopped, *ended),
        reply=StopState(stopped=True, changed=True, since=unit.now_ms, by=by, leases=len(live)),
    )


def _resume(unit: UnitOfWork, asked: Resume) -> Decision:
    standing = stops.in_force(unit.tx)
    if standing is None:
        return Decision(reply=StopState(stopped=False, changed=False))
    if asked.dry_run:
        return Decision(
            reply=StopState(stopped=True, changed=True, since=standing.since, by=standing.by)
        )
    resumed = CellResumed(
        scope=CELL_SCOPE, host=CELL_HOST, at_ms=unit.now_ms, by=operator_of(asked.label)
    )
    return Decision(events=(resumed,), reply=StopState(stopped=False, changed=True))
