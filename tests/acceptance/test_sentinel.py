"""No byte of a secret is in any file afterwards, whatever was killed on the way.

Source: SPEC C11.
"""

import base64
import signal
import sqlite3
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import msgspec
import pytest

from pmcl.hosts import HostConfig
from pmcl.ops.program.sentinels import Sentinel, leaky_text, sentinels
from pmcl.ops.program.tracer import Tracer
from tests.acceptance.facts import count, rows
from tests.acceptance.processes import Child, child, pmcl
from tests.acceptance.world import World
from tests.integration.sidecar.plain import PlainHost, open_plain

pytestmark = pytest.mark.anyio

_ROOT = Path(__file__).parents[2]
_WITHIN_S = 60.0
_REFUSED = {
    "observe source": "secret_in_name $.source ''",
    "observe key": "secret_in_name $.key ''",
    "observe modality": "secret_in_name $.modality ''",
    "check call id": "secret_in_name $.call_id ''",
    "check tool": "secret_in_name $.tool.server ''",
    "turn": "secret_in_name $.turn_id ''",
}


class Ground:
    """What is scanned: the state directory, the hosts' files, all output; never the keys."""

    def __init__(self, world: World, seed: int) -> None:
        self.world = world
        self.seed = seed
        self.known = sentinels(seed)
        self.exports = world.directory / "exports"
        self.exports.mkdir()
        self._tracer = Tracer(self.known.values())

    def traces(self) -> dict[str, set[str]]:
        keys = self.world.state_dir / "keys"
        return self._tracer.in_files(self.world.directory, without=[keys])

    @asynccontextmanager
    async def host(self, config: HostConfig, phase: str) -> AsyncIterator[Child]:
        # The seed is on its command line, so that no file holds what the scan looks for.
        path = self.world.directory / "config.json"
        path.write_bytes(msgspec.json.encode(config, enc_hook=str))
        module = "tests.acceptance.sentinel_host"
        command = [sys.executable, "-m", module, str(path), str(self.seed), phase]
        environment = self.world.environment | {"PYTHONPATH": str(_ROOT)}
        errors = self.world.directory / f"host-{phase}.err"
        async with child(command, errors, environment) as running:
            yield running
        path.unlink()  # it holds the host's seed, which is a key

    async def said(self, host: Child, last: str) -> dict[str, str]:
        """Return what a host said until it said `last`, and keep it for the scan."""
        told: dict[str, str] = {}
        with anyio.fail_after(_WITHIN_S):
            while last not in told:
                line = await host.line()
                assert line is not None, host.errors[-4_000:]
                with (self.exports / "host.out").open("a") as output:
                    output.write(line + "\n")
                what, _, result = line.partition(": ")
                told[what] = result
        return told

    async def export(self) -> None:
        """Let every command show all that it can, into files."""
        of_a_file = "SELECT evaluation_id AS id FROM evaluations WHERE tool = 'delete_file'"
        (judged, *_) = await rows(self.world.ledger, of_a_file)
        (asked, *_) = await rows(self.world.ledger, "SELECT approval_id AS id FROM approvals")
        commands = [
            ("status", "--json"),
            ("approvals", "list", "--all", "--json"),
            ("approvals", "show", asked["id"]),
            ("approvals", "show", asked["id"], "--json"),
            ("judge", judged["id"]),
            ("judge", judged["id"], "--json"),
        ]
        for number, command in enumerate(commands):
            directory = ("--state-dir", str(self.world.state_dir))
            ran = await pmcl(*command, *directory, environment=self.world.environment)
            assert ran.code == 0, ran.stderr
            assert "show" not in command or "[redacted:" in ran.stdout
            (self.exports / f"{number}.out").write_text(ran.stdout + ran.stderr)


@pytest.fixture
def ground(world: World, seed: int) -> Ground:
    return Ground(world, seed)


def _config(world: World) -> HostConfig:
    config = world.host()
    tools = {"*": "grant", "files/format_disk": "approve"}
    authority = msgspec.structs.replace(config.authority, tools=tools)
    return msgspec.structs.replace(config, authority=authority)


async def _ask_without_care(ground: Ground, plain: PlainHost) -> None:
    """Send what a careless client of another language would: the sidecar alone redacts it."""
    text = leaky_text(ground.known.values())
    await plain.begin()
    request = plain.request("delete_file", goal=text, arguments={"path": "/a", "note": text})
    reply = await plain.check(request)
    assert reply["checkpoint_status"] == "held"
    token = ground.known["github"].secret
    for changes in ({"call_id": token}, {"lease_id": token}, {"proposal_hash": token}):
        body = msgspec.json.encode(msgspec.to_builtins(plain.request()) | changes)
        reply = await plain.check(body)
        assert reply["schema"] == "pmcl/error/1"
        with (ground.exports / "errors.out").open("ab") as output:
            output.write(msgspec.json.encode(reply))


async def test_no_byte_of_a_secret_is_in_any_file(ground: Ground) -> None:
    world, config = ground.world, _config(ground.world)
    async with world.sidecar(PMCL_LOG_LEVEL="debug") as sidecar:
        async with open_plain(world.server.credentials("t", "a")) as plain:
            await _ask_without_care(ground, plain)
        async with ground.host(config, "work") as host:
            told = await ground.said(host, "inside")
            host.send(signal.SIGKILL)
            await host.ends()
        await ground.export()
        sidecar.send(signal.SIGKILL)
        await sidecar.ends()
    world.server.kill()
    assert ground.traces() == {}  # as a kill left it, the write-ahead logs included
    assert {what: told[what] for what in _REFUSED} == _REFUSED
    assert told["failing tool ended"] == "ToolError"
    assert told["failure mode ended"] == told["receipt ended"] == "SecretInNameError"
    assert told["swapped ended"] == "DispatchRefusedError"

    await world.restart_server()
    async with ground.host(config, "again") as host:
        told = await ground.said(host, "unjudged ended")
        assert (told["unjudged"], told["unjudged ended"]) == ("degraded", "ToolError")
        async with world.sidecar(PMCL_LOG_LEVEL="debug"):
            await ground.said(host, "again")
            await host.ends()
            await ground.export()
    await _expect_all_that_was_said(world)
    assert ground.traces() == {}


async def _expect_all_that_was_said(world: World) -> None:
    """Everything was stored, marked: the scan was not of an empty house."""
    for table in ("evidence", "evaluations", "outcomes", "audits", "holds", "approvals"):
        assert await count(world.ledger, table) > 0, table
    payloads = await rows(world.ledger, "SELECT content FROM payloads")
    assert sum(bytes(row["content"]).count(b"[redacted:") for row in payloads) > 500
    assert sum(bytes(row["content"]).count(b'"kind":"password"') for row in payloads) > 5
    (unknown,) = await rows(world.ledger, "SELECT * FROM outcomes WHERE status = 'unknown'")
    assert unknown["reported_by"] == "host"
    intake = b"".join(path.read_bytes() for path in world.state_dir.rglob("*.blk"))
    assert intake.count(b"[redacted:") > 100


# --- the scan finds what is there


@pytest.mark.parametrize("kind", sentinels(1))
def test_the_scan_finds_a_planted_secret_in_every_form(tmp_path: Path, kind: str) -> None:
    sentinel = sentinels(1)[kind]
    tracer = Tracer([sentinel])
    for number, planted in enumerate(_forms(sentinel)):
        path = tmp_path / f"{number}.bin"
        path.write_bytes(b"\x00\xffbefore" + planted + b"after\x00" * 100)
        assert tracer.in_files(tmp_path), planted
        path.unlink()
    assert not tracer.in_bytes(sentinels(2)[kind].secret.encode())


def _forms(sentinel: Sentinel) -> list[bytes]:
    whole, part = sentinel.secret.encode(), sentinel.parts[0].encode()
    half = len(part) // 2
    return [
        whole,
        part[:half],
        part[half:],
        part[3:11],
        whole.hex().encode(),
        whole.hex().upper().encode(),
        *(base64.b64encode(b"x" * offset + whole + b"y") for offset in range(3)),
        *(base64.urlsafe_b64encode(b"x" * offset + whole + b"y") for offset in range(3)),
    ]


async def test_the_scan_finds_one_secret_that_a_careless_client_sent(ground: Ground) -> None:
    """The same house with one secret in it: an observation that nobody redacted, in its stream."""
    world = ground.world
    async with world.sidecar(), open_plain(world.server.credentials("t", "a")) as plain:
        await _ask_without_care(ground, plain)
        assert ground.traces() == {}
        await plain.tell("observation", plain.observation(summary=ground.known["jwt"].text))
        traces = ground.traces()
        assert traces
        assert {name for found in traces.values() for name in found} == {"jwt, plain"}
        assert all(path.endswith(".blk") for path in traces)


async def test_the_scan_finds_one_secret_in_a_row_of_the_ledger(ground: Ground) -> None:
    world = ground.world
    async with world.sidecar():
        pass
    assert ground.traces() == {}
    secret = ground.known["password"].secret
    with sqlite3.connect(world.ledger) as ledger:
        ledger.execute("CREATE TABLE planted (text TEXT)")
        ledger.execute("INSERT INTO planted VALUES (?)", (secret[:12],))
    ledger.close()
    assert {name for found in ground.traces().values() for name in found} == {"password, plain"}
