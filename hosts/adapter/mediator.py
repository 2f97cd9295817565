"""A call goes on only when it passed, and its output is evidence before any model reads it.

Where nobody could judge, a local inspection goes on; what it brought is owed to the ledger, and
nothing is asked before it is there.
Source: SPEC A7, C1, C9; DESIGN section 2, a host's watermark.
"""

import re
from collections import deque
from typing import TYPE_CHECKING, Final

import anyio
import anyio.to_thread
import msgspec
import structlog

from pmcl.contracts import (
    ExpectedReceipt,
    HostError,
    PmclError,
    Premortem,
    Receipt,
    Resource,
    Tool,
    TrustLabel,
    definition_hash,
    limits,
    sha256,
)
from pmcl.hosts.adapter.calls import Mediated, ToolCall
from pmcl.hosts.adapter.evidence import SeenEvidence
from pmcl.hosts.adapter.outputs import observations_of, parts_of
from pmcl.hosts.adapter.resources import find_resources
from pmcl.hosts.adapter.wording import BY_CALLS, in_words
from pmcl.hosts.dispatch import Dispatch
from pmcl.hosts.errors import ObservationLostError
from pmcl.hosts.observing import ObservationFields
from pmcl.hosts.proposal import Proposal
from pmcl.judgement import Phrases

if TYPE_CHECKING:
    from pmcl.hosts.client import Host  # which has a mediator for its guarded functions

__all__ = ["Mediator"]

log = structlog.get_logger()

_NO_DEFINITION: Final = "0" * 64
_RECEIPT: Final = "tool_output"
_OWED_MAX: Final = 64
_GOAL_CHARS: Final = 4096
_INSPECTED: Final = "the target was inspected before the call"
_evidence = re.compile(r"evidence ([0-9A-HJKMNP-TV-Z]{26})")
_NOT_ALL_KNOWN: Final = "What was read while the sidecar was away is not recorded yet: try again."


class Mediator:
    """Puts the calls of one connected host to the sidecar; several at once are fine.

    `phrases` are those in which its model is told what would lift a hold.
    """

    def __init__(self, host: "Host", phrases: Phrases = BY_CALLS) -> None:
        self._host = host
        self._phrases = phrases
        self._seen = SeenEvidence()
        self._goal = ""
        self._owed: deque[list[ObservationFields]] = deque()
        self._paying = anyio.Lock()

    async def check(self, call: ToolCall, *, canary: bool = False) -> Mediated:
        """Return what became of the call; what cannot be asked about may not run.

        Nobody wants to run a canary; see `Proposal`.
        """
        proposal = None
        try:
            all_known = await self._pay()
            resources = await anyio.to_thread.run_sync(find_resources, call)
            proposal = self._proposal(call, resources, canary=canary)
            verdict = await self._host.check(proposal)
        except PmclError as error:
            log.warning("mediator.not_asked", call=call.call_id, error=type(error).__name__)
            return Mediated(call=call, proposal=proposal, refusal=str(error))
        if verdict.status == "passed" and not all_known:
            return Mediated(call=call, proposal=proposal, refusal=_NOT_ALL_KNOWN)
        revision = self._reworded(verdict.revision_request)
        return Mediated(call=call, proposal=proposal, verdict=verdict, revision=revision)

    def dispatch(self, mediated: Mediated) -> Dispatch:
        """Return the block in which the tool may run, once; see `Host.dispatch`.

        Raises:
            HostError: the call may not run.
        """
        if mediated.verdict is None or mediated.proposal is None:
            raise HostError(f"call {mediated.call.call_id} was not asked about")
        return self._host.dispatch(mediated.verdict, mediated.proposal)

    async def said(self, text: str, source: str = "prompt") -> None:
        """The user's words are evidence, and the goal of later calls that state none.

        Raises as `Host.observe_many`.
        """
        self._goal = text[:_GOAL_CHARS]
        await self._host.observe_many(observations_of(parts_of(text), source, "user", ()))

    async def record(
        self,
        call: ToolCall,
        output: str,
        *,
        mediated: Mediated | None = None,
        trust: TrustLabel = "tool_output",
        ends: Dispatch | None = None,
    ) -> Receipt:
        """The output is evidence when this returns; its receipt makes the outcome verified.

        `mediated` is what `check` said of the call. The output of a degraded inspection that cannot
        be stored now is owed instead: it is stored before anything else is asked. `ends` is the
        block of a call whose last output this is: what its `Run` was told of it is recorded at the
        same time, and a success gets the receipt.

        Raises:
            OutputTooLargeError, ObservationLostError, HostError: no model may see the output.
        """
        resources = await self._resources(call, mediated)
        parts = parts_of(output)
        observed = observations_of(parts, f"{call.server}/{call.name}", trust, resources)
        receipt = Receipt(kind=_RECEIPT, digest=sha256(parts[0].encode()))
        if ends is not None:
            ends.attest(receipt)
        try:
            if not await self._pay():
                raise ObservationLostError((), (), "earlier outputs are not stored yet")
            await self._observe(observed, ends)
        except ObservationLostError:
            if mediated is None or not _is_degraded(mediated) or len(self._owed) >= _OWED_MAX:
                raise
            self._owed.append(observed)
        return receipt

    def _proposal(
        self, call: ToolCall, resources: tuple[Resource, ...], *, canary: bool
    ) -> Proposal:
        stated, definition = call.stated, call.definition
        pinned = _NO_DEFINITION if definition is None else definition_hash(definition)
        about = self._seen.about(resources)
        cited = dict.fromkeys((*stated.evidence_ids, *about))
        return Proposal(
            goal=stated.goal or self._goal or f"Call {call.server}/{call.name}",
            tool=Tool(server=call.server, name=call.name, definition_hash=pinned),
            arguments=call.arguments,
            call_id=call.call_id,
            definition=definition,
            resources=resources,
            expected_outcome=stated.expected_outcome,
            expected_receipt=ExpectedReceipt(kind=_RECEIPT),
            effect=call.effect,
            reversibility=call.reversibility,
            premortem=_premortem(stated.premortem, about),
            justification=stated.justification,
            rejected_alternatives=stated.rejected_alternatives,
            evidence_ids=tuple(cited)[: limits.EVIDENCE_IDS_MAX],
            canary=canary,
        )

    def _reworded(self, revision: str | None) -> str | None:
        """Return a revision request in words for the model, evidence by the tool that showed it."""
        if revision is None:
            return None
        return _evidence.sub(
            lambda found: self._seen.shown_by(found[1]) or found[0],
            in_words(revision, self._phrases),
        )

    async def _resources(self, call: ToolCall, mediated: Mediated | None) -> tuple[Resource, ...]:
        if mediated is not None and mediated.proposal is not None:
            return mediated.proposal.resources
        return await anyio.to_thread.run_sync(find_resources, call)

    async def _observe(
        self, observed: list[ObservationFields], ends: Dispatch | None = None
    ) -> None:
        evidence_ids = await self._host.observe_many(observed, ends=ends)
        for fields, evidence_id in zip(observed, evidence_ids, strict=True):
            self._seen.add(fields["resources"], evidence_id, fields["source"])

    async def _pay(self) -> bool:
        """Store what is owed, in order; return whether nothing is owed any more."""
        async with self._paying:
            while self._owed and self._host.is_connected:
                try:
                    await self._observe(self._owed[0])
                except ObservationLostError:
                    break
                self._owed.popleft()
        return not self._owed


def _is_degraded(mediated: Mediated) -> bool:
    return mediated.verdict is not None and mediated.verdict.status == "degraded"


def _premortem(stated: Premortem | None, about: tuple[str, ...]) -> Premortem | None:
    """Return the model's own pre-mortem, or the adapter's: it saw the target before.

    The sidecar looks at the evidence and makes its own forecast; the likelihood is not one.
    """
    if stated is not None:
        cited = dict.fromkeys((*stated.evidence_ids, *about))
        ids = tuple(cited)[: limits.EVIDENCE_IDS_MAX]
        return msgspec.structs.replace(stated, evidence_ids=ids)
    if not about:
        return None
    return Premortem(
        failure_mode="wrong_target", likelihood=0.5, mitigation=_INSPECTED, evidence_ids=about
    )
