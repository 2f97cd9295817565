"""Whatever hosts ask and operators say, in any order: an approval lets the right call pass, once.

The journal is the witness: what was granted, taken back, used and ended is read from it afterwards,
by rules of a few lines.
"""

import tempfile
from contextlib import suppress
from pathlib import Path

import anyio
import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
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


class Ask(msgspec.Struct, frozen=True):
    """The same proposal, each time under a new call id."""

    host: int
    text: str
    times: int


class AskAgain(msgspec.Struct, frozen=True):
    """An old request under its old call id, perhaps of an old generation."""

    which: int


class Grant(msgspec.Struct, frozen=True):
    """A grant, and after some time perhaps the same proposal again."""

    which: int
    after_ms: int
    times: int


class Deny(msgspec.Struct, frozen=True):
    which: int


class Resume(msgspec.Struct, frozen=True):
    host: int


class Wait(msgspec.Struct, frozen=True):
    ms: int
    sweeps: bool


Action = Ask | AskAgain | Grant | Deny | Resume | Wait

_hosts = st.sampled_from((0, 0, 0, 1))
_times = st.sampled_from((1, _LIFETIME_MS - 1, _LIFETIME_MS))
_recent = st.sampled_from((0, 0, 0, 1, 2))
_actions = st.lists(
    st.one_of(
        st.builds(Ask, _hosts, st.sampled_from(("one", "one", "other")), st.integers(1, 3)),
        st.builds(Grant, _recent, _times, st.integers(0, 2)),
        st.builds(AskAgain, _recent),
        st.builds(Deny, _recent),
        st.builds(Resume, _hosts),
        st.builds(Wait, _times, sweeps=st.booleans()),
    ),
    min_size=30,
    max_size=60,
)


class Play:
    """Two hosts of one scope, two proposals each, one operator, and a clock."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._desks = [Desk(ledger, host=host) for host in ("desk", "other")]
        self._seen = ["", ""]
        self._asked: list[tuple[int, CheckpointRequest]] = []
        self._approvals: list[tuple[int, CheckpointRequest, Evaluation]] = []

    async def run(self, actions: list[Action]) -> list[Event]:
        for host in range(2):
            await self._do(Resume(host))
        for action in actions:
            await self._do(action)
        return await self._ledger.events()

    async def _do(self, action: Action) -> None:
        match action:
            case Ask(host, text, times):
                for _ in range(times):
                    await self._check(host, self._proposal(host, text))
            case AskAgain(which) if self._asked:
                await self._ask_again(which)
            case Grant() if self._approvals:
                await self._grant(action)
            case Deny(which) if self._approvals:
                await self._deny(which)
            case Resume(host):
                await self._desks[host].begin(ResumeLease)
                self._seen[host] = await self._desks[host].observe(resources=(NOTES,))
            case Wait(ms, sweeps):
                self._ledger.clock.now_ms += ms
                await self._ledger.sweep() if sweeps else None
            case _:
                return

    async def _ask_again(self, which: int) -> None:
        with suppress(StaleGenerationError):
            await self._check(*self._asked[-1 - which % len(self._asked)])

    async def _grant(self, grant: Grant) -> None:
        host, asked, evaluation = self._about(grant.which)
        with suppress(ApprovalDecidedError):
            await self._desks[0].grant(evaluation, lifetime_ms=_LIFETIME_MS)
        self._ledger.clock.now_ms += grant.after_ms
        with suppress(StaleGenerationError):
            for _ in range(grant.times):
                await self._check(host, msgspec.structs.replace(asked, call_id=ulid_now()))

    async def _deny(self, which: int) -> None:
        with suppress(ApprovalDecidedError):
            await self._desks[0].deny(self._about(which)[2])

    def _proposal(self, host: int, text: str) -> CheckpointRequest:
        return self._desks[host].request(
            "rename_file",
            arguments={"path": NOTES.value, "text": text},
            premortem=premortem(self._seen[host]),
        )

    def _about(self, which: int) -> tuple[int, CheckpointRequest, Evaluation]:
        return self._approvals[-1 - which % len(self._approvals)]

    async def _check(self, host: int, request: CheckpointRequest) -> None:
        evaluation = await self._desks[host].check(request)
        self._asked.append((host, request))
        if evaluation.approval_id is not None:
            self._approvals.append((host, request, evaluation))


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


@settings(max_examples=40, deadline=None)
@given(actions=_actions)
def test_every_pass_uses_a_right_and_living_approval_of_its_own(actions: list[Action]) -> None:
    async def played() -> list[Event]:
        async with open_ledger(Path(folder) / "ledger.sqlite") as ledger:
            return await Play(ledger).run(actions)

    with tempfile.TemporaryDirectory() as folder:
        events = anyio.run(played)
    witness = Witness()
    for event in events:
        witness.read(event)
    witness.end()
