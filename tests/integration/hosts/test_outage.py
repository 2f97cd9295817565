import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest
from anyio import to_thread

from pmcl.bus import ensure_streams
from pmcl.contracts import AuditReceipt, Observation, Outcome, decode, headers
from pmcl.hosts import Host, HostConfig, ObservationLostError, Verdict
from tests.integration.hosts.sidecar import Sidecar, until
from tests.integration.hosts.test_host import outcomes, reading, writing
from tests.nats_server import NatsServer

pytestmark = pytest.mark.anyio


async def checked(host: Host, config: HostConfig, proposal: Any) -> Verdict:
    began = time.monotonic()
    verdict = await host.check(proposal)
    assert time.monotonic() - began < config.deadline_ms / 1000 + 0.3
    return verdict


async def test_stopped_server_degrades_in_time_and_gets_its_receipts_once(
    config: HostConfig, nats_server: NatsServer, sidecar: Sidecar
) -> None:
    async with Host.connect(config) as host:
        proposal = reading()
        late = await host.check(reading(arguments={"path": "/late"}))
        nats_server.pause()
        held = await until(lambda: not_passed(host, config))
        assert (held.status, held.reasons) == ("held", ("degraded.timeout",))
        inspected = await checked(host, config, proposal)
        assert inspected.status == "degraded"
        async with host.dispatch(inspected, proposal):
            pass
        async with host.dispatch(late, reading(arguments={"path": "/late"}, call_id=late.call_id)):
            pass
        nats_server.resume()
        await until(lambda: two_outcomes(sidecar))
        sidecar.through = 2
        await until(lambda: passed(host))
    kinds = Counter(type(outcome) for outcome in await outcomes(sidecar))
    assert kinds[AuditReceipt] == 1


async def two_outcomes(sidecar: Sidecar) -> bool:
    return sidecar.admin.ready and len(await outcomes(sidecar)) >= 2


async def not_passed(host: Host, config: HostConfig) -> Verdict | None:
    verdict = await checked(host, config, writing())
    return None if verdict.status == "passed" else verdict


async def passed(host: Host) -> bool:
    return (await host.check(writing())).status == "passed"


async def test_server_that_is_down_degrades_and_gets_outcomes_once(
    config: HostConfig, nats_server: NatsServer, sidecar: Sidecar
) -> None:
    async with Host.connect(config) as host:
        proposal = writing()
        verdict = await host.check(proposal)
        async with host.dispatch(verdict, proposal) as run:
            nats_server.kill()
            run.failed("file_missing")
        held = await checked(host, config, writing())
        assert held.status == "held"
        assert held.reasons[0] in ("degraded.disconnected", "degraded.timeout")
        with pytest.raises(ObservationLostError):
            await host.observe(source="x", summary="lost")
        nats_server.start()
        await until(lambda: outcomes_when_ready(sidecar))
        await until(lambda: passed(host))
        await host.observe(source="x", summary="kept")
    stored = [message for message in await sidecar.stored() if ".outcome." in message.subject]
    found = Counter(decode(message.data, Outcome).evaluation_id for message in stored)
    assert found[verdict.claim_id] == 1
    assert len({message.headers[headers.MSG_ID] for message in stored}) == len(stored)


async def outcomes_when_ready(sidecar: Sidecar) -> Any:
    return sidecar.admin.ready and await outcomes(sidecar)


async def test_host_starts_without_a_server_and_gets_its_lease_later(
    config: HostConfig, nats_server: NatsServer, sidecar: Sidecar
) -> None:
    nats_server.kill()
    async with Host.connect(config) as host:
        assert host.generation is None
        proposal = reading()
        verdict = await checked(host, config, proposal)
        assert (verdict.status, verdict.reasons) == ("degraded", ("degraded.disconnected",))
        async with host.dispatch(verdict, proposal):
            pass
        nats_server.start()
        await until(lambda: passed(host))
        await until(lambda: outcomes(sidecar))


def child(verb: str, tmp_path: Path, *parts: Any) -> subprocess.Popen[str]:
    paths = []
    for index, part in enumerate(parts):
        path = tmp_path / f"part{index}.json"
        path.write_bytes(msgspec.json.encode(part, enc_hook=str))
        paths.append(str(path))
    return subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("host_child.py")), verb, *paths],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def line_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        if not line.startswith("20"):  # a log line
            return line.strip()
    return ""


async def test_two_processes_use_a_verdict_once(
    config: HostConfig, sidecar: Sidecar, tmp_path: Path
) -> None:
    async with Host.connect(config) as host:
        proposal = writing()
        verdict = await host.check(proposal)
        children = [child("try", tmp_path, config, proposal, verdict) for _ in range(2)]
        for process in children:
            assert await to_thread.run_sync(line_of, process) == "ready"
        for process in children:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        said = [await to_thread.run_sync(line_of, process) for process in children]
        for process in children:
            await to_thread.run_sync(process.communicate)
    assert sorted(said) == ["claimed", "ran"]
    assert len(await outcomes(sidecar)) == 1


async def test_killed_dispatch_becomes_unknown_once(
    config: HostConfig, sidecar: Sidecar, tmp_path: Path
) -> None:
    async with Host.connect(config) as host:
        proposal = writing()
        verdict = await host.check(proposal)
        process = child("hang", tmp_path, config, proposal, verdict)
        assert await to_thread.run_sync(line_of, process) == "inside"
        process.kill()
        await to_thread.run_sync(process.communicate)
        (outcome,) = await until(lambda: outcomes(sidecar))
        assert outcome.status == "unknown"
    async with Host.connect(config):
        await anyio.lowlevel.checkpoint()
    assert len(await outcomes(sidecar)) == 1


async def test_lost_stream_gets_unreceipted_outcomes_again(
    config: HostConfig, nats_server: NatsServer, sidecar: Sidecar
) -> None:
    async with Host.connect(msgspec.structs.replace(config, resend_ms=600_000)) as host:
        proposal = writing()
        async with host.dispatch(await host.check(proposal), proposal):
            pass
        (before,) = await outcomes(sidecar)
        nats_server.kill()
        await to_thread.run_sync(shutil.rmtree, nats_server.config.store_dir)
        await to_thread.run_sync(nats_server.start)
        await sidecar.admin.wait_ready(5)
        await ensure_streams(sidecar.admin)
        assert await until(lambda: outcomes(sidecar)) == [before]


async def test_observation_survives_a_pause_and_is_stored_once(
    config: HostConfig, nats_server: NatsServer, sidecar: Sidecar
) -> None:
    async with Host.connect(msgspec.structs.replace(config, observe_ms=20_000)) as host:
        nats_server.pause()
        async with anyio.create_task_group() as group:
            group.start_soon(_observe, host)
            # Longer than one try: the same number goes out again.
            with anyio.move_on_after(2.5):
                await host._session.connection.lost()
            nats_server.resume()
        stored = [m for m in await sidecar.stored() if ".observation." in m.subject]
    assert [message.headers[headers.NUMBER] for message in stored] == ["1"]
    assert decode(stored[0].data, Observation).summary == "late"


async def _observe(host: Host) -> None:
    await host.observe(source="x", summary="late")
