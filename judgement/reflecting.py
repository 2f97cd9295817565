"""The built-in reflector: fixed rules over what happened, each with the evidence that it rests on.

It compares what was expected with what came, looks for what failed again, ended unseen, stands
against something else, waits or lies idle, and proposes the smallest useful thing. Where the ledger
has no evidence for a finding, nothing is said. What was spoken about before is not said again.

Source: SPEC E3; P1, Observer cycle.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from pmcl.contracts import (
    PROPOSALS_MAX,
    LessonProposed,
    MemoryProposed,
    Proposed,
    RecommendationProposed,
    Reflection,
    sha256,
)
from pmcl.judgement.retrospect import HeldCall, PastRun, Retrospect

__all__ = ["Finding", "findings_of", "reflection_of"]

_EVIDENCE_MAX: Final = 8
_NAME_CHARS: Final = 200
_FAILED_AGAIN: Final = 2
_HELD_AGAIN: Final = 3
_VERIFIED_RUNS: Final = 2
_RUNS_BEFORE_UNUSED: Final = 8


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """Something worth saying.

    Attributes:
        code: the rule and a digest of what it is about; the same finding has the same code.
    """

    code: str
    proposed: Proposed


def findings_of(retrospect: Retrospect) -> tuple[Finding, ...]:
    """Return what was not spoken about before, the most useful first, as many as may be said."""
    spoken = set(retrospect.spoken)
    found = [finding for finding in _all(retrospect) if finding.code not in spoken]
    return tuple({finding.code: finding for finding in found}.values())[:PROPOSALS_MAX]


def reflection_of(findings: Iterable[Finding]) -> Reflection:
    """Return the findings as what a reflector says."""
    return Reflection(proposals=tuple([finding.proposed for finding in findings]))


def _all(retrospect: Retrospect) -> Iterator[Finding]:
    evidence = _Evidence(retrospect)
    actions: dict[str, list[PastRun]] = defaultdict(list)
    for run in retrospect.runs:
        actions[run.fingerprint].append(run)
    for runs in actions.values():
        yield from _failed_again(runs, evidence)
    for run in retrospect.runs:
        yield from _unmet(run, evidence)
    yield from _contradictions(retrospect)
    yield from _stale(retrospect)
    yield from _held_again(retrospect.held, actions, evidence)
    for runs in actions.values():
        yield from _unforeseen(runs[0], evidence)
        yield from _lesson(runs, evidence)
    yield from _unused(retrospect)


class _Evidence:
    """Finds what shows something about a call: what it cited, and what is about its resources."""

    def __init__(self, retrospect: Retrospect) -> None:
        self._seen = retrospect.evidence

    def about(self, *calls: PastRun | HeldCall) -> tuple[str, ...]:
        """Return at most 8 ids, what no model wrote first."""
        cited = {evidence_id for call in calls for evidence_id in call.evidence_ids}
        keys = {key for call in calls for key in call.resource_keys}
        found = [
            seen
            for seen in self._seen
            if seen.evidence_id in cited or not keys.isdisjoint(seen.resource_keys)
        ]
        found.sort(key=lambda seen: seen.trust == "model")
        return tuple([seen.evidence_id for seen in found[:_EVIDENCE_MAX]])

    def outer(self, *calls: PastRun) -> tuple[str, ...]:
        """Return ids as `about`, none where a model alone wrote them."""
        ids = self.about(*calls)
        by_model = {seen.evidence_id for seen in self._seen if seen.trust == "model"}
        return () if by_model.issuperset(ids) else ids


def _failed_again(runs: Sequence[PastRun], evidence: _Evidence) -> Iterator[Finding]:
    streak = []
    for run in runs:
        if run.status == "succeeded":
            break
        if run.status == "failed":
            streak.append(run)
    ids = evidence.about(*streak)
    if len(streak) < _FAILED_AGAIN or not ids:
        return
    mode = streak[0].failure_mode or "no named mode"
    text = f"Do not repeat {_name(streak[0])} on the same target before looking at why it failed again: {mode}."  # noqa: E501
    yield _recommend("failed_again", streak[-1].outcome_id, text, ids)


def _unmet(run: PastRun, evidence: _Evidence) -> Iterator[Finding]:
    ids = evidence.about(run)
    if not ids:
        return
    if run.status == "unknown":
        text = f"Find out how {_name(run)} ended before it is tried again: nobody saw its end."
        yield _recommend("unseen_end", run.outcome_id, text, ids)
    elif run.status == "succeeded" and run.expected and not run.verified:
        text = f"Look at what {_name(run)} left behind: it was said to succeed, and no evidence shows its receipt."  # noqa: E501
        yield _recommend("unshown_receipt", run.outcome_id, text, ids)


def _contradictions(retrospect: Retrospect) -> Iterator[Finding]:
    for pair in retrospect.contradictions:
        if pair.evidence_ids:
            text = f"Observe which of two beliefs holds; they cannot both: {pair.item_id} and {pair.other_id}."  # noqa: E501
            about = "/".join(sorted((pair.item_id, pair.other_id)))
            yield _recommend("contradiction", about, text, pair.evidence_ids[:_EVIDENCE_MAX])


def _stale(retrospect: Retrospect) -> Iterator[Finding]:
    for intention in retrospect.intentions:
        if intention.stale and intention.evidence_ids:
            text = f"Resolve intention {intention.item_id}, or say why it still stands: it has waited for long."  # noqa: E501
            ids = intention.evidence_ids[:_EVIDENCE_MAX]
            yield _recommend("stale_intention", intention.item_id, text, ids)


def _held_again(
    held: Sequence[HeldCall], actions: Mapping[str, Sequence[PastRun]], evidence: _Evidence
) -> Iterator[Finding]:
    counts = Counter((call.fingerprint, call.reasons[:1]) for call in held)
    for (fingerprint, reasons), count in counts.items():
        calls = [call for call in held if call.fingerprint == fingerprint]
        ids = evidence.about(*calls)
        if count < _HELD_AGAIN or fingerprint in actions or not reasons or not ids:
            continue
        text = f"Stop asking for {_name(calls[0])} as it is: it was held again for {reasons[0]}, which only new evidence or another proposal changes."  # noqa: E501
        yield _recommend("held_again", f"{fingerprint}/{reasons[0]}", text, ids)


def _unforeseen(run: PastRun, evidence: _Evidence) -> Iterator[Finding]:
    ids = evidence.outer(run)
    if run.status != "failed" or run.failure_mode in (None, run.forecast) or not ids:
        return
    text = f"{_name(run)} failed with {run.failure_mode}; what was forecast was {run.forecast}."
    yield Finding(
        code=_code("unforeseen", f"{run.fingerprint}/{run.failure_mode}"),
        proposed=MemoryProposed(text=text, evidence_ids=ids, confidence=0.9),
    )


def _lesson(runs: Sequence[PastRun], evidence: _Evidence) -> Iterator[Finding]:
    verified = [run for run in runs if run.status == "succeeded" and run.verified]
    ids = evidence.outer(*verified)
    if runs[0] not in verified or len(verified) < _VERIFIED_RUNS or not ids:
        return
    text = f"{_name(runs[0])} succeeds on this target, and its receipt was shown each time."
    yield Finding(
        code=_code("lesson", runs[0].fingerprint),
        proposed=LessonProposed(text=text, evidence_ids=ids, fingerprint=runs[0].fingerprint),
    )


def _unused(retrospect: Retrospect) -> Iterator[Finding]:
    """Rest on the newest evidence, which shows what was used in place of it."""
    if len(retrospect.runs) < _RUNS_BEFORE_UNUSED:
        return
    used = {f"{run.server}/{run.tool}" for run in retrospect.runs}
    used |= {f"{call.server}/{call.tool}" for call in retrospect.held}
    ids = tuple([seen.evidence_id for seen in retrospect.evidence[:_EVIDENCE_MAX]])
    for tool in retrospect.granted:
        if tool not in used and ids:
            text = f"Consider {_short(tool)}, which is there and was not used lately."
            yield _recommend("unused", tool, text, ids)


def _recommend(rule: str, about: str, text: str, evidence_ids: tuple[str, ...]) -> Finding:
    proposed = RecommendationProposed(text=text, evidence_ids=evidence_ids, confidence=0.8)
    return Finding(code=_code(rule, about), proposed=proposed)


def _code(rule: str, about: str) -> str:
    return f"{rule}:{sha256(about.encode())[:16]}"


def _name(call: PastRun | HeldCall) -> str:
    return _short(f"{call.server}/{call.tool}")


def _short(name: str) -> str:
    return name if len(name) <= _NAME_CHARS else name[:_NAME_CHARS] + "…"
