"""Guarded servers of one sidecar, and plain ones beside them; each guard is a host of its own."""

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import msgspec
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream
from mcp import Client, StdioServerParameters

from pmcl.ops.cell import Cell
from pmcl.store import Reader
from tests.acceptance.world import clean_environment

__all__ = ["HERE", "TOY", "TWO_ERAS", "Guard", "Guards", "Raw", "client", "raw"]

HERE = Path(__file__).parent
TOY = (sys.executable, str(HERE / "toy_server.py"))
TWO_ERAS = (sys.executable, str(HERE / "two_eras_server.py"))
WITHIN_S = 20.0
_FRAME_MAX = 64 * 1024 * 1024


class Guard(msgspec.Struct, frozen=True):
    """One way to start a server behind the checkpoint, as host `host` in scope `scope`."""

    scope: str
    command: tuple[str, ...]
    environment: dict[str, str]


class Raw:
    """A client that says what it is told to, byte by byte."""

    def __init__(self, process: Process, errors: Path) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.process = process
        self._stdin = process.stdin
        self._lines = BufferedByteReceiveStream(process.stdout)
        self._errors = errors

    @property
    def errors(self) -> str:
        return self._errors.read_text()

    async def say(self, *messages: dict[str, Any] | bytes) -> None:
        for message in messages:
            if isinstance(message, dict):
                message = json.dumps(message).encode() + b"\n"
            await self._stdin.send(message)

    async def hear(self) -> Any:
        with anyio.fail_after(WITHIN_S):
            return json.loads(await self._lines.receive_until(b"\n", _FRAME_MAX))

    async def ask(self, id: int | str, method: str, **params: Any) -> Any:
        await self.say({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        return await self.hear()

    async def call(self, id: int | str, name: str, /, **arguments: Any) -> Any:
        return await self.ask(id, "tools/call", name=name, arguments=arguments)

    async def rest(self) -> bytes:
        """All that still comes."""
        found = b""
        with anyio.fail_after(WITHIN_S):
            try:
                while True:
                    found += await self._lines.receive()
            except anyio.EndOfStream:
                return found

    async def close(self) -> None:
        await self._stdin.aclose()

    async def ends(self) -> int:
        with anyio.fail_after(WITHIN_S):
            return await self.process.wait()


class Guards:
    def __init__(self, cell: Cell, state_dir: Path, reader: Reader, scopes: Iterator[str]) -> None:
        self.cell = cell
        self.state_dir = state_dir
        self.reader = reader
        self._scopes = scopes

    def guard(self, server: Sequence[str], *options: str, **environment: str) -> Guard:
        """A guard of a host that nobody has used."""
        return self.guard_of(next(self._scopes), server, *options, **environment)

    def guard_of(
        self, scope: str, server: Sequence[str], *options: str, **environment: str
    ) -> Guard:
        given = ("--state-dir", str(self.state_dir), "--host", f"{scope}/a", *options)
        words = ("--", *server) if server else ()
        command = (sys.executable, "-m", "pmcl.ops", "guard", *given, *words)
        return Guard(scope, command, clean_environment() | environment)

    def away(self, scope: str, directory: Path) -> Callable[[Sequence[str]], list[str]]:
        """Return how to start a guard whose sidecar is not there, with the host of a scope."""
        folder = self.state_dir / "credentials"
        path = directory / "away.json"
        known = json.loads((folder / f"{scope}.a.json").read_text())
        path.write_text(json.dumps(known | {"url": "nats://127.0.0.1:1"}))
        path.chmod(0o600)
        path.with_suffix(".toml").write_text((folder / f"{scope}.a.toml").read_text())
        return lambda command: [str(path) if word == f"{scope}/a" else word for word in command]

    async def rows(self, sql: str, **params: Any) -> list[dict[str, Any]]:
        found = await self.reader.all(sql, **params)
        return [{name: row[name] for name in row.keys()} for row in found]  # noqa: SIM118

    async def outcomes(self, scope: str, count: int) -> list[dict[str, Any]]:
        """The outcomes in a scope by tool, once there are so many."""
        sql = (
            "SELECT e.tool, o.status, o.failure_mode, o.verified FROM outcomes AS o "
            "JOIN evaluations AS e USING (evaluation_id) WHERE o.scope = :scope ORDER BY o.rowid"
        )
        with anyio.fail_after(WITHIN_S):
            while len(found := await self.rows(sql, scope=scope)) < count:  # noqa: ASYNC110
                await anyio.sleep(0.02)
        assert len(found) == count
        return found

    async def recorded(self, scope: str) -> list[tuple[str, str, str]]:
        """What was recorded in a scope: source, trust and text."""
        sql = (
            "SELECT e.source, e.trust, p.content FROM evidence AS e "
            "JOIN payloads AS p ON p.scope = e.scope AND p.id = e.evidence_id "
            "WHERE e.scope = :scope ORDER BY e.sequence"
        )
        rows = await self.rows(sql, scope=scope)
        return [(row["source"], row["trust"], json.loads(row["content"])["detail"]) for row in rows]


@asynccontextmanager
async def raw(
    command: Sequence[str], environment: dict[str, str], errors: Path
) -> AsyncIterator[Raw]:
    with errors.open("ab") as stderr:
        process = await anyio.open_process(
            command, stdin=subprocess.PIPE, stderr=stderr, env=environment
        )
    try:
        yield Raw(process, errors)
    finally:
        with anyio.CancelScope(shield=True):
            if process.returncode is None:
                process.kill()
            await process.wait()
            await process.aclose()


def client(command: Sequence[str], environment: dict[str, str], **options: Any) -> Client:
    """The official client of a server."""
    parameters = StdioServerParameters(
        command=command[0], args=[*command[1:]], env=environment, cwd=Path.cwd()
    )
    return Client(parameters, **options)
