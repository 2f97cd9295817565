"""A ledger that cannot grow acknowledges nothing, and goes on by itself when there is space.

The limit on file sizes is the sidecar's own; nats-server, outside, has all the space it needs.
"""

import resource

import pytest

from pmcl.bus import INTAKE, Connection
from pmcl.bus.jetstream import call
from pmcl.hosts import DispatchRefusedError, Host, Verdict
from tests.acceptance.facts import digests, log_is_the_journal, rows, until
from tests.acceptance.world import World, about, deleting, reading

pytestmark = pytest.mark.anyio

OBSERVATIONS = 30


def limit_file_size(pid: int, size_bytes: int) -> None:
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (size_bytes, resource.RLIM_INFINITY))


async def acknowledged(admin: Connection, durable: str) -> int:
    """Return the last sequence of INTAKE up to which the worker has acknowledged everything."""
    info = await call(admin, f"CONSUMER.INFO.{INTAKE}.{durable}")
    return int(info["ack_floor"]["stream_seq"])


async def test_full_disk_holds_and_recovers_by_itself(world: World) -> None:
    async with (
        world.sidecar() as sidecar,
        world.admin() as admin,
        Host.connect(world.host()) as host,
    ):
        first = await host.observe(source="ls", summary="before", resources=(about("/work/x"),))
        earlier = reading("/work/earlier")
        verdict = await host.check(earlier)
        limit_file_size(sidecar.pid, 1)
        held = await until(lambda: unavailable(host, first))
        with pytest.raises(DispatchRefusedError, match="held"):
            await host.dispatch(held, deleting("/work/x", first)).__aenter__()
        before = await untouchable(world, admin)
        sent = await host.observe_many(
            [{"source": "ls", "summary": str(number)} for number in range(OBSERVATIONS)]
        )
        async with host.dispatch(verdict, earlier):
            pass
        audited = await inspected_unjudged(host)
        assert (await host.check(deleting("/work/x", sent[0]))).status == "held"
        assert await untouchable(world, admin) == before

        limit_file_size(sidecar.pid, resource.RLIM_INFINITY)
        await until(lambda: lifted(host, first))
        await until(lambda: is_empty(host))
        assert sidecar.returncode is None
        assert await column(world, "SELECT evidence_id FROM evidence") == sorted([first, *sent])
        used = "SELECT evaluation_id FROM outcomes WHERE status = 'succeeded'"
        assert await column(world, used) == [verdict.claim_id]
        assert await column(world, "SELECT audit_id FROM audits") == [audited]
        await log_is_the_journal(world.ledger, admin)


async def untouchable(world: World, admin: Connection) -> tuple[dict[str, str], list[int]]:
    """Return what must stay as it is: every row, and how far INTAKE is acknowledged."""
    acked = [await acknowledged(admin, durable) for durable in ("observe", "outcome")]
    return await digests(world.ledger), acked


async def inspected_unjudged(host: Host) -> str:
    """Return the audit id of a local inspection that went on."""
    inspection = reading("/work/y")
    verdict = await host.check(inspection)
    assert verdict.status == "degraded"
    async with host.dispatch(verdict, inspection):
        return verdict.claim_id


async def column(world: World, sql: str) -> list[str]:
    return sorted(row[0] for row in await rows(world.ledger, sql))


async def unavailable(host: Host, evidence_id: str) -> Verdict | None:
    verdict = await host.check(deleting("/work/x", evidence_id))
    return verdict if verdict.reasons == ("degraded.ledger_unavailable",) else None


async def lifted(host: Host, evidence_id: str) -> Verdict | None:
    verdict = await host.check(deleting("/work/x", evidence_id))
    return verdict if verdict.status == "passed" else None


async def is_empty(host: Host) -> bool:
    return host._session.file.is_empty
