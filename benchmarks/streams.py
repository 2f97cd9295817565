"""Streams that keep what the product's keep, and the moment at which one has been worked off."""

import anyio
from nats.aio.client import Client
from nats.js.api import AckPolicy, ConsumerConfig, DiscardPolicy, StorageType, StreamConfig

from benchmarks.server import fetch_json

__all__ = ["add_consumer", "add_stream", "until_drained"]

DRAIN_S = 60.0
POLL_S = 0.005


async def add_stream(client: Client, name: str, subject: str) -> None:
    config = StreamConfig(
        name=name,
        subjects=[subject],
        storage=StorageType.FILE,
        discard=DiscardPolicy.NEW,
        max_bytes=2 * 1024**3,
    )
    await client.jetstream().add_stream(config)


async def add_consumer(client: Client, stream: str, durable: str) -> None:
    config = ConsumerConfig(
        durable_name=durable, ack_policy=AckPolicy.EXPLICIT, max_deliver=-1, max_ack_pending=1_000
    )
    await client.jetstream().add_consumer(stream, config)


async def until_drained(monitor_url: str, stream: str) -> None:
    """Return when every message of the stream was acknowledged by all of its consumers.

    Raises:
        TimeoutError: with the stream and what is left, after a minute.
    """
    left = 0
    with anyio.move_on_after(DRAIN_S):
        while left := await unfinished(monitor_url, stream):  # noqa: ASYNC110 - a foreign process
            await anyio.sleep(POLL_S)
        return
    raise TimeoutError(f"{stream}: {left} messages were not acknowledged within {DRAIN_S:.0f} s")


async def unfinished(monitor_url: str, stream: str) -> int:
    seen = await fetch_json(f"{monitor_url}/jsz?streams=true&consumers=true&accounts=true")
    consumers = [
        consumer
        for account in seen["account_details"]
        for found in account.get("stream_detail", [])
        if found["name"] == stream
        for consumer in found["consumer_detail"]
    ]
    assert consumers, f"{stream} has no consumer"
    return sum(one["num_pending"] + one["num_ack_pending"] for one in consumers)
