"""The bare path without any logic: pull, insert, one SQLite FULL commit per group, ack.

nats-py's own `fetch` is not used: after an idle time it may take minutes to hand on what the
server has sent. One pull request at a time is open here, and what it brings is taken as it comes.
"""

import argparse
import json
import sqlite3
from pathlib import Path

import anyio
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from benchmarks.peer_echo import open_ledger
from benchmarks.server import connected

BATCH = 256
EXPIRES_S = 1.0


async def consume(url: str, stream: str, durable: str, path: Path) -> None:
    ledger = open_ledger(path)
    async with connected(url) as client:
        inbox = client.new_inbox()
        pulled = await client.subscribe(inbox)
        print("ready", flush=True)
        while True:
            await ask(client, f"$JS.API.CONSUMER.MSG.NEXT.{stream}.{durable}", inbox)
            await take(ledger, pulled)


async def ask(client: Client, subject: str, inbox: str) -> None:
    request = {"batch": BATCH, "expires": int(EXPIRES_S * 1e9)}
    await client.publish(subject, json.dumps(request).encode(), reply=inbox)


async def take(ledger: sqlite3.Connection, pulled: Subscription) -> None:
    """Commit and acknowledge what one request brings, until it is full or over."""
    left = BATCH
    while left > 0:
        group = [await pulled.next_msg(timeout=None)]
        while pulled.pending_msgs:
            group.append(await pulled.next_msg())
        messages = [message for message in group if not is_status(message)]
        if messages:
            commit(ledger, messages)
            for message in messages:
                await message.ack()
        left = 0 if len(messages) < len(group) else left - len(messages)


def is_status(message: Msg) -> bool:
    """Whether the server itself speaks: the request is over."""
    return bool(message.headers and "Status" in message.headers)


def commit(ledger: sqlite3.Connection, messages: list[Msg]) -> None:
    ledger.execute("BEGIN IMMEDIATE")
    rows = [(message.data,) for message in messages]
    ledger.executemany("INSERT INTO messages (body) VALUES (?)", rows)
    ledger.execute("COMMIT")


def main() -> None:
    parser = argparse.ArgumentParser()
    for name in ("url", "stream", "durable"):
        parser.add_argument(name)
    parser.add_argument("path", type=Path)
    given = parser.parse_args()
    anyio.run(
        consume,
        given.url,
        given.stream,
        given.durable,
        given.path,
        backend_options={"use_uvloop": True},
    )


if __name__ == "__main__":
    main()
