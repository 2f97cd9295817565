"""The bare path without any logic: pull, insert, one SQLite FULL commit per fetch, ack."""

import argparse
import sys
from pathlib import Path

import anyio
import nats.errors

from benchmarks.peer_echo import open_ledger
from benchmarks.server import connected

FETCH = 256
FETCH_S = 1.0


async def consume(url: str, stream: str, durable: str, path: Path) -> None:
    ledger = open_ledger(path)
    async with connected(url) as client:
        pull = await client.jetstream().pull_subscribe_bind(durable, stream)
        print("ready", flush=True)
        while True:
            try:
                messages = await pull.fetch(FETCH, timeout=FETCH_S)
            except nats.errors.Error as error:
                if not isinstance(error, nats.errors.TimeoutError):
                    print(repr(error), file=sys.stderr, flush=True)
                continue
            ledger.execute("BEGIN IMMEDIATE")
            rows = [(message.data,) for message in messages]
            ledger.executemany("INSERT INTO messages (body) VALUES (?)", rows)
            ledger.execute("COMMIT")
            for message in messages:
                await message.ack()


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
