"""Whatever hosts ask and operators say, in any order: an approval lets the right call pass, once.

The journal is the witness: what was granted, taken back, used and ended is read from it afterwards,
by rules of a few lines.
"""

import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
from anyio.from_thread import BlockingPortal, start_blocking_portal
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, multiple, rule
from ulid_transform import ulid_now

from pmcl.contracts import (
    ApprovalDecidedError,
    ApprovalDenied,
    ApprovalExpired,
    ApprovalGranted,
    ApprovalRequested,
    ApprovalUsed,
    CheckpointRequest,
    Evaluated,
    Evaluation,
    Event,
    LeaseBegan,
    ResumeLease,
    StaleGenerationError,
)
from tests.unit.workers.desk import NOTES, Desk, Ledger, open_ledger, premortem

_LIFETIME_MS = 1_000
_TEXTS = ("one", "other")


class Approving(RuleBasedStateMachine):
    """Two hosts, two proposals each, one operator, and a clock."""

    requests = Bundle("requests")
    held = Bundle("held")

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory()
        self._portal_context = start_blocking_portal()
        self._portal: BlockingPortal = self._portal_context.__enter__()
        path = Path(self._folder.name) / "ledger.sqlite"
        self._ledger_context = self._portal.wrap_async_context_manager(open_ledger(path))
        self._ledger: Ledger = self._ledger_context.__enter__()
        self._desks = [Desk(self._ledger, host=host) for host in ("desk", "other")]
        self._seen: dict[int, str] = {}
        for index in range(2):
            self.resume(index)

    def teardown(self) -> None:
        events = self._portal.call(self._ledger.events)
        self._ledger_context.__exit__(None, None, None)
        self._portal_context.__exit__(None, None, None)
        self._folder.cleanup()
        witness = Witness()
        for event in events:
            witness.read(event)
        witness.end()

    @rule(host=st.sampled_from((0, 1)))
    def resume(self, host: int) -> None:
        """A new generation; what it saw is cited by what it asks."""
        self._portal.call(self._desks[host].begin, ResumeLease)
        self._seen[host] = self._portal.call(_see, self._desks[host])

    @rule(target=requests, host=st.sampled_from((0, 1)), text=st.sampled_from(_TEXTS))
    def propose(self, host: int, text: str) -> tuple[int, CheckpointRequest]:
        arguments = {"path": NOTES.value, "text": text}
        shown = premortem(self._seen[host])
        return host, self._desks[host].request("rename_file", arguments=arguments, premortem=shown)

    @rule(target=held, request=requests, anew=st.booleans())
    def check(self, request: tuple[int, CheckpointRequest], *, anew: bool) -> Any:
        """Ask, under the old call id or a new one."""
        host, asked = request
        if anew:
            asked = msgspec.structs.replace(asked, call_id=ulid_now())
        try:
            evaluation: Evaluation = self._portal.call(self._desks[host].check, asked)
        except StaleGenerationError:
            return multiple()
        waits = evaluation.checkpoint_status == "held" and evaluation.approval_id
        return evaluation if waits else multiple()

    @rule(evaluation=held)
    def grant(self, evaluation: Evaluation) -> None:
        self._say(_grant, self._desks[0], evaluation)

    @rule(evaluation=consumes(held))
    def deny(self, evaluation: Evaluation) -> None:
        self._say(self._desks[0].deny, evaluation)

    @rule(ms=st.sampled_from((1, _LIFETIME_MS - 1, _LIFETIME_MS)), sweeps=st.booleans())
    def wait(self, ms: int, *, sweeps: bool) -> None:
        self._ledger.clock.now_ms += ms
        if sweeps:
            self._portal.call(self._ledger.sweep)

    def _say(self, decide: Any, *words: Any) -> None:
        with suppress(ApprovalDecidedError):
            self._portal.call(decide, *words)


async def _see(desk: Desk) -> str:
    return await desk.observe(resources=(NOTES,))


async def _grant(desk: Desk, evaluation: Evaluation) -> None:
    await desk.grant(evaluation, lifetime_ms=_LIFETIME_MS)


class Witness:
    """Reads the journal from its start and is surprised by what must not be."""

    def __init__(self) -> None:
        self.generation: dict[str, int] = {}
        self.evaluated: dict[str, Evaluated] = {}
        self.asked: dict[str, ApprovalRequested] = {}
        self.state: dict[str, str] = {}
        self.until: dict[str, int] = {}
        self.used: list[str] = []

    def read(self, event: Event) -> None:
        match event:
            case LeaseBegan():
                self.generation[event.host] = event.generation
            case Evaluated():
                self.evaluated[event.evaluation_id] = event
            case ApprovalRequested(approval_id=approval_id):
                assert approval_id not in self.asked
                self.asked[approval_id] = event
                self.state[approval_id] = "pending"
            case ApprovalGranted(approval_id=approval_id):
                assert self.state[approval_id] == "pending"
                self.state[approval_id] = "granted"
                self.until[approval_id] = event.expires_at
            case ApprovalDenied(approval_id=approval_id) | ApprovalExpired(approval_id=approval_id):
                assert self.state[approval_id] in ("pending", "granted")
                self.state[approval_id] = "over"
            case ApprovalUsed():
                self._use(event)

    def _use(self, event: ApprovalUsed) -> None:
        asked, passed = self.asked[event.approval_id], self.evaluated[event.evaluation_id]
        assert self.state[event.approval_id] == "granted"
        assert event.at_ms < self.until[event.approval_id]
        assert passed.status == "passed"
        assert (passed.host, passed.proposal_hash) == (asked.host, asked.proposal_hash)
        assert (passed.generation, passed.effect) == (asked.generation, asked.effect)
        assert passed.generation == self.generation[passed.host]
        self.state[event.approval_id] = "over"
        self.used.append(event.evaluation_id)

    def end(self) -> None:
        """Every pass has used an approval of its own."""
        passed = [id for id, found in self.evaluated.items() if found.status == "passed"]
        assert sorted(self.used) == sorted(passed)
        assert len({*self.used}) == len(self.used)


TestApproving = Approving.TestCase
TestApproving.settings = settings(
    max_examples=30,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
