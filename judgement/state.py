"""What is missing is `unavailable`; nothing is invented, and every item says where it came from.

Source: SPEC C4; P1, State Check.
"""

from typing import Final, get_args

from pmcl.contracts import Effect, Freshness, StateCheck, StateItem
from pmcl.contracts.limits import EVIDENCE_IDS_MAX, FRESHNESS_MS
from pmcl.judgement.authority import lease_lives
from pmcl.judgement.criticism import critic_item
from pmcl.judgement.grounding import TRUSTED
from pmcl.judgement.holds import about, supporting
from pmcl.judgement.inputs import DerivedItems, Inputs

__all__ = ["STALE_ASSUMPTION", "check_state", "stale_reasons"]

STALE_ASSUMPTION: Final = "state.stale_assumption"
_EFFECTS: Final[tuple[Effect, ...]] = get_args(Effect)
_CHANGES: Final = frozenset({"mutation", "communication", "execution"})


def check_state(inputs: Inputs) -> StateCheck:
    """Return what is known now, each item with its freshness and lineage."""
    request = inputs.request
    lease = (request.lease_id,)
    lives: Freshness = "fresh" if lease_lives(inputs) else "stale"
    recent = inputs.history.recent
    items = (
        StateItem(name="host_contract", freshness=lives, lineage=lease),
        StateItem(
            name="goal",
            freshness="fresh" if request.goal else "unavailable",
            lineage=(request.call_id,),
            note="as the host states it",
        ),
        _derived(inputs, "working_state", inputs.derived.working_state, "newest first"),
        StateItem(
            name="capabilities",
            freshness=lives,
            lineage=lease,
            note="as declared when the lease began",
        ),
        StateItem(
            name="operational_state", freshness="fresh", lineage=lease, note=_operational(inputs)
        ),
        _derived(inputs, "memories", inputs.derived.memories, "what the goal asks for first"),
        StateItem(
            name="pending_actions",
            freshness="fresh",
            lineage=inputs.pending[:EVIDENCE_IDS_MAX],
            note=f"{len(inputs.pending)} without an outcome",
        ),
        _derived(inputs, "contradictions", inputs.derived.contradictions, "newest first"),
        StateItem(name="limitations", freshness=lives, lineage=lease, note=_limits(inputs)),
        StateItem(
            name="self_model",
            freshness="unavailable",
            lineage=(inputs.self_model_version_id,),
            note="says nothing yet",
        ),
        _evidence(inputs),
        StateItem(
            name="recent_outcomes",
            freshness="fresh" if inputs.history.action.runs else "unavailable",
            lineage=tuple([failure.outcome_id for failure in recent[:EVIDENCE_IDS_MAX]]),
            note="failures of the same action",
        ),
        *critic_item(inputs),
    )
    modes = tuple([failure.mode for failure in recent[:EVIDENCE_IDS_MAX]])
    return StateCheck(items=items, recent_failures=modes)


def stale_reasons(inputs: Inputs, effect: Effect) -> tuple[str, ...]:
    """Return the reason for which a gap holds an effect; empty when none does.

    After `resume` all earlier evidence is stale. A mutation, a communication or an execution needs
    fresh evidence of the new generation about one of its resources, or, where it names none, fresh
    words of the user or the operator; no model may have written it. Source: SPEC A2, C4.
    """
    if not inputs.resumed or effect not in _CHANGES:
        return ()
    fresh = [item for item in supporting(inputs) if _is_fresh(inputs.now_ms, item.observed_at)]
    seen = bool(about(fresh, inputs.resource_keys))
    told = not inputs.request.resources and any(item.trust in TRUSTED for item in fresh)
    return () if seen or told else (STALE_ASSUMPTION,)


def _operational(inputs: Inputs) -> str:
    stands = "stopped by an operator" if inputs.stopped else "running"
    return f"{stands}, resumed after a gap" if inputs.resumed else stands


def _limits(inputs: Inputs) -> str:
    """Return which effects and tools the snapshot does not grant; the self-model adds none yet."""
    authority = inputs.authority
    named = [grant for tool, grant in authority.tools.items() if tool != "*"]
    parts = []
    for grant, name in (("prohibit", "prohibited"), ("approve", "by approval")):
        kept = [each for each in _EFFECTS if authority.effects.get(each, "prohibit") == grant]
        tools = [f"named tools: {named.count(grant)}"] if grant in named else []
        others = ["other tools"] if authority.tools.get("*", "prohibit") == grant else []
        parts.append(f"{name}: {', '.join([*kept, *tools, *others]) or 'nothing'}")
    return "; ".join(parts)


def _derived(inputs: Inputs, name: str, items: DerivedItems, order: str) -> StateItem:
    if items.newest_at is None:
        return StateItem(name=name, freshness="unavailable", note="none")
    fresh = _is_fresh(inputs.now_ms, items.newest_at)
    return StateItem(
        name=name,
        freshness="fresh" if fresh else "stale",
        lineage=items.ids,
        note=f"derived, {order}",
    )


def _evidence(inputs: Inputs) -> StateItem:
    if not inputs.evidence:
        return _last_evidence(inputs)
    unerased = [item for item in inputs.evidence if not item.erased]
    fresh = bool(unerased) and all(
        item.generation == inputs.lease_generation and _is_fresh(inputs.now_ms, item.observed_at)
        for item in unerased
    )
    stale: Freshness = "stale" if unerased else "unavailable"
    return StateItem(
        name="evidence",
        freshness="fresh" if fresh else stale,
        lineage=tuple([item.evidence_id for item in unerased[:EVIDENCE_IDS_MAX]]),
        note="cited",
    )


def _last_evidence(inputs: Inputs) -> StateItem:
    if inputs.last_evidence_id is None or inputs.last_evidence_at is None:
        return StateItem(name="evidence", freshness="unavailable", note="none recorded")
    fresh = _is_fresh(inputs.now_ms, inputs.last_evidence_at)
    return StateItem(
        name="evidence",
        freshness="fresh" if fresh else "stale",
        lineage=(inputs.last_evidence_id,),
        note="newest, none cited",
    )


def _is_fresh(now_ms: int, observed_at: int) -> bool:
    # A host's clock may run ahead, but a time far in the future is no sign of freshness.
    return abs(now_ms - observed_at) <= FRESHNESS_MS
