"""The context worker: what a turn should know, compiled from what the ledger holds.

Whether the provider is local is the lease's word, never the request's. For one that is not, what is
not shareable is not even read. What comes first goes in first; what does not fit is counted.

Source: SPEC B6; P1, Provider-neutral lifecycle.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

from pmcl.contracts import (
    EVERY_VISIBILITY,
    BackgroundCycle,
    BeliefProposed,
    Capability,
    Context,
    ContextItem,
    ContextRequest,
    Contract,
    Freshness,
    IdentityShown,
    Kind,
    LeaseEndedError,
    OperationalState,
    Visibility,
)
from pmcl.contracts.context import BYTES_PER_TOKEN
from pmcl.contracts.limits import FRESHNESS_MS
from pmcl.judgement import Piece, fit
from pmcl.ledger import (
    evaluations,
    evidence,
    identities,
    items,
    leases,
    recalling,
    reflections,
    self_models,
    stops,
)
from pmcl.ledger.items import Item
from pmcl.ledger.leases import LeaseRow
from pmcl.outbox import UnitOfWork
from pmcl.workers.worker import Decision, Incoming

__all__ = ["ContextWorker"]

_OPEN_MAX: Final = 16
_CYCLES_MAX: Final = 4


class ContextWorker:
    """Compiles contexts; it records nothing."""

    name: str = "context"
    kind: Kind = "context"
    needs_watermark: bool = True
    accepts: Mapping[str | None, type[Contract]] = {None: ContextRequest}

    async def prepare(self, incoming: Incoming) -> None:
        """Return nothing: everything is in the ledger."""

    def decide(self, unit: UnitOfWork, incoming: Incoming, prepared: None) -> Decision:
        """Return the context under a living lease."""
        asked: ContextRequest = incoming.body
        subject = incoming.subject
        lease = leases.bind(unit.tx, subject.scope, subject.host, asked.lease_id, asked.generation)
        if not lease.lives(unit.now_ms):
            raise LeaseEndedError("$.lease_id", lease.lease_id, "a living lease")
        local = lease.provider_locality == "local"
        visible: tuple[Visibility, ...] = EVERY_VISIBILITY if local else ("shareable",)
        bare = _bare(unit, lease, local=local)
        pieces = [*_pieces(unit, lease, asked.goal, visible)]
        return Decision(reply=fit(bare, pieces, _budget_bytes(asked)))


def _budget_bytes(asked: ContextRequest) -> int:
    if asked.budget_tokens is None:
        return asked.budget_bytes
    return min(asked.budget_bytes, asked.budget_tokens * BYTES_PER_TOKEN)


def _bare(unit: UnitOfWork, lease: LeaseRow, *, local: bool) -> Context:
    """Return what every context of the lease has."""
    return Context(
        status="compiled",
        scope=lease.scope,
        generation=lease.generation,
        compiled_at=unit.now_ms,
        provider_locality=lease.provider_locality,
        identity=_identity(unit, lease.scope, local=local),
        self_model_version_id=self_models.current(unit.tx, lease.scope),
        self_model_waiting=self_models.waiting(unit.tx, lease.scope),
        operational=_operational(unit, lease),
        reflection=_reflection(unit, lease),
    )


def _identity(unit: UnitOfWork, scope: str, *, local: bool) -> IdentityShown | None:
    found = identities.current(unit.tx, scope)
    if found is None or found.identity is None:
        return None
    if not local and found.identity.visibility != "shareable":
        return IdentityShown(version=found.version, name=found.identity.name)
    return IdentityShown(
        version=found.version,
        name=found.identity.name,
        text=found.identity.text,
        ideal_self=found.identity.ideal_self,
        desired_world=found.identity.desired_world,
    )


def _operational(unit: UnitOfWork, lease: LeaseRow) -> OperationalState:
    last = evidence.last_of_host(unit.tx, lease.scope, lease.host)
    return OperationalState(
        stopped=stops.in_force(unit.tx) is not None,
        resumed=lease.resumed,
        pending_calls=len(evaluations.pending(unit.tx, lease.scope, lease.host)),
        last_evidence_at=None if last is None else last[1],
        freshness="unavailable" if last is None else _freshness(unit, last[1]),
    )


def _reflection(unit: UnitOfWork, lease: LeaseRow) -> Literal["none", "idle", "waiting"]:
    found = reflections.host_of(unit.tx, lease.scope, lease.host)
    if found is None:
        return "none"
    waits = found.turns_waiting > 0 or found.idle_lease is not None
    return "waiting" if waits else "idle"


def _pieces(
    unit: UnitOfWork, lease: LeaseRow, goal: str, visible: tuple[Visibility, ...]
) -> Iterator[Piece]:
    """Yield all that may go in, what matters most first."""
    tx, scope = unit.tx, lease.scope
    state = items.working_state(tx, scope, lease.host, visible)
    found: list[tuple[str, list[Item]]] = [
        ("working_state", [] if state is None else [state]),
        ("intentions", items.open_intentions(tx, scope, _OPEN_MAX, visible)),
        ("memories", recalling.relevant(tx, scope, goal, unit.now_ms, visible)),
    ]
    advice = items.newest(tx, scope, "recommendation", _OPEN_MAX, visible)
    groups = [group for _, group in found] + [advice]
    ids = {each for group in groups for item in group for each in item.evidence_ids}
    trust = {one.evidence_id: one.trust for one in evidence.supports(tx, scope, ids).values()}
    for section, group in found:
        for item in group:
            yield section, _shown(unit, item, trust)
    for pair in items.contradicting(tx, scope, _OPEN_MAX, visible):
        yield "contradictions", pair
    for item in advice:
        yield "recommendations", _shown(unit, item, trust)
    for row in reflections.newest(tx, scope, lease.host, _CYCLES_MAX):
        yield "background", _cycle(row)
    for tool, grant in sorted(lease.authority.tools.items()):
        yield "capabilities", Capability(tool=tool, grant=grant)


def _shown(unit: UnitOfWork, item: Item, trust: dict[str, str]) -> ContextItem:
    about = item.said.about if isinstance(item.said, BeliefProposed) else ""
    return ContextItem(
        item_id=item.item_id,
        kind=item.kind,
        text=item.text,
        about=about,
        confidence=item.confidence,
        visibility=item.visibility,
        evidence_ids=item.evidence_ids,
        counterevidence_ids=item.counterevidence_ids,
        trust=tuple(sorted({trust[each] for each in item.evidence_ids if each in trust})),
        admitted_at=item.admitted_at,
        freshness=_freshness(unit, item.admitted_at),
        simulated=item.simulated,
    )


def _cycle(row: Any) -> BackgroundCycle:
    return BackgroundCycle(
        cycle_id=row["cycle_id"],
        trigger=row["trigger"],
        began_at=row["claimed_at"],
        result=row["result"],
        admitted=row["admitted"],
        proposed=row["proposed"],
        rejected=row["rejected"],
    )


def _freshness(unit: UnitOfWork, at_ms: int) -> Freshness:
    return "fresh" if unit.now_ms - at_ms <= FRESHNESS_MS else "stale"
