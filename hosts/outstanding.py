"""Every passed verdict is closed: by its dispatch, or as `unused` when its time is over."""

from collections.abc import Callable

import anyio
import structlog
from ulid_transform import ulid_now

from pmcl.contracts import LedgerError, Outcome
from pmcl.hosts.clock import now_s, wall_ms
from pmcl.hosts.verdict import Verdict
from pmcl.outbox import Claim, HostFile

__all__ = ["OutstandingVerdicts", "claim_of"]

log = structlog.get_logger()

_TICK_S = 0.5
_AT_ONCE = 256


def claim_of(verdict: Verdict) -> Claim:
    """Return the claim on one verdict."""
    return Claim(
        id=verdict.claim_id,
        kind="outcome" if verdict.passed else "audit",
        proposal_hash=verdict.proposal_hash,
        call_id=verdict.call_id,
        cause=verdict.cause,
        expires_at=wall_ms() + max(0, int((verdict.ends_s - now_s()) * 1000)),
    )


class OutstandingVerdicts:
    """Passed verdicts that this client has not dispatched."""

    def __init__(self, file: HostFile) -> None:
        self._file = file
        self._verdicts: dict[str, Verdict] = {}
        self._some = anyio.Event()

    def __len__(self) -> int:
        return len(self._verdicts)

    def add(self, verdict: Verdict) -> Verdict:
        """Return the verdict to be used; the same evaluation again does not live any longer."""
        known = self._verdicts.setdefault(verdict.claim_id, verdict)
        self._some.set()
        return known

    def remove(self, verdict: Verdict) -> None:
        """Forget a verdict that was claimed."""
        self._verdicts.pop(verdict.claim_id, None)

    async def close(self, *, ended_s: float) -> int:
        """Close as `unused` what ended before `ended_s`; return how many nobody had claimed."""
        over = [verdict for verdict in self._verdicts.values() if verdict.ends_s <= ended_s]
        closed = 0
        for start in range(0, len(over), _AT_ONCE):
            part = over[start : start + _AT_ONCE]
            closed += await self._file.close_unused([(claim_of(v), _unused(v)) for v in part])
            for verdict in part:
                self.remove(verdict)
        return closed

    async def run(self, wake: Callable[[], None]) -> None:
        """Close verdicts as they end, and `wake` the delivery."""
        while True:
            await self._some.wait()
            await anyio.sleep(_TICK_S)
            try:
                if await self.close(ended_s=now_s()):
                    wake()
            except LedgerError as error:
                log.warning("host_file.failed", error=str(error))
            if not self._verdicts:
                self._some = anyio.Event()


def _unused(verdict: Verdict) -> Outcome:
    return Outcome(
        outcome_id=ulid_now(),
        evaluation_id=verdict.claim_id,
        proposal_hash=verdict.proposal_hash,
        status="unused",
        finished_at=wall_ms(),
    )
