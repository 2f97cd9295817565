"""Admitting: the one door from what reflection proposes to derived state.

Each proposal is redacted, held against the rules, and becomes events and a payload: an item, a
change of the self-model that waits, or a rejection that is kept beside its reason. What was said
before, on the same evidence, changes nothing. Nothing here can cause an action.

Source: SPEC B4, B7, C11, E4.
"""

import os
from typing import Any, Final, cast

import msgspec
from ulid_transform import ulid_now

from pmcl.contracts import (
    BeliefProposed,
    Event,
    EvolutionProposed,
    IntentionProposed,
    ItemAdmitted,
    ItemClosed,
    ItemEnd,
    ItemKind,
    LessonProposed,
    ProposalCounts,
    ProposalRejected,
    Proposed,
    Reflection,
    SelfModelProposed,
    WorkingStateProposed,
)
from pmcl.judgement import (
    Known,
    Rejected,
    admit,
    kind_of,
    named_evidence,
    named_items,
    redact_proposed,
    weigh,
    words_to_keep,
)
from pmcl.ledger import LedgerKey, evidence, items, rejections, self_models
from pmcl.ledger.payloads import SALT_BYTES, Payload, mark_words
from pmcl.outbox import UnitOfWork
from pmcl.workers.reflecting import Admission

__all__ = ["Cycle", "admit_all"]

_FOUND_AGAIN: Final = frozenset({"belief", "lesson", "memory"})
"""Found by their words; all else is found by its kind."""
_ERASED: Final = "[erased]"


class Cycle(msgspec.Struct, frozen=True, kw_only=True):
    """Whose reflection it was, and which."""

    scope: str
    host: str
    cycle_id: str


def admit_all(unit: UnitOfWork, key: LedgerKey, cycle: Cycle, reflection: Reflection) -> Admission:
    """Return what becomes of each proposal, decided in the order given; to be recorded whole.

    An earlier proposal of the same reflection counts as if it was recorded already.
    """
    admitting = _Admitting(unit, key, cycle)
    for proposed in reflection.proposals:
        admitting.take(redact_proposed(proposed, key.secret))
    return admitting.done()


class _Admitting:
    """Decides one reflection."""

    def __init__(self, unit: UnitOfWork, key: LedgerKey, cycle: Cycle) -> None:
        self._unit = unit
        self._key = key
        self._cycle = cycle
        self._events: list[Event] = []
        self._payloads: list[Payload] = []
        self._counts = dict.fromkeys(("admitted", "proposed", "rejected", "repeated"), 0)
        self._said: set[str] = set()
        self._closed: set[str] = set()
        self._working = items.working_ids(unit.tx, cycle.scope, cycle.host)

    def done(self) -> Admission:
        """Return all that was decided."""
        return Admission(
            events=tuple(self._events),
            payloads=tuple(self._payloads),
            counts=ProposalCounts(**self._counts),
        )

    def take(self, proposed: Proposed) -> None:
        """Decide one proposal, without its secrets."""
        statement_key = self._key.statement(self._cycle.scope, _statement(proposed))
        if self._is_repeat(proposed, statement_key):
            self._counts["repeated"] += 1
            return
        verdict = admit(proposed, self._known(proposed, statement_key))
        if isinstance(verdict, Rejected):
            self._reject(proposed, verdict, statement_key)
        elif isinstance(proposed, SelfModelProposed):
            self._propose(proposed, statement_key)
        else:
            self._admit(proposed, statement_key)

    def _is_repeat(self, proposed: Proposed, statement_key: str) -> bool:
        if statement_key in self._said:
            return True
        self._said.add(statement_key)
        look = self_models.said if isinstance(proposed, SelfModelProposed) else items.said
        known = look(self._unit.tx, self._cycle.scope, statement_key)
        return known is not None and known not in self._closed

    def _known(self, proposed: Proposed, statement_key: str) -> Known:
        tx, scope = self._unit.tx, self._cycle.scope
        named = [each for each in named_items(proposed) if each not in self._closed]
        return Known(
            evidence=evidence.supports(tx, scope, named_evidence(proposed)),
            items=items.known(tx, scope, named),
            retracted=items.retracted(tx, scope, statement_key),
        )

    def _reject(self, proposed: Proposed, verdict: Rejected, statement_key: str) -> None:
        if rejections.is_known(self._unit.tx, self._cycle.scope, statement_key, verdict.code):
            self._counts["repeated"] += 1
            return
        # What rests on erased evidence may quote it, and no later erasure would find it.
        payload = self._keep(_blank(proposed) if verdict.code == "erased_evidence" else proposed)
        self._tell(
            ProposalRejected(
                **self._content(payload, statement_key),
                proposal_id=payload.id,
                kind=cast("Any", kind_of(proposed)),
                code=verdict.code,
                field=verdict.field,
                limit=verdict.limit,
                evidence_ids=named_evidence(proposed),
            ),
            "rejected",
        )

    def _propose(self, proposed: SelfModelProposed, statement_key: str) -> None:
        payload = self._keep(proposed)
        self._tell(
            EvolutionProposed(
                **self._content(payload, statement_key),
                **_claims(proposed),
                **msgspec.structs.asdict(weigh(proposed.part)),
                proposal_id=payload.id,
                part=proposed.part,
            ),
            "proposed",
        )

    def _admit(self, proposed: Proposed, statement_key: str) -> None:
        payload = self._keep(proposed, self._words(proposed))
        self._tell(
            ItemAdmitted(
                **self._content(payload, statement_key),
                **_claims(proposed),
                **self._particulars(proposed),
                item_id=payload.id,
                kind=cast("ItemKind", kind_of(proposed)),
            ),
            "admitted",
        )
        match proposed:
            case BeliefProposed(replaces=str(replaced)):
                self._close(replaced, "replaced", payload.id)
            case IntentionProposed(resolves=str(resolved)):
                self._close(resolved, "resolved", payload.id)
            case WorkingStateProposed():
                for item_id in self._working:
                    self._close(item_id, "replaced", payload.id)
                self._working = [payload.id]

    def _particulars(self, proposed: Proposed) -> dict[str, Any]:
        match proposed:
            case BeliefProposed():
                return {
                    "counterevidence_ids": proposed.counterevidence_ids,
                    "replaces": proposed.replaces,
                    "contradicts": proposed.contradicts,
                    "about_key": self._key.topic(self._cycle.scope, proposed.about),
                }
            case IntentionProposed():
                return {"resolves": proposed.resolves}
            case LessonProposed():
                return {"fingerprint": proposed.fingerprint}
            case _:
                return {}

    def _words(self, proposed: Proposed) -> str | None:
        """Return the words by which an item is found, if it is of a kind that is."""
        if kind_of(proposed) not in _FOUND_AGAIN:
            return None
        about = proposed.about if isinstance(proposed, BeliefProposed) else ""
        kept = words_to_keep(proposed.text, about)
        return mark_words(self._cycle.scope, proposed.visibility, kept)

    def _keep(self, proposed: Proposed, words: str | None = None) -> Payload:
        """Return the payload that holds the proposal."""
        payload = Payload(
            scope=self._cycle.scope,
            id=ulid_now(),
            salt=os.urandom(SALT_BYTES),
            content=msgspec.json.encode(proposed),
            words=words,
        )
        self._payloads.append(payload)
        return payload

    def _close(self, item_id: str, reason: ItemEnd, by: str) -> None:
        self._closed.add(item_id)
        self._events.append(ItemClosed(**self._whose(), item_id=item_id, reason=reason, by=by))

    def _tell(self, event: Event, count: str) -> None:
        self._events.append(event)
        self._counts[count] += 1

    def _content(self, payload: Payload, statement_key: str) -> dict[str, Any]:
        """Return what each event tells of a proposal, whatever becomes of it."""
        return {
            **self._whose(),
            "cycle_id": self._cycle.cycle_id,
            "statement_key": statement_key,
            "commitment": payload.commitment,
            "size_bytes": len(payload.content),
        }

    def _whose(self) -> dict[str, Any]:
        return {
            "scope": self._cycle.scope,
            "host": self._cycle.host,
            "at_ms": self._unit.now_ms,
        }


def _claims(proposed: Proposed) -> dict[str, Any]:
    names = ("visibility", "confidence", "evidence_ids", "simulated")
    return {name: getattr(proposed, name) for name in names}


def _blank(proposed: Proposed) -> Proposed:
    if isinstance(proposed, BeliefProposed):
        return msgspec.structs.replace(proposed, text=_ERASED, about=_ERASED)
    return msgspec.structs.replace(proposed, text=_ERASED)


def _statement(proposed: Proposed) -> bytes:
    """Return all that makes two proposals the same; how sure somebody is of it does not."""
    sorted_ids = tuple(sorted(set(proposed.evidence_ids)))
    return msgspec.json.encode(
        msgspec.structs.replace(proposed, evidence_ids=sorted_ids, confidence=1.0), order="sorted"
    )
