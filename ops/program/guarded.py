"""A real MCP guard before a real server process: calls that pass, that hold, and that only look.

The client is a plain one: it says bytes, and waits for the answer to an id.
"""

import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import anyio
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

from pmcl.contracts import PmclError
from pmcl.ops.program.house import HOST, House
from pmcl.ops.program.mcp_server import GUARDED_SCOPE
from pmcl.ops.program.tries import Tries

__all__ = ["GUARDED_SCOPE", "call_through_guard"]

_TRIES: Final = 20
_ANSWER_S: Final = 20.0
_FRAME_MAX: Final = 1024 * 1024


class GuardError(PmclError):
    """The guard did not answer."""


class _Client:
    def __init__(self, process: Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._stdin = process.stdin
        self._lines = BufferedByteReceiveStream(process.stdout)

    async def say(self, frame: bytes) -> None:
        await self._stdin.send(frame + b"\n")

    async def ask(self, id_: str, method: str, **params: Any) -> None:
        """Return when the request has its answer; others are passed over."""
        asked = {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}
        await self.say(json.dumps(asked).encode())
        try:
            with anyio.fail_after(_ANSWER_S):
                while True:
                    line = await self._lines.receive_until(b"\n", _FRAME_MAX)
                    if json.loads(line).get("id") == id_:
                        return
        except (TimeoutError, anyio.EndOfStream, anyio.IncompleteRead) as error:
            raise GuardError(f"the guard did not answer {method}") from error


async def call_through_guard(house: House) -> dict[str, Tries]:
    """Return what reached the server, by name.

    Raises:
        GuardError: the guard ended, or an answer took longer than 20 s.
    """
    log = house.directory / "mcp.jsonl"
    async with _guard(house, log) as client:
        await client.ask("start", "initialize", protocolVersion="2025-11-25", capabilities={},
                         clientInfo={"name": "program", "version": "1"})  # fmt: skip
        await client.say(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        await client.ask("list", "tools/list")
        for number in range(_TRIES):
            for tool in ("read_note", "delete_note"):
                path = f"/notes/{tool}/{number}"
                await client.ask(path, "tools/call", name=tool, arguments={"path": path})
        for form, frame in _FRAMES.items():
            await client.say(frame.replace(b"PARAMS", _params(form)))
        await client.ask("end", "ping")
    text = await anyio.Path(log).read_text() if log.exists() else ""
    return _counted([json.loads(line) for line in text.splitlines()])


def _params(form: str) -> bytes:
    given = {"name": "read_note", "arguments": {"path": f"/notes/frame/{form}"}}
    return json.dumps(given).encode()


def _counted(executed: list[dict[str, Any]]) -> dict[str, Tries]:
    paths = [each["path"].split("/")[2] for each in executed]
    unjudged = sum(not each["judged"] for each in executed)
    return {
        "MCP calls that a server executed without a pass in the ledger": Tries(
            "a server process behind `pmcl guard` counted the passes at each call", unjudged,
            len(executed),
        ),
        "MCP calls that a server executed although held": Tries(
            "unmitigated deletions through the guard", paths.count("delete_note"), _TRIES
        ),
        "MCP frames that only some readers take for a call, executed": Tries(
            f"one of each: {', '.join(_FRAMES)}", paths.count("frame"), len(_FRAMES)
        ),
    }  # fmt: skip


@asynccontextmanager
async def _guard(house: House, log: Path) -> AsyncIterator[_Client]:
    await house.save_credentials(GUARDED_SCOPE)
    server = ["-m", "pmcl.ops.program.mcp_server", str(log), str(house.settings.ledger_path)]
    command = [
        *(sys.executable, "-m", "pmcl.ops", "guard", "--host", f"{GUARDED_SCOPE}/{HOST}"),
        *("--state-dir", str(house.settings.state_dir), "--server", "notes", "--"),
        *(sys.executable, *server),
    ]
    with (house.directory / "guard.log").open("ab") as errors:
        process = await anyio.open_process(
            command, stdin=subprocess.PIPE, stderr=errors, env=house.environment
        )
    try:
        yield _Client(process)
    finally:
        with anyio.CancelScope(shield=True):
            if process.returncode is None:
                process.kill()
            await process.wait()
            await process.aclose()


_FRAMES: Final = {
    "two-methods": b'{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call",'
    b'"params":PARAMS}',
    "other-case": b'{"jsonrpc":"2.0","id":2,"Method":"tools/call","params":PARAMS}',
    "null-id": b'{"jsonrpc":"2.0","id":null,"method":"tools/call","params":PARAMS}',
    "float-id": b'{"jsonrpc":"2.0","id":1.5,"method":"tools/call","params":PARAMS}',
    "no-id": b'{"jsonrpc":"2.0","method":"tools/call","params":PARAMS}',
    "batch": b'[{"jsonrpc":"2.0","id":3,"method":"tools/call","params":PARAMS}]',
    "escaped-method": b'{"jsonrpc":"2.0","id":4,"METHOD":"tools\\/call","params":PARAMS}',
    "not-a-number": b'{"jsonrpc":"2.0","id":NaN,"method":"tools/call","params":PARAMS}',
}
