"""A tool runs only inside a claim: made before it, once for one verdict, closed once after it.

What ends the block decides the outcome; a process that dies inside it leaves the claim to its
siblings, who close it as `unknown`. What changes anything runs only within a second of the
sidecar's word that its lease lives, which no lease does after a stop.
Source: SPEC C8, C9, D1, F7; DESIGN section 3.8.
"""

import re
from types import TracebackType
from typing import Any

import anyio
import msgspec
import structlog
from anyio.lowlevel import checkpoint_if_cancelled
from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_delay, wait_fixed
from ulid_transform import ulid_now

from pmcl.contracts import (
    AuditReceipt,
    ContractError,
    HostError,
    Id,
    LedgerError,
    Mismatch,
    Outcome,
    OutcomeStatus,
    PmclError,
    Receipt,
    SecretInNameError,
    limits,
)
from pmcl.hosts.clock import now_s, wall_ms
from pmcl.hosts.errors import DispatchRefusedError, KeyRefusedError
from pmcl.hosts.outstanding import claim_of
from pmcl.hosts.proposal import Proposal, bind
from pmcl.hosts.session import Session
from pmcl.hosts.verdict import Verdict
from pmcl.judgement import is_open_name
from pmcl.outbox import PendingMessage

__all__ = ["Dispatch", "Run"]

log = structlog.get_logger()

_RECORD_S = 5.0
_STOP_S = limits.STOP_MS / 1000
_PAUSE_S = 0.1
_not_in_id = re.compile(r"[^A-Za-z0-9._:/-]+")


class Run:
    """What came of the call; the last thing said counts, and what is said beats an exception."""

    def __init__(self) -> None:
        self.status: OutcomeStatus | None = None
        self.failure_mode: str | None = None
        self.receipt: Receipt | None = None

    def succeeded(self, receipt: Receipt | None = None) -> None:
        """Note success.

        Raises:
            ContractError: the receipt is malformed, or its kind holds a secret; the success
                stands, without it.
        """
        self._note("succeeded")
        if receipt is not None:
            fitting = _fitting("$.receipt", msgspec.to_builtins(receipt), Receipt)
            _check_open("$.receipt.kind", fitting.kind)
            self.receipt = fitting

    def failed(self, mode: str) -> None:
        """Note a failure; `mode` is a short code, an `Id`.

        Raises:
            ContractError: the mode is none, or holds a secret; the failure stands, as `other`.
        """
        self._note("failed", "other")
        fitting = _fitting("$.failure_mode", mode, Id)
        _check_open("$.failure_mode", fitting)
        self.failure_mode = fitting

    def cancelled(self) -> None:
        """Note that the call was given up before it ended."""
        self._note("cancelled")

    def unknown(self) -> None:
        """Note that nobody saw the end."""
        self._note("unknown")

    def end(self, error: BaseException | None) -> None:
        """Take what ended the block for the result, if none was said."""
        if self.status is not None:
            return
        if error is None:
            self._note("succeeded")
        elif isinstance(error, anyio.get_cancelled_exc_class()):
            self._note("cancelled")
        elif isinstance(error, Exception):
            self._note("failed", _mode_of(error))
        else:
            self._note("unknown")

    def _note(self, status: OutcomeStatus, mode: str | None = None) -> None:
        self.status, self.failure_mode, self.receipt = status, mode, None


class Dispatch:
    """The block in which one verdict is used."""

    def __init__(self, session: Session, verdict: Verdict, proposal: Proposal) -> None:
        self._session = session
        self._verdict = verdict
        self._proposal = proposal
        self._run = Run()
        self._began_s = 0.0
        self._is_recorded = False

    @property
    def run(self) -> Run:
        """What is said of the call."""
        return self._run

    async def __aenter__(self) -> Run:
        """Claim the verdict.

        Raises:
            DispatchRefusedError: it may not be used; the tool must not run.
            HostError, LedgerError: the claim could not be written; the tool must not run.
        """
        self._check()
        await self._confirm()
        with anyio.CancelScope(shield=True):  # bounded by the store's own wait for the file
            claimed = await self._session.file.claim(claim_of(self._verdict))
        if not claimed:
            raise self._refused("claimed")
        self._session.outstanding.remove(self._verdict)
        try:
            await checkpoint_if_cancelled()
            self._check_time()
            self._check_word()
        except BaseException:
            self._run.status = "unused"
            await self._record(None)
            raise
        self._began_s = now_s()
        return self._run

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Record the result unless it is, and give it a moment to reach the bus.

        Raises:
            HostError: the claim was closed elsewhere.
            LedgerError: the file could not be written for 5 s; the result is kept in memory, and is
                recorded as soon as it can.
        """
        self._run.end(error)
        if self._is_recorded:
            return
        await self._record(error)
        if error is None and self._session.connection.ready:
            await self._session.delivery.sent(self._session.config.deadline_ms / 1000)

    def attest(self, receipt: Receipt) -> None:
        """A success that was noted has this receipt."""
        if self._run.status == "succeeded":
            self._run.succeeded(receipt)

    async def finish_reserving(self, count: int, deadline_ms: int) -> int | None:
        """Record the result that was noted, and reserve numbers for what the call brought last.

        Returns:
            The first number; `None` where the file did not take both, and nothing was written.
        """
        try:
            with anyio.CancelScope(shield=True):
                first, message = await self._session.file.finish_reserving(
                    self._result(), count, deadline_ms
                )
        except (HostError, LedgerError) as failure:
            log.info("dispatch.recorded_later", call=self._verdict.call_id, reason=str(failure))
            return None
        self._is_recorded = True
        self._session.delivery.hand(message)
        return first

    def _check(self) -> None:
        """Refuse unless the verdict is about this very call, now."""
        verdict, proposal = self._verdict, self._proposal
        if verdict.status == "held":
            raise self._refused("held")
        if proposal.kind != "tool":
            raise self._refused("not_a_call")
        self._check_time()
        request = bind(proposal, verdict.binding, self._session.redaction_key)
        if (request.call_id, request.proposal_hash) != (verdict.call_id, verdict.proposal_hash):
            raise self._refused("other_proposal")

    def _check_time(self) -> None:
        """Refuse unless the lease and the verdict both live."""
        self._check_lease()
        if now_s() >= self._verdict.ends_s:
            raise self._refused("expired")

    def _check_lease(self) -> None:
        try:
            binding = self._session.keeper.binding
        except KeyRefusedError as error:
            raise self._refused("key_refused") from error
        except PmclError as error:
            raise self._refused("fenced") from error
        if self._verdict.passed and binding != self._verdict.binding:
            raise self._refused("no_lease" if binding is None else "fenced")

    async def _confirm(self) -> None:
        """Have a word about the lease that is fresh enough, also for the time of the claim.

        Raises:
            DispatchRefusedError: there is none, so nobody knows that there was no stop.
        """
        if self._word_age_s() > _STOP_S / 2:
            await self._session.keeper.confirm(self._session.config.deadline_ms / 1000)
            self._check()
        self._check_word()

    def _check_word(self) -> None:
        if self._word_age_s() >= _STOP_S:
            raise self._refused("unconfirmed")

    def _word_age_s(self) -> float:
        """Return the age of the word that this call rests on; an inspection needs none."""
        verdict = self._verdict
        evaluation = verdict.evaluation
        if evaluation is None or evaluation.execution_check.effect == "inspect_local":
            return 0.0
        return self._session.keeper.word_age_s(verdict.binding)

    def _refused(self, reason: str) -> DispatchRefusedError:
        return DispatchRefusedError(self._verdict.call_id, reason)

    async def _record(self, error: BaseException | None) -> None:
        """Close the claim; the block's own error is never hidden by one of ours."""
        result = self._result()
        try:
            with anyio.CancelScope(shield=True):
                self._session.delivery.hand(await self._finish(result))
        except (HostError, LedgerError) as failure:
            log.error("dispatch.unrecorded", call=self._verdict.call_id, reason=str(failure))
            if isinstance(failure, LedgerError):
                self._session.unrecorded.add(self._verdict.call_id, result)
                self._session.delivery.wake()
            if error is None:
                raise

    async def _finish(self, result: Outcome | AuditReceipt) -> PendingMessage:
        try:
            return await self._session.file.finish(result)
        except LedgerError:
            return await self._finish_yet(result)

    async def _finish_yet(self, result: Outcome | AuditReceipt) -> PendingMessage:
        """Try again for a while: nothing else says what came of the call."""
        trying = AsyncRetrying(
            stop=stop_after_delay(_RECORD_S),
            wait=wait_fixed(_PAUSE_S),
            retry=retry_if_exception_type(LedgerError),
            sleep=anyio.sleep,
            reraise=True,
        )
        return await trying(self._session.file.finish, result)

    def _result(self) -> Outcome | AuditReceipt:
        verdict, run = self._verdict, self._run
        assert run.status is not None
        if not verdict.passed:
            return AuditReceipt(
                audit_id=verdict.claim_id,
                call_id=verdict.call_id,
                proposal_hash=verdict.proposal_hash,
                cause=verdict.cause,
                finished_at=wall_ms(),
                status=run.status,
                failure_mode=run.failure_mode,
            )
        return Outcome(
            outcome_id=ulid_now(),
            evaluation_id=verdict.claim_id,
            proposal_hash=verdict.proposal_hash,
            status=run.status,
            finished_at=wall_ms(),
            failure_mode=run.failure_mode,
            receipt=run.receipt,
            duration_ms=int((now_s() - self._began_s) * 1000) if self._began_s else None,
        )


def _fitting(field: str, value: object, kind: Any) -> Any:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        found = Mismatch.of(error)
        raise ContractError(field + found.path[1:], "", found.limit) from error


def _check_open(field: str, name: str) -> None:
    if not is_open_name(name):
        raise SecretInNameError(field, "", "a name without a secret")


def _mode_of(error: Exception) -> str:
    return _not_in_id.sub("-", type(error).__name__)[:128]
