"""Ten thousand dead letters are redriven, stopped half-way and gone on with: each once."""

from signal import SIGINT

import anyio
import msgspec
import pytest
from ulid_transform import ulid_now

from pmcl.bus import DEADLETTERS, Connection, open_connection, stream_state
from pmcl.contracts import DeadLetter, Observation, encode, headers
from pmcl.hosts import Host
from tests.acceptance.facts import count, log_is_the_journal, rows, until
from tests.acceptance.processes import PMCL, child, pmcl
from tests.acceptance.world import World

pytestmark = pytest.mark.anyio

LETTERS = 10_000
RATE = 1_000
AT_ONCE = 200
UNDER_WAY = 16
PATIENCE_S = 120
DRY = ("deadletters", "redrive", "--limit", str(LETTERS), "--dry-run", "--json")
REDRIVE = ("deadletters", "redrive", "--limit", str(LETTERS), "--rate", str(RATE), "--json")


async def letters_of(world: World) -> None:
    """Store dead letters as the sidecar does, of one host that began."""
    epoch, numbers = ulid_now(), iter(range(1, LETTERS + 1))
    async with Host.connect(world.host()):
        pass

    async def store(working: Connection) -> None:
        for number in numbers:
            observation = Observation(
                key=f"key-{number}",
                evidence_id=f"{number:026d}",
                generation=1,
                source="read_file",
                trust="tool_output",
                summary="the notes were read",
                observed_at=1,
            )
            letter = DeadLetter(
                subject="pmcl.v1.observation.s.a",
                headers={headers.EPOCH: epoch, headers.NUMBER: str(number)},
                payload=encode(observation),
                reason="ZeroDivisionError",
                attempts=5,
            )
            await working.request("pmcl.v1.deadletter.observe", encode(letter), timeout_s=20)

    async with open_connection(world.server.connection_config("worker")) as working:
        await working.wait_ready(10)
        async with anyio.create_task_group() as tasks:
            for _ in range(AT_ONCE):
                tasks.start_soon(store, working)


async def left(admin: Connection) -> int:
    state = await stream_state(admin, DEADLETTERS)
    assert state is not None
    return state.messages


async def rehearse(environment: dict[str, str]) -> None:
    dry = await pmcl(*DRY, environment=environment, within_s=PATIENCE_S)
    assert dry.code == 0, dry.stderr
    would = msgspec.json.decode(dry.stdout)
    assert (would["found"], would["done"], would["left"]) == (LETTERS, LETTERS, {})


@pytest.mark.long
async def test_letters_are_dealt_with_once_each(world: World) -> None:
    environment = {
        **world.environment,
        "PMCL_STATE_DIR": str(world.state_dir),
        "PMCL_SERVER_URL": world.server.url,
        "PMCL_SERVER_MONITOR_URL": world.server.monitor_url,
    }
    async with world.sidecar(), world.admin() as admin:
        await letters_of(world)
        assert await left(admin) == LETTERS

        await rehearse(environment)
        assert (await left(admin), await count(world.ledger, "evidence")) == (LETTERS, 0)

        async def half_way() -> bool:
            return await count(world.ledger, "evidence") >= LETTERS // 2

        command = [*PMCL, *REDRIVE]
        async with child(command, world.directory / "redrive.err", environment) as redriving:
            await until(half_way, within_s=PATIENCE_S)
            redriving.send(SIGINT)
            first = msgspec.json.decode(await redriving.line() or "")
            assert await redriving.ends() == 130
        assert first["found"] == LETTERS
        assert LETTERS // 2 - UNDER_WAY <= first["done"] < LETTERS
        assert (first["repeats"], first["left"]) == (0, {})
        waiting = await left(admin)

        ended = await pmcl(*REDRIVE, environment=environment, within_s=PATIENCE_S)
        assert ended.code == 0, ended.stderr
        second = msgspec.json.decode(ended.stdout)
        assert second["found"] == waiting
        assert second["done"] + second["repeats"] == waiting
        # What was under way was dealt with, and nobody was told.
        assert second["repeats"] == LETTERS - first["done"] - second["done"] <= UNDER_WAY
        assert await left(admin) == 0
        assert await count(world.ledger, "evidence") == LETTERS
        (kept,) = await rows(world.ledger, "SELECT count(DISTINCT key) AS n FROM evidence")
        assert kept["n"] == LETTERS
        again = await pmcl(*REDRIVE, environment=environment)
        assert msgspec.json.decode(again.stdout)["found"] == 0
        await log_is_the_journal(world.ledger, admin)
