"""The desk of one host: each verdict is claimed once, each dispatch has one outcome, in time.

A caller may vanish between two requests, so whatever is open here has an end: an unclaimed verdict
is closed by the client as `unused`, a dispatch without an outcome here as `unknown`.
Source: SPEC C8, D1.
"""

from collections import OrderedDict
from collections.abc import Callable
from typing import Final, get_args

import anyio
import msgspec
import structlog

from pmcl.contracts import BusyError, Context, ContractError, PmclError, StaleGenerationError
from pmcl.hosts.client import Host
from pmcl.hosts.clock import now_s
from pmcl.hosts.desk.errors import NotOpenError, UnknownVerdictError
from pmcl.hosts.desk.messages import ContextAsked, DispatchAsked, OutcomeAsked, OutcomeSaid
from pmcl.hosts.dispatch import Dispatch, Run
from pmcl.hosts.errors import DispatchRefusedError
from pmcl.hosts.hooks import HookService
from pmcl.hosts.proposal import Proposal
from pmcl.hosts.verdict import Verdict

__all__ = ["Desk"]

log = structlog.get_logger()

_OPEN_MAX: Final = 512
_ENDED_MAX: Final = 4096
_SAID: Final = get_args(OutcomeSaid)


class _Passed(msgspec.Struct, frozen=True):
    verdict: Verdict
    proposal: Proposal


class _Claimed(msgspec.Struct, frozen=True):
    dispatch: Dispatch
    run: Run
    ends_s: float


class Desk:
    """What callers of one connected host have open, by verdict id."""

    def __init__(self, host: Host, clock: Callable[[], float] = now_s) -> None:
        self.host = host
        self._clock = clock
        self._passed: dict[str, _Passed] = {}
        self._claimed: dict[str, _Claimed] = {}
        self._ended: OrderedDict[str, str] = OrderedDict()
        self._asking = 0
        self._fenced = False
        self._hooks: HookService | None = None

    @property
    def verdicts(self) -> int:
        """How many verdicts can be claimed."""
        return len(self._passed)

    @property
    def dispatches(self) -> int:
        """How many dispatches wait for their outcome, calls of coding agents among them."""
        hooked = 0 if self._hooks is None else self._hooks.open_calls
        return len(self._claimed) + hooked

    @property
    def hooks(self) -> HookService:
        """The service of coding agents' events under this lease."""
        if self._hooks is None:
            self._hooks = HookService(self.host)
        return self._hooks

    def knows(self, verdict_id: str) -> bool:
        """Return whether the verdict was given here, as far back as is remembered."""
        return any(verdict_id in known for known in (self._passed, self._claimed, self._ended))

    def require(self, generation: int | None) -> None:
        """Raise `StaleGenerationError` when the caller means another lease."""
        living = self.host.generation
        if generation is not None and living is not None and generation != living:
            raise StaleGenerationError("$.generation", generation, living)

    async def check(self, proposal: Proposal) -> Verdict:
        """Return the verdict; one that lets a tool run stays here until it is claimed or over.

        Raises:
            BusyError: too many verdicts and dispatches are open.
            RefusedError, HostError: as `Host.check`.
        """
        if len(self._passed) + len(self._claimed) + self._asking >= _OPEN_MAX:
            raise BusyError("$", "verdicts", f"{_OPEN_MAX} verdicts and dispatches open")
        self._asking += 1
        try:
            verdict = await self.host.check(proposal)
        finally:
            self._asking -= 1
        if verdict.status == "held":
            self._end(verdict.claim_id, "held")
        elif self._fenced:
            self._end(verdict.claim_id, "fenced")
        elif proposal.kind != "tool":
            self._end(verdict.claim_id, "not_a_call")
        elif verdict.claim_id not in self._claimed:
            self._ended.pop(verdict.claim_id, None)
            self._passed[verdict.claim_id] = _Passed(verdict, proposal)
        return verdict

    async def context(self, asked: ContextAsked) -> Context:
        """Return what a turn should know, or that nobody compiled it.

        Raises:
            StaleGenerationError: the caller means another lease.
            ContractError, RefusedError, HostError: as `Host.context`.
        """
        self.require(asked.generation)
        return await self.host.context(
            asked.goal, budget_bytes=asked.budget_bytes, budget_tokens=asked.budget_tokens
        )

    async def claim(self, asked: DispatchAsked) -> None:
        """Claim a verdict for exactly these arguments; the tool may run when this returns.

        Raises:
            DispatchRefusedError: it may not be used, or not for these arguments.
            UnknownVerdictError: it was not given here.
            HostError, LedgerError: the claim could not be written.
        """
        verdict_id = asked.verdict_id
        passed = self._passed.get(verdict_id)
        if passed is None:
            raise self._not_usable(verdict_id)
        proposal = msgspec.structs.replace(passed.proposal, arguments=asked.arguments)
        dispatch = self.host.dispatch(passed.verdict, proposal)
        try:
            run = await dispatch.__aenter__()
        except DispatchRefusedError as refused:
            if refused.reason != "other_proposal":  # for its own arguments it may still be used
                self._drop(verdict_id, refused.reason)
            raise
        self._drop(verdict_id, "claimed")
        ends_s = self._clock() + asked.outcome_within_ms / 1000
        self._claimed[verdict_id] = _Claimed(dispatch, run, ends_s)

    async def finish(self, verdict_id: str, asked: OutcomeAsked) -> None:
        """Record the outcome of a dispatch; it is on disk when this returns.

        Raises:
            UnknownVerdictError, NotOpenError: it has one already, or was never claimed.
            ContractError: it does not fit; the dispatch is still open.
            HostError, LedgerError: it could not be recorded.
        """
        claimed = self._claimed.pop(verdict_id, None)
        if claimed is None:
            raise self._not_open(verdict_id)
        try:
            _say(claimed.run, asked)
        except ContractError:
            self._claimed[verdict_id] = claimed
            raise
        self._end(verdict_id, asked.status)
        await claimed.dispatch.__aexit__(None, None, None)

    def fence(self) -> None:
        """No verdict of here can be claimed any more; outcomes are still taken."""
        self._fenced = True
        for verdict_id in list(self._passed):
            self._drop(verdict_id, "fenced")

    async def expire(self) -> None:
        """Forget verdicts that are over, and close late dispatches as `unknown`."""
        now = self._clock()
        for verdict_id, passed in list(self._passed.items()):
            if passed.verdict.ends_s <= now:
                self._drop(verdict_id, "expired")
        await self._close([key for key, claimed in self._claimed.items() if claimed.ends_s <= now])
        if self._hooks is not None:
            await self._hooks.lose_old()

    async def close(self) -> None:
        """Close every dispatch as `unknown`."""
        await self._close(list(self._claimed))
        if self._hooks is not None:
            await self._hooks.close()

    async def _close(self, verdict_ids: list[str]) -> None:
        async with anyio.create_task_group() as tasks:
            for verdict_id in verdict_ids:
                tasks.start_soon(self._unknown, verdict_id)

    async def _unknown(self, verdict_id: str) -> None:
        try:
            await self.finish(verdict_id, OutcomeAsked(status="unknown"))
            log.warning("desk.outcome_missing", verdict=verdict_id)
        except PmclError as error:
            log.warning("desk.not_closed", verdict=verdict_id, error=type(error).__name__)

    def _drop(self, verdict_id: str, reason: str) -> None:
        self._passed.pop(verdict_id, None)
        self._end(verdict_id, reason)

    def _end(self, verdict_id: str, reason: str) -> None:
        """Remember why a verdict cannot be used any more; the oldest are forgotten."""
        self._ended[verdict_id] = reason
        self._ended.move_to_end(verdict_id)
        while len(self._ended) > _ENDED_MAX:
            self._ended.popitem(last=False)

    def _not_usable(self, verdict_id: str) -> PmclError:
        if verdict_id in self._claimed:
            return DispatchRefusedError(verdict_id, "claimed")
        ended = self._ended.get(verdict_id)
        if ended is None:
            return UnknownVerdictError()
        return DispatchRefusedError(verdict_id, "claimed" if ended in _SAID else ended)

    def _not_open(self, verdict_id: str) -> PmclError:
        if verdict_id in self._passed:
            return NotOpenError("not_claimed")
        ended = self._ended.get(verdict_id)
        return UnknownVerdictError() if ended is None else NotOpenError(ended)


def _say(run: Run, asked: OutcomeAsked) -> None:
    if asked.failure_mode is not None and asked.status != "failed":
        raise ContractError("$.failure_mode", "", "only with the status failed")
    if asked.receipt is not None and asked.status != "succeeded":
        raise ContractError("$.receipt", "", "only with the status succeeded")
    match asked.status:
        case "succeeded":
            run.succeeded(asked.receipt)
        case "failed":
            run.failed(asked.failure_mode or "other")
        case "cancelled":
            run.cancelled()
        case "unknown":
            run.unknown()
