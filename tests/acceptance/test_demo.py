"""The commands as a user runs them."""

import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import msgspec
import pytest

from pmcl.bus import BusTimeoutError, Credentials, open_connection
from pmcl.contracts import AuthoritySnapshot
from pmcl.hosts import Host, HostConfig, KeyRefusedError
from tests.acceptance.facts import count, until
from tests.acceptance.processes import PMCL, Child, Finished, child, pmcl
from tests.acceptance.world import AUTHORITY, READY_S, clean_environment, reading

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def embedded(state_dir: Path) -> AsyncIterator[Child]:
    """`pmcl up` with the server of its own, ready."""
    command = [*PMCL, "up", "--json", "--state-dir", str(state_dir)]
    errors = state_dir.with_suffix(".err")
    async with child(command, errors, clean_environment()) as sidecar:
        with anyio.fail_after(READY_S):
            line = await sidecar.line()
        assert line is not None, sidecar.errors
        yield sidecar


async def run(*arguments: str, within_s: float = 30.0) -> Finished:
    return await pmcl(*arguments, environment=clean_environment(), within_s=within_s)


def one(finished: Finished) -> dict[str, Any]:
    """Return the one line of JSON that a command said."""
    assert finished.code == 0, finished.stderr
    (line,) = finished.stdout.splitlines()
    return msgspec.json.decode(line, type=dict[str, Any])


async def test_demo_shows_its_four_steps() -> None:
    finished = await run("demo", "--json")
    assert finished.code == 0, finished.stderr
    steps = [msgspec.json.decode(line) for line in finished.stdout.splitlines()]
    passed, held, failed, idle = steps
    assert (passed["verdict"], passed["status"], passed["verified"]) == (
        "passed",
        "succeeded",
        True,
    )
    assert (held["verdict"], held["reasons"]) == ("held", ["plan.unmitigated"])
    assert held["file still there"]
    assert held["revised with evidence"] == "passed"
    assert failed["status"] == "failed"
    assert failed["before"] != failed["after"]
    assert failed["after"]["recent failures"] == ["FileNotFoundError"]
    assert (idle["result"], idle["external actions"]) == ("proposed", 0)
    assert any("failed again" in text for text in idle["recommended"])


async def test_second_sidecar_on_one_state_directory_says_so(tmp_path: Path) -> None:
    state_dir = tmp_path / "state"
    async with embedded(state_dir) as sidecar:
        second = await run("up", "--state-dir", str(state_dir))
        assert second.code == 1
        (line,) = (second.stdout + second.stderr).splitlines()
        assert line.startswith("pmcl: ")
        assert f"in use by process {sidecar.pid}" in line


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
async def test_interrupt_drains(tmp_path: Path, how: signal.Signals) -> None:
    state_dir = tmp_path / "state"
    async with embedded(state_dir) as sidecar, connected(await added(state_dir)) as host:
        await host.observe(source="ls", summary="seen")
        await host.check(reading("/work/x"))
        sidecar.send(how)
        assert await sidecar.ends() == 0
    assert "Traceback" not in sidecar.errors
    assert one(await run("status", "--json", "--state-dir", str(state_dir)))["running"] is False
    assert await count(state_dir / "ledger.sqlite", "evaluations") == 1
    async with embedded(state_dir):  # lock and port are free again
        pass


async def added(state_dir: Path, name: str = "alice") -> Path:
    path = state_dir / f"{name}.json"
    arguments = ("--scope", "demo", "--out", str(path), "--state-dir", str(state_dir), "--json")
    said = one(await run("host", "add", name, *arguments))
    profile = str(path.with_suffix(".toml"))
    granted = said.pop("granted")
    assert (granted["tools"], granted["network_hosts"]) == ({"*": "grant"}, ["*"])
    assert said == {"credentials": str(path), "profile": profile, "profile_kept": False}
    return path


async def test_a_host_that_is_removed_is_shut_out_at_once(tmp_path: Path) -> None:
    state_dir = tmp_path / "state"
    async with embedded(state_dir):
        gone, left = await added(state_dir), await added(state_dir, "bob")
        async with connected(gone) as host, connected(left) as other:
            remove = ("host", "remove", "alice", "--scope", "demo", "--state-dir", str(state_dir))
            assert one(await run(*remove, "--json"))["removed"] == "demo/alice"
            with anyio.fail_after(READY_S), pytest.raises(KeyRefusedError):
                await refused_checks(host)
            assert (await other.check(reading("/work/x"))).passed
        async with open_connection(Credentials.load(gone).connection_config()) as refused:
            with pytest.raises(BusTimeoutError):
                await refused.wait_ready(0.5)
        assert (await run(*remove)).code == 1


async def refused_checks(host: Host) -> None:
    """Check until the key is known to be refused; nothing is judged meanwhile."""
    while (await host.check(reading("/work/x"))).evaluation is None:
        await anyio.lowlevel.checkpoint()


@asynccontextmanager
async def connected(
    credentials: Path, authority: AuthoritySnapshot = AUTHORITY
) -> AsyncIterator[Host]:
    config = HostConfig(
        credentials=Credentials.load(credentials),
        authority=authority,
        state_dir=credentials.parent / "hosts",
    )
    async with Host.connect(config) as host:
        yield host


async def test_host_that_is_added_works_at_once(tmp_path: Path) -> None:
    state_dir = tmp_path / "state"
    async with embedded(state_dir), connected(await added(state_dir)) as first:
        async with connected(await added(state_dir, "bob")) as second:
            assert second.generation == 1
            assert (await second.check(reading("/work/x"))).status == "passed"
        assert (await first.check(reading("/work/x"))).status == "passed"


async def test_host_that_is_known_already_is_refused(tmp_path: Path) -> None:
    state_dir = tmp_path / "state"
    async with embedded(state_dir):
        await added(state_dir)
        again = await run("host", "add", "alice", "--scope", "demo", "--state-dir", str(state_dir))
        assert again.code == 1
        (line,) = (again.stdout + again.stderr).splitlines()
        assert "demo/alice is registered already" in line


async def test_status_tells_what_runs(tmp_path: Path) -> None:
    state_dir = tmp_path / "state"
    before = one(await run("status", "--json", "--state-dir", str(state_dir)))
    assert before["running"] is False
    async with embedded(state_dir) as sidecar:
        async with connected(await added(state_dir)) as host:
            await host.observe(source="ls", summary="seen")
            await host.check(reading("/work/x"))

        async def shown() -> dict[str, Any] | None:
            found = one(await run("status", "--json", "--state-dir", str(state_dir)))
            log, ledger = found["log"], found["ledger"]
            return found if log and log["last"] == ledger["journal"] else None

        status = await until(shown)
        assert (status["running"], status["pid"]) == (True, sidecar.pid)
        assert (status["ledger"]["evidence"], status["ledger"]["passed"]) == (1, 1)


async def test_an_approval_outlives_the_sidecar_and_lets_one_call_pass(tmp_path: Path) -> None:
    state_dir = tmp_path / "state"
    place = ("--json", "--state-dir", str(state_dir))
    approve = msgspec.structs.replace(AUTHORITY, tools={"*": "approve"})
    credentials = await added(state_dir)
    async with embedded(state_dir) as sidecar, connected(credentials, approve) as host:
        held = await host.check(reading("/work/x"))
        assert held.reasons == ("authority.approval_required",)
        sidecar.send(signal.SIGKILL)
        await sidecar.wait()
        async with embedded(state_dir):
            (listed,) = one(await run("approvals", "list", *place))["approvals"]
            assert (listed["approval_id"], listed["state"]) == (held.approval_id, "pending")
            shown = one(await run("approvals", "show", listed["approval_id"], *place))
            assert shown["request"]["tool"]["name"] == listed["tool"]

            async def answered() -> bool:
                return (await host.check(reading("/work/y"))).evaluation is not None

            await until(answered)
            grant = ("approvals", "grant", listed["approval_id"], "--expires", "5m")
            granted = one(await run(*grant, *place))
            assert granted["expires_at"] - granted["decided_at"] == 300_000

            async def judged() -> tuple[str, ...] | None:
                verdict = await host.check(reading("/work/x"))
                return None if verdict.evaluation is None else (verdict.status, *verdict.reasons)

            assert await until(judged) == ("passed",)
            assert await judged() == ("held", "authority.approval_required")
            refused = await run("approvals", "deny", listed["approval_id"], *place[1:])
            assert refused.code == 1
            assert "this approval is used already" in refused.stdout + refused.stderr
