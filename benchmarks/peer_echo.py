"""A raw responder. `--commit FILE`: one SQLite FULL commit before each answer."""

import argparse
import sqlite3
from pathlib import Path

import anyio
from nats.aio.msg import Msg

from benchmarks.server import connected


def open_ledger(path: Path) -> sqlite3.Connection:
    ledger = sqlite3.connect(path, isolation_level=None)
    ledger.execute("PRAGMA journal_mode = wal")
    ledger.execute("PRAGMA synchronous = full")
    ledger.execute("CREATE TABLE IF NOT EXISTS messages (id INTEGER PRIMARY KEY, body BLOB) STRICT")
    return ledger


async def serve(url: str, subject: str, commit: Path | None) -> None:
    ledger = None if commit is None else open_ledger(commit)
    async with connected(url) as client:

        async def answer(message: Msg) -> None:
            if ledger is not None:
                ledger.execute("INSERT INTO messages (body) VALUES (?)", (message.data,))
            await client.publish(message.reply, message.data)

        await client.subscribe(subject, cb=answer)
        await client.flush()
        print("ready", flush=True)
        await anyio.sleep_forever()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("subject")
    parser.add_argument("--commit", type=Path)
    given = parser.parse_args()
    anyio.run(serve, given.url, given.subject, given.commit, backend_options={"use_uvloop": True})


if __name__ == "__main__":
    main()
