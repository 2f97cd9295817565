"""A stop reaches every host within a second, whatever it holds in its hands. Source: SPEC F7."""

from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from pmcl.contracts import Tool, limits
from pmcl.hosts import DispatchRefusedError, Host, HostConfig, Proposal, Verdict
from pmcl.hosts.clock import now_s
from pmcl.ops.cell import run_cell
from pmcl.ops.console import console
from pmcl.ops.host_add import register_hosts
from pmcl.ops.settings import Settings
from pmcl.ops.status import read_status, show_status
from pmcl.ops.stopping import resume, stop
from tests.integration.hosts.conftest import granted
from tests.integration.hosts.sidecar import Sidecar, error_of, until
from tests.integration.hosts.test_cell import NOTE, writing

pytestmark = pytest.mark.anyio

READ = Proposal(
    goal="read the note",
    tool=Tool(server="files", name="read_file", definition_hash="0" * 64),
    arguments={"path": NOTE.value},
    resources=(NOTE,),
)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(state_dir=tmp_path / "state")


@pytest.fixture
async def cell_config(settings: Settings, tmp_path: Path) -> AsyncIterator[HostConfig]:
    """A sidecar of the test's own: a stop ends every lease."""
    (credentials,) = register_hosts(settings, ["s"], "a")
    async with run_cell(settings):
        yield granted(credentials, tmp_path)


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How many seconds the keeper's clock is ahead of the others."""
    ahead_s = [0.0]
    monkeypatch.setattr("pmcl.hosts.lease.now_s", lambda: now_s() + ahead_s[0])
    return ahead_s


async def passed(host: Host) -> tuple[Proposal, Verdict]:
    """A write that may be dispatched."""
    seen = await host.observe(source="ls", summary="a note", resources=(NOTE,))
    proposed = writing(seen)
    verdict = await host.check(proposed)
    assert verdict.status == "passed", verdict.reasons
    return proposed, verdict


async def begun_again(host: Host, generation: int) -> None:
    async def begun() -> bool:
        return (host.generation or 0) > generation

    await until(begun)


async def test_only_inspections_go_on_and_what_was_passed_is_void(
    cell_config: HostConfig, settings: Settings
) -> None:
    async with Host.connect(cell_config) as host:
        proposed, verdict = await passed(host)
        generation = host.generation or 0
        state = await stop(settings)
        assert (state.stopped, state.leases) == (True, 1)
        # The host hears of it by itself, long before its next heartbeat.
        await begun_again(host, generation)
        with pytest.raises(DispatchRefusedError, match="fenced"):
            async with host.dispatch(verdict, proposed):
                pytest.fail("a call ran after the stop")
        held = await host.check(writing("", premortem=None, evidence_ids=()))
        assert held.reasons[0] == "authority.stopped"
        inspection = await host.check(READ)
        async with host.dispatch(inspection, READ):
            pass
        status = await read_status(settings)
        assert status["stopped"] == {"since": state.since, "by": state.by}
        with console.capture() as printed:
            show_status(status)
        assert f"by {state.by}: only local inspections go on until `pmcl resume`" in printed.get()

        assert (await resume(settings)).changed
        with pytest.raises(DispatchRefusedError, match="fenced"):
            async with host.dispatch(verdict, proposed):
                pytest.fail("a stop was undone")
        again, allowed = await passed(host)
        async with host.dispatch(allowed, again):
            pass
        assert (await read_status(settings))["stopped"] is None


async def test_a_verdict_is_confirmed_when_the_word_is_old(
    config: HostConfig, sidecar: Sidecar, later: list[float]
) -> None:
    proposed = writing("", premortem=None, evidence_ids=())
    async with Host.connect(config) as host:
        verdict = await host.check(proposed)
        before = len(sidecar.asked)
        later[0] = limits.STOP_MS / 1000
        async with host.dispatch(verdict, proposed):
            pass
        subjects = [message.subject for message, _ in sidecar.asked[before:]]
        assert subjects == ["pmcl.v1.lease.s.a.heartbeat"]


@pytest.mark.parametrize(
    ("answer", "reason"), [("lease_ended", "no_lease"), ("busy", "unconfirmed")]
)
async def test_a_verdict_that_nobody_confirms_is_not_dispatched(
    config: HostConfig, sidecar: Sidecar, later: list[float], answer: str, reason: str
) -> None:
    proposed = writing("", premortem=None, evidence_ids=())
    async with Host.connect(config) as host:
        verdict = await host.check(proposed)
        sidecar.lease_answer = error_of(answer)
        later[0] = limits.STOP_MS / 1000
        with pytest.raises(DispatchRefusedError, match=reason):
            async with host.dispatch(verdict, proposed):
                pytest.fail("nobody knew whether there was a stop")


async def test_a_check_waits_for_the_lease_that_follows_one_that_is_over(
    cell_config: HostConfig, later: list[float]
) -> None:
    patient = msgspec.structs.replace(cell_config, deadline_ms=10_000)
    async with Host.connect(patient) as host:
        later[0] = 86_400.0
        assert host.generation is None
        assert (await host.check(READ)).status == "passed"
