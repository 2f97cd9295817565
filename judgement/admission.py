"""Admission: what is proposed becomes derived state by fixed rules, or the first one rejects it.

Who proposes cannot argue: `admit` reads the proposal and what the ledger knows, nothing else. A
memory, a belief, a lesson and a change of the self-model need evidence that no model wrote; where
the work stands, what is still to be done and what might be done next may rest on a model's word.

Source: SPEC B4, B5, B7, E4.
"""

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from pmcl.contracts import (
    BeliefProposed,
    ChangeRadius,
    ChangeRisk,
    IntentionProposed,
    Proposed,
    Reversibility,
    SelfModelPart,
    Visibility,
)
from pmcl.contracts.limits import EVIDENCE_IDS_MAX
from pmcl.judgement.claimed_authority import sets_authority
from pmcl.judgement.claimed_experience import claims_experience

__all__ = [
    "Admitted",
    "Known",
    "KnownItem",
    "Rejected",
    "Support",
    "Weight",
    "admit",
    "kind_of",
    "named_evidence",
    "named_items",
    "weigh",
]

_TEXT_MAX_CHARS: Final = 1024
_ABOUT_MAX_CHARS: Final = 256
_NOT_BY_MODELS: Final = frozenset({"belief", "lesson", "memory", "self_model"})
_COUNTERFACTUAL: Final = frozenset({"recommendation", "self_model"})


class Support(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of the scope's evidence.

    Attributes:
        erased: its content is gone; it supports nothing any more.
    """

    evidence_id: str
    trust: str
    visibility: Visibility
    erased: bool = False


class KnownItem(msgspec.Struct, frozen=True, kw_only=True):
    """A live item of the scope.

    Attributes:
        open: of an intention, that it is still to be done.
    """

    item_id: str
    kind: str
    open: bool = True


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """What the ledger knows of all that a proposal names, by id; what it lacks is not known.

    Attributes:
        retracted: an operator took back an item that said just this, on the same evidence.
    """

    evidence: Mapping[str, Support] = {}
    items: Mapping[str, KnownItem] = {}
    retracted: bool = False


class Admitted(msgspec.Struct, frozen=True):
    """The proposal fits every rule."""


class Rejected(msgspec.Struct, frozen=True, kw_only=True):
    """The first rule that the proposal breaks.

    Attributes:
        field: of the proposal.
        limit: what the rule allows.
    """

    code: str
    field: str
    limit: str


class Weight(msgspec.Struct, frozen=True, kw_only=True):
    """What a change of the self-model is worth deciding on; fixed for each part of it."""

    risk: ChangeRisk
    impact_radius: ChangeRadius
    reversibility: Reversibility


_WEIGHTS: Final[dict[SelfModelPart, Weight]] = {
    "current_state": Weight(risk="low", impact_radius="host", reversibility="reversible"),
    "limitations": Weight(risk="low", impact_radius="scope", reversibility="reversible"),
    "skills": Weight(risk="medium", impact_radius="scope", reversibility="reversible"),
    "capabilities": Weight(risk="medium", impact_radius="scope", reversibility="reversible"),
    "active_goals": Weight(risk="high", impact_radius="scope", reversibility="reversible"),
}


def weigh(part: SelfModelPart) -> Weight:
    """Return risk, reach and reversibility of a change to a part of the self-model."""
    return _WEIGHTS[part]


def kind_of(proposed: Proposed) -> str:
    """Return what a proposal would become, an `ItemKind` or `self_model`."""
    return str(type(proposed).__struct_config__.tag)


def named_evidence(proposed: Proposed) -> tuple[str, ...]:
    """Return the evidence that a proposal names, for it or against it, each piece once."""
    return tuple(dict.fromkeys(each for _, ids in _named_evidence(proposed) for each in ids))


def named_items(proposed: Proposed) -> tuple[str, ...]:
    """Return the items that a proposal names."""
    return tuple([item_id for _, item_id in _named_items(proposed)])


def admit(proposed: Proposed, known: Known) -> Admitted | Rejected:
    """Return that the proposal may become derived state, or the first rule against it."""
    return next(_broken(proposed, known), Admitted())


def _broken(proposed: Proposed, known: Known) -> Iterator[Rejected]:
    yield from _size(proposed)
    yield from _words(proposed)
    yield from _evidence(proposed, known)
    yield from _lifecycle(proposed, known)


def _size(proposed: Proposed) -> Iterator[Rejected]:
    for field, text, limit in _texts(proposed):
        if not text.strip() or len(text) > limit:
            yield Rejected(code="too_large", field=field, limit=f"1 to {limit} characters")
    for field, ids in _named_evidence(proposed):
        if len(ids) > EVIDENCE_IDS_MAX:
            yield Rejected(code="too_large", field=field, limit=f"{EVIDENCE_IDS_MAX} ids")


def _words(proposed: Proposed) -> Iterator[Rejected]:
    for field, text, _ in _texts(proposed):
        if claims_experience(text):
            limit = "no claim of consciousness, feelings, desires or private experience"
            yield Rejected(code="claims_experience", field=field, limit=limit)
        if sets_authority(text):
            limit = "nothing that sets identity, policy, permission, prohibition or approval"
            yield Rejected(code="sets_authority", field=field, limit=limit)
    if proposed.simulated and kind_of(proposed) not in _COUNTERFACTUAL:
        limit = f"false, but for {' and '.join(sorted(_COUNTERFACTUAL))}"
        yield Rejected(code="simulated", field="$.simulated", limit=limit)


def _evidence(proposed: Proposed, known: Known) -> Iterator[Rejected]:
    if not proposed.evidence_ids:
        yield Rejected(code="no_evidence", field="$.evidence_ids", limit="at least one id")
    supports: list[Support] = []
    for field, ids in _named_evidence(proposed):
        for at, evidence_id in enumerate(ids):
            found, place = known.evidence.get(evidence_id), f"{field}[{at}]"
            if found is None:
                limit = "evidence of this scope"
                yield Rejected(code="unknown_evidence", field=place, limit=limit)
            elif found.erased:
                limit = "evidence that was not erased"
                yield Rejected(code="erased_evidence", field=place, limit=limit)
            else:
                supports.append(found)
    for_it = [known.evidence[each] for each in proposed.evidence_ids if each in known.evidence]
    if kind_of(proposed) in _NOT_BY_MODELS and all(one.trust == "model" for one in for_it):
        limit = "some evidence that no model wrote"
        yield Rejected(code="model_word", field="$.evidence_ids", limit=limit)
    if proposed.visibility == "shareable" and any(
        one.visibility != "shareable" for one in supports
    ):
        limit = "local_only, as some of its evidence is"
        yield Rejected(code="visibility", field="$.visibility", limit=limit)


def _lifecycle(proposed: Proposed, known: Known) -> Iterator[Rejected]:
    kind = kind_of(proposed)
    if known.retracted:
        limit = "nothing that an operator took back, unless other evidence is named"
        yield Rejected(code="retracted", field="$.text", limit=limit)
    for field, item_id in _named_items(proposed):
        found = known.items.get(item_id)
        if found is None or found.kind != kind or not found.open:
            yield Rejected(code="not_live", field=field, limit=f"a live {kind} of this scope")
    if isinstance(proposed, BeliefProposed) and proposed.replaces in proposed.contradicts:
        limit = "a belief that stays beside this one"
        yield Rejected(code="not_live", field="$.contradicts", limit=limit)


def _texts(proposed: Proposed) -> list[tuple[str, str, int]]:
    """Return what a proposal says, by field, and how many characters that may have."""
    texts = [("$.text", proposed.text, _TEXT_MAX_CHARS)]
    if isinstance(proposed, BeliefProposed):
        texts.append(("$.about", proposed.about, _ABOUT_MAX_CHARS))
    return texts


def _named_evidence(proposed: Proposed) -> list[tuple[str, tuple[str, ...]]]:
    named = [("$.evidence_ids", proposed.evidence_ids)]
    if isinstance(proposed, BeliefProposed):
        named.append(("$.counterevidence_ids", proposed.counterevidence_ids))
    return named


def _named_items(proposed: Proposed) -> list[tuple[str, str]]:
    """Return what must be live and of the proposal's own kind, by field."""
    match proposed:
        case BeliefProposed(replaces=replaced):
            named = [] if replaced is None else [("$.replaces", replaced)]
            named += [(f"$.contradicts[{at}]", one) for at, one in enumerate(proposed.contradicts)]
            return named
        case IntentionProposed(resolves=str(resolved)):
            return [("$.resolves", resolved)]
        case _:
            return []
