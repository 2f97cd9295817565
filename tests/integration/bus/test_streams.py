from typing import Any

import msgspec
import pytest

from pmcl.bus import (
    DEADLETTERS,
    INTAKE,
    LOG,
    Connection,
    LogRow,
    StreamConfigError,
    StreamLimits,
    append_batch,
    check_server,
    ensure_streams,
    publish_stored,
    recreate_log,
    server_configuration,
    stored_message,
    stream_state,
)
from pmcl.bus.jetstream import call
from tests.integration.bus.intake import OBSERVED, Connect
from tests.nats_server import NatsServer

pytestmark = pytest.mark.anyio


async def configuration(admin: Connection, stream: str) -> dict[str, Any]:
    config: dict[str, Any] = (await call(admin, f"STREAM.INFO.{stream}"))["config"]
    return config


async def test_streams_are_made_as_the_guarantees_need_them(admin: Connection) -> None:
    for stream in (INTAKE, LOG, DEADLETTERS):
        config = await configuration(admin, stream)
        assert config["storage"] == "file"
        assert config["retention"] == "limits"
        assert config["discard"] == "new"
        assert config["max_age"] == 0
        assert not config["allow_direct"]
        assert config.get("persist_mode", "default") == "default"
        assert config["deny_delete"] is (stream == LOG)
        assert config.get("allow_atomic", False) is (stream != DEADLETTERS)
    log = await configuration(admin, LOG)
    assert log["republish"] == {"src": "pmcl.v1.>", "dest": "pmcl.v1.stored.>"}
    assert (await configuration(admin, INTAKE))["max_bytes"] == 4 * 1024**3


@pytest.mark.parametrize("durable", ["observe", "outcome"])
async def test_consumers_never_give_up_a_message(admin: Connection, durable: str) -> None:
    config = (await call(admin, f"CONSUMER.INFO.{INTAKE}.{durable}"))["config"]

    assert config["ack_policy"] == "explicit"
    assert config["ack_wait"] == 30 * 10**9
    assert config["max_deliver"] == -1
    assert "backoff" not in config


async def test_ensuring_again_changes_nothing(admin: Connection) -> None:
    before = [await configuration(admin, stream) for stream in (INTAKE, LOG, DEADLETTERS)]

    await ensure_streams(admin)

    assert before == [await configuration(admin, stream) for stream in (INTAKE, LOG, DEADLETTERS)]


async def test_limits_of_intake_follow_the_settings_and_log_keeps_its_own(
    admin: Connection,
) -> None:
    log = await configuration(admin, LOG)

    await ensure_streams(admin, StreamLimits(intake_bytes=1_000_000, log_bytes=1_000_000))

    assert (await configuration(admin, INTAKE))["max_bytes"] == 1_000_000
    assert await configuration(admin, LOG) == log


@pytest.mark.parametrize(
    "subject",
    [
        "pmcl.v1.lease.*.*.begin",
        "pmcl.v1.checkpoint.s.a.plan",
        "pmcl.*.context.>",
        "pmcl.v1.ops.approve",
        ">",
    ],
)
async def test_a_stream_that_captures_requests_is_refused(connect: Connect, subject: str) -> None:
    admin = await connect("admin")
    extra = {"name": "GREEDY", "subjects": [subject], "no_ack": subject == ">"}
    await call(admin, "STREAM.CREATE.GREEDY", extra)

    with pytest.raises(StreamConfigError, match="GREEDY"):
        await ensure_streams(admin)

    assert await stream_state(admin, INTAKE) is None


@pytest.mark.parametrize(
    ("stream", "change", "field"),
    [
        (LOG, {"deny_delete": False}, "deny_delete"),
        (LOG, {"republish": None}, "republish"),
        (LOG, {"discard": "old"}, "discard"),
        (LOG, {"allow_atomic": False}, "allow_atomic"),
        (LOG, {"persist_mode": "async", "allow_atomic": False}, "allow_atomic|persist_mode"),
        (INTAKE, {"storage": "memory", "max_bytes": 1000}, "storage"),
        (INTAKE, {"persist_mode": "async", "allow_atomic": False}, "persist_mode"),
    ],
)
async def test_a_stream_in_another_form_is_refused(
    admin: Connection, stream: str, change: dict[str, Any], field: str
) -> None:
    config = await configuration(admin, stream) | change
    await call(admin, f"STREAM.DELETE.{stream}")
    await call(admin, f"STREAM.CREATE.{stream}", config)

    with pytest.raises(StreamConfigError, match=field):
        await ensure_streams(admin)


async def test_log_is_made_anew_behind_a_sequence(admin: Connection, connect: Connect) -> None:
    relay = await connect("relay")
    row = LogRow("pmcl.v1.event.s.a.x", b"old", "h")
    await append_batch(relay, LOG, [row] * 3, 0, 5)

    await recreate_log(admin, 3)

    found = await stream_state(relay, LOG)
    assert found is not None
    assert (found.first, found.last, found.messages) == (3, 2, 0)
    assert await append_batch(relay, LOG, [row] * 2, 2, 5) == 4
    await ensure_streams(admin)


async def test_a_message_that_is_not_there_is_none(admin: Connection) -> None:
    assert await stored_message(admin, LOG, 1) is None
    assert await stored_message(admin, "NOWHERE", 1) is None
    assert await stream_state(admin, "NOWHERE") is None


async def test_intake_can_be_erased(admin: Connection, connect: Connect) -> None:
    host = await connect("s/a")
    stored = await publish_stored(host, OBSERVED, b"secret", headers={}, timeout_s=5)

    await call(admin, f"STREAM.MSG.DELETE.{INTAKE}", {"seq": stored.sequence})

    assert await stored_message(admin, INTAKE, stored.sequence) is None


async def test_a_server_that_syncs_later_is_refused(nats_server: NatsServer) -> None:
    await check_server(nats_server.monitor_url)
    text = server_configuration(nats_server.config, nats_server.keyring, nats_server.ports)
    lazy = text.replace("sync_interval: always", 'sync_interval: "2m"')
    nats_server.kill()
    nats_server.config.configuration.write_text(lazy)
    nats_server.start()

    with pytest.raises(StreamConfigError, match="sync_interval"):
        await check_server(nats_server.monitor_url)


async def test_answers_are_json(admin: Connection) -> None:
    reply = await admin.request("$JS.API.INFO", b"", timeout_s=5)
    assert "memory" in msgspec.json.decode(reply.data)
