import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import anyio
import anyio.lowlevel
import anyio.to_thread
import msgspec
import psutil
import pytest

from pmcl.bus import (
    INTAKE,
    BusTimeoutError,
    Credentials,
    EmbeddedServer,
    Keyring,
    Outgoing,
    ServerConfig,
    ServerError,
    ServerLockedError,
    check_server,
    ensure_streams,
    healthy,
    open_connection,
    publish_batch,
    run_server,
    stream_state,
)

pytestmark = pytest.mark.anyio

PARENT = """\
import sys
from pathlib import Path
import anyio
import anyio.lowlevel
import anyio.to_thread
from pmcl.bus import Keyring, ServerConfig, run_server

async def main(directory: Path) -> None:
    config = ServerConfig(state_dir=directory / "nats")
    async with run_server(config, Keyring(directory / "keys")) as server:
        print(server.pid, flush=True)
        await anyio.sleep_forever()

anyio.run(main, Path(sys.argv[1]))
"""


def start_parent(directory: Path) -> tuple[subprocess.Popen[str], int]:
    """Return a process that runs a server, and the server's pid."""
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(directory)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert parent.stdout is not None
    with parent.stdout as lines:
        return parent, next(int(line) for line in lines if line.strip().isdigit())


@pytest.fixture
def keyring(tmp_path: Path) -> Keyring:
    return Keyring(tmp_path / "keys")


@pytest.fixture
def config(tmp_path: Path) -> ServerConfig:
    return ServerConfig(state_dir=tmp_path / "nats", lock_wait_s=0.1, health_interval_s=0.1)


async def restarted(server: EmbeddedServer, old: int | None, config: ServerConfig) -> None:
    # A loop that never waits would keep the interpreter from the threads that ask for health.
    with anyio.move_on_after(30):
        while server.pid in (old, None) or not await healthy(server.monitor_url):  # noqa: ASYNC110 - a foreign process
            await anyio.sleep(0.01)
        return
    pytest.fail(f"pid {server.pid}, before {old}: {config.log_file.read_text()[-2000:]}")


async def test_server_is_healthy_syncs_always_and_stops_with_the_block(
    config: ServerConfig, keyring: Keyring
) -> None:
    async with run_server(config, keyring) as server:
        assert await healthy(server.monitor_url)
        await check_server(server.monitor_url)
        pid = server.pid
        assert pid is not None

    assert not psutil.pid_exists(pid)
    assert await healthy(server.monitor_url) is None


async def test_ports_are_kept(config: ServerConfig, keyring: Keyring) -> None:
    async with run_server(config, keyring) as server:
        first = (server.url, server.monitor_url)
    async with run_server(config, keyring) as server:
        assert (server.url, server.monitor_url) == first


async def test_two_states_have_their_own_ports(
    config: ServerConfig, keyring: Keyring, tmp_path: Path
) -> None:
    other = msgspec.structs.replace(config, state_dir=tmp_path / "other")
    async with run_server(config, keyring) as one, run_server(other, keyring) as two:
        assert len({one.url, one.monitor_url, two.url, two.monitor_url}) == 4


async def test_what_a_killed_server_left_half_written_is_gone_before_the_next_serves(
    config: ServerConfig, keyring: Keyring
) -> None:
    text = b"of which no byte may stay"

    async def stored(server: EmbeddedServer) -> int:
        connection = keyring.connection_config("admin", server.url)
        async with open_connection(connection) as admin:
            await admin.wait_ready(10)
            await ensure_streams(admin)
            state = await stream_state(admin, INTAKE)
            assert state is not None
            return state.messages

    async def store(server: EmbeddedServer) -> None:
        seed = keyring.add_host("s", "a")
        await server.reload()
        host = Credentials(url=server.url, scope="s", host="a", seed=seed)
        async with open_connection(host.connection_config()) as connection:
            await connection.wait_ready(10)
            message = Outgoing("pmcl.v1.observation.s.a", text, {})
            await publish_batch(connection, INTAKE, [message], 10)

    async with run_server(config, keyring) as server:
        assert await stored(server) == 0
        await store(server)
        (block,) = (path for path in config.store_dir.rglob("*.blk") if text in path.read_bytes())
        for place in (block, block.with_name("index.db"), block.parents[1] / "obs/observe/o.dat"):
            place.with_name(f"{place.name}.tmp").write_bytes(block.read_bytes()[:-1])
        assert server.pid is not None
        old = server.pid
        os.kill(old, signal.SIGKILL)
        await restarted(server, old, config)

        files = [path for path in config.store_dir.rglob("*") if path.is_file()]
        assert [path.name for path in files if text in path.read_bytes()] == ["1.blk"]
        assert await stored(server) == 1


async def test_a_second_server_on_the_store_is_refused(
    config: ServerConfig, keyring: Keyring
) -> None:
    async with run_server(config, keyring) as server:
        with pytest.raises(ServerLockedError, match="lock"):
            async with run_server(config, keyring):
                pass
        assert await healthy(server.monitor_url)


async def test_a_killed_server_is_started_again_on_the_same_port(
    config: ServerConfig, keyring: Keyring
) -> None:
    async with run_server(config, keyring) as server:
        admin = keyring.connection_config("admin", server.url)
        async with open_connection(admin) as connection:
            await connection.wait_ready(5)
            old = server.pid
            assert old is not None
            os.kill(old, signal.SIGKILL)
            with anyio.fail_after(5):
                await connection.lost()
            await connection.wait_ready(5)
        await restarted(server, old, config)


async def test_a_sick_server_is_started_again(
    config: ServerConfig, keyring: Keyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with run_server(config, keyring) as server:
        old, answers = server.pid, iter([False, False, False])

        async def sick(monitor_url: str) -> bool | None:
            found = await healthy(monitor_url)
            # Other tests' servers may run beside this one and be asked about as well.
            return next(answers, found) if monitor_url == server.monitor_url else found

        monkeypatch.setattr("pmcl.bus.server.healthy", sick)
        await restarted(server, old, config)


async def test_a_sick_server_without_room_is_started_again_when_there_is_some(
    config: ServerConfig, keyring: Keyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A start cuts every connection, and without room the next server would be no better."""
    asked, free = 0, 0

    def room(server: EmbeddedServer) -> int:
        nonlocal asked
        asked += 1
        return free

    async def sick(monitor_url: str) -> bool | None:
        return False if asked == 0 else await healthy(monitor_url)

    async with run_server(config, keyring) as server:
        old = server.pid
        monkeypatch.setattr(EmbeddedServer, "_free", room)
        monkeypatch.setattr("pmcl.bus.server.healthy", sick)
        with anyio.fail_after(10):
            while asked < 3:  # noqa: ASYNC110 - nobody tells that it looked again
                await anyio.sleep(0.01)
            assert (server.pid, server.stores) == (old, False)
            free = 2**63
            while not server.stores:  # noqa: ASYNC110 - a foreign process
                await anyio.sleep(0.01)
        assert server.pid != old


async def test_a_server_that_is_killed_again_and_again_comes_back_later_each_time(
    config: ServerConfig, keyring: Keyring
) -> None:
    waits = []
    async with run_server(config, keyring) as server:
        for _ in range(3):
            old, started = server.pid, anyio.current_time()
            assert old is not None
            os.kill(old, signal.SIGKILL)
            await restarted(server, old, config)
            waits.append(anyio.current_time() - started)

    assert waits[0] >= 0.2
    assert waits[1] >= 0.4
    assert waits[2] >= 0.8


async def test_hosts_come_and_go_with_a_reload(config: ServerConfig, keyring: Keyring) -> None:
    async with run_server(config, keyring) as server:
        pid = server.pid
        seed = keyring.add_host("s", "new")
        credentials = Credentials(url=server.url, scope="s", host="new", seed=seed)
        patient = msgspec.structs.replace(
            credentials.connection_config(), refusal_s=60, retry_s=0.01
        )
        async with open_connection(patient) as host:
            with pytest.raises(BusTimeoutError):
                await host.wait_ready(0.2)
            assert not host.refused  # the server may not have loaded it yet

            await server.reload()

            await host.wait_ready(5)
            told = anyio.Semaphore(0)
            host.on_refused(told.release)
            keyring.remove_host("s", "new")
            await server.reload()
            with anyio.fail_after(5):
                await host.lost()
                await told.acquire()
            with pytest.raises(BusTimeoutError):
                await host.wait_ready(0.2)
            assert told.value == 0  # once, however often it is refused
        assert server.pid == pid


async def test_reload_leaves_other_connections_alone(
    config: ServerConfig, keyring: Keyring
) -> None:
    async with run_server(config, keyring) as server:
        worker = keyring.connection_config("worker", server.url)
        async with open_connection(worker) as connection:
            await connection.wait_ready(5)
            lost: list[bool] = []

            async def watch() -> None:
                await connection.lost()
                lost.append(True)

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(watch)
                keyring.add_host("s", "new")
                await server.reload()
                with pytest.raises(BusTimeoutError):
                    await connection.request("$JS.API.INFO", b"", timeout_s=0.1)
                tasks.cancel_scope.cancel()
        assert not lost


async def test_a_port_that_is_taken_is_a_clear_error(
    config: ServerConfig, keyring: Keyring
) -> None:
    async with run_server(config, keyring) as server:
        port = int(server.url.rpartition(":")[2])
    taken = pytest.raises(ServerError, match="address already in use")
    with socket.create_server(("127.0.0.1", port)), taken:
        async with run_server(config, keyring):
            pass


async def test_the_server_dies_with_its_killed_parent_and_the_store_is_free(
    tmp_path: Path, config: ServerConfig, keyring: Keyring
) -> None:
    parent, pid = await anyio.to_thread.run_sync(start_parent, tmp_path)
    child = psutil.Process(pid)

    parent.kill()
    parent.wait()

    await anyio.to_thread.run_sync(child.wait, 5)
    async with run_server(config, keyring) as server:
        assert await healthy(server.monitor_url)


async def test_a_stopped_server_does_not_hold_up_the_end(
    config: ServerConfig, keyring: Keyring
) -> None:
    short = msgspec.structs.replace(config, stop_timeout_s=0.1)
    with anyio.fail_after(5):
        async with run_server(short, keyring) as server:
            pid = server.pid
            assert pid is not None
            os.kill(pid, signal.SIGSTOP)
    assert not psutil.pid_exists(pid)


async def test_an_error_of_the_block_comes_out_bare(config: ServerConfig, keyring: Keyring) -> None:
    with pytest.raises(LookupError):
        async with run_server(config, keyring):
            raise LookupError
