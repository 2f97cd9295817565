"""A check ends within its deadline with a verdict that is about the call that was asked about.

Nobody's answer is a verdict as well, and never a pass. A reply that answers another question is
ignored, and the question is put again.
Source: SPEC C8, C9; DESIGN section 4.
"""

from secrets import token_hex

import anyio
import structlog

from pmcl.contracts import (
    BusError,
    CheckpointRequest,
    Evaluation,
    EvidencePendingError,
    LedgerError,
    PmclError,
    RefusedError,
)
from pmcl.hosts.asking import ask, degraded_cause
from pmcl.hosts.clock import now_s
from pmcl.hosts.errors import ReplyError
from pmcl.hosts.proposal import Binding, Proposal, bind
from pmcl.hosts.redacting import ready_to_redact
from pmcl.hosts.session import Session
from pmcl.hosts.verdict import Verdict, answers, degraded, judged

__all__ = ["Checker"]

log = structlog.get_logger()

_TRIES = 3
_LEASE_REASON_PREFIX = "authority.lease"


class Checker:
    """Puts proposals of one host to the sidecar."""

    def __init__(self, session: Session) -> None:
        self._session = session
        config = session.config
        self._leaseless = Binding(
            scope=config.credentials.scope,
            host=config.credentials.host,
            lease_id="",
            generation=0,
            salt=token_hex(32),
        )

    async def check(self, proposal: Proposal) -> Verdict:
        """Return the verdict on a proposal within `deadline_ms`.

        Raises:
            RefusedError: the sidecar refused the request, or it has no canonical form.
            HostError: this host may not ask any more.
        """
        ends_s = now_s() + self._session.config.deadline_ms / 1000
        binding = await self._binding(ends_s)
        await ready_to_redact(proposal)
        session = self._session
        bound = binding or self._leaseless
        request = bind(proposal, bound, session.redaction_key, session.config.rules)
        if binding is None:
            connected = self._session.connection.ready
            return self._unjudged(request, None, "timeout" if connected else "disconnected")
        try:
            with anyio.fail_after(ends_s - now_s()):
                return await self._judged(request, binding, ends_s)
        except (TimeoutError, LedgerError) as error:
            log.warning("check.unanswered", call=request.call_id, error=type(error).__name__)
            return self._unjudged(request, binding, "timeout")

    async def _binding(self, ends_s: float) -> Binding | None:
        """Return the lease; a connection that is down gets a moment to come back."""
        binding = self._session.keeper.binding
        if binding is not None and self._session.connection.ready:
            return binding
        try:
            grace_s = min(self._session.config.reconnect_ms / 1000, ends_s - now_s())
            await self._session.connection.wait_ready(grace_s)
        except BusError:
            return self._session.keeper.binding
        return binding or await self._session.keeper.wait((ends_s - now_s()) / 2)

    async def _judged(self, request: CheckpointRequest, binding: Binding, ends_s: float) -> Verdict:
        if self._session.file.is_full(outstanding=len(self._session.outstanding)):
            self._session.delivery.wake()
            return self._unjudged(request, binding, "outbox_full")
        try:
            evaluation, asked_s = await self._evaluation(request, ends_s)
        except (BusError, ReplyError, RefusedError) as error:
            cause = self._degraded(error, binding)
            return self._unjudged(request, binding, cause)
        if evaluation.received is not None:
            self._session.delivery.received(evaluation.received)
        if any(reason.startswith(_LEASE_REASON_PREFIX) for reason in evaluation.reasons):
            self._session.keeper.wake()
        verdict = judged(evaluation, request, binding, asked_s, self._session.config.rules)
        if verdict.passed and evaluation.valid_for_ms > 0:
            self._session.keeper.confirmed(binding, asked_s)
        owed = verdict.passed and request.kind == "tool"
        return self._session.outstanding.add(verdict) if owed else verdict

    def _degraded(self, error: PmclError, binding: Binding) -> str:
        """Return the cause of a degraded verdict, or raise what is not one."""
        self._session.keeper.told(error, binding)
        if isinstance(error, EvidencePendingError):
            self._session.keeper.wake()  # its answer tells what the stream may have lost
        cause = degraded_cause(error)
        if cause is None:
            raise error
        return cause

    async def _evaluation(
        self, request: CheckpointRequest, ends_s: float
    ) -> tuple[Evaluation, float]:
        """Return the evaluation of this request and when it was asked for."""
        subject = self._session.config.subject("checkpoint", request.kind)
        for _ in range(_TRIES):
            asked_s = now_s()
            evaluation = await ask(
                self._session.connection,
                subject,
                request,
                Evaluation,
                watermark=(self._session.file.epoch, self._session.file.watermark),
                timeout_s=ends_s - asked_s,
            )
            if answers(evaluation, request):
                return evaluation, asked_s
            log.warning("check.reply_ignored", call=request.call_id)
        raise ReplyError(subject, "answers another call")

    def _unjudged(self, request: CheckpointRequest, binding: Binding | None, cause: str) -> Verdict:
        bound = binding or self._leaseless
        config = self._session.config
        verdict = degraded(
            request, bound, config.authority, cause, config.rules, config.operators_files
        )
        log.info("check.degraded", call=request.call_id, cause=cause, status=verdict.status)
        return verdict
