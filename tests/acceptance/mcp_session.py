"""A session of the Model Context Protocol, frame by frame: what was heard is kept byte for byte."""

import json
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import anyio
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

__all__ = ["MODERN", "OLDER", "Step", "ask", "call", "given_up", "hear_session", "offers_removed"]

OLDER = "2025-11-25"
MODERN = "2026-07-28"
_WITHIN_S = 30.0
_FRAME_MAX = 4 * 1024 * 1024
_CLIENT = {"name": "acceptance", "version": "1"}
_CAPABILITIES: Mapping[str, Any] = {"elicitation": {}, "sampling": {}}
_HELLO = {"protocolVersion": OLDER, "capabilities": _CAPABILITIES, "clientInfo": _CLIENT}
_WITH_EACH = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": _CAPABILITIES,
    "io.modelcontextprotocol/clientInfo": _CLIENT,
}
_FILLED_IN = {"name": "A", "check": True, "email": "a@b.example", "integer": 4}
_SAMPLED = {"role": "assistant", "model": "m", "content": {"type": "text", "text": "sampled"}}
_ANSWERS: Mapping[str, Any] = {
    "elicitation/create": {"action": "accept", "content": _FILLED_IN},
    "sampling/createMessage": _SAMPLED,
}


class Step(NamedTuple):
    """One request; one that is given up is cancelled as soon as the server says anything to it."""

    method: str
    params: dict[str, Any]
    is_given_up: bool = False


def ask(method: str, **params: Any) -> Step:
    return Step(method, params)


def call(tool: str, **arguments: Any) -> Step:
    return ask("tools/call", name=tool, arguments=arguments, _meta={"progressToken": tool})


def given_up(step: Step) -> Step:
    return step._replace(is_given_up=True)


async def hear_session(
    command: Sequence[str],
    environment: Mapping[str, str],
    steps: Sequence[Step],
    revision: str = OLDER,
) -> tuple[list[bytes], list[bytes]]:
    """Ask one thing after the other; return what was heard in order, and what came by itself."""
    process = await anyio.open_process(
        command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
    )
    session = _Session(process, revision)
    try:
        with anyio.fail_after(_WITHIN_S):
            await session.begin()
            for step in steps:
                await session.take(step)
    finally:
        with suppress(ProcessLookupError):
            process.terminate()
        with anyio.CancelScope(shield=True):
            await process.wait()
            await process.aclose()
    return session.heard, sorted(session.unasked)


class _Session:
    """A client that asks one thing at a time, and answers what it is asked meanwhile."""

    def __init__(self, process: Process, revision: str) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._stdin = process.stdin
        self._lines = BufferedByteReceiveStream(process.stdout)
        self._revision = revision
        self._asked = 0
        self.heard: list[bytes] = []
        self.unasked: list[bytes] = []

    async def begin(self) -> None:
        if self._revision == MODERN:
            await self.take(ask("server/discover"))
        else:
            await self.take(ask("initialize", **_HELLO))
            await self._send({"method": "notifications/initialized"})

    async def take(self, step: Step) -> None:
        """Ask, and hear until it is answered, or given up."""
        id = self._asked
        self._asked += 1
        params = step.params
        if self._revision == MODERN:
            params = {**params, "_meta": {**params.get("_meta", {}), **_WITH_EACH}}
        await self._send({"id": id, "method": step.method, "params": params})
        while (message := await self._hear()).get("id") != id or "method" in message:
            method = message.get("method")
            if step.is_given_up and _belongs(method):
                await self._send({"method": "notifications/cancelled", "params": {"requestId": id}})
                return
            if method is not None and "id" in message:
                await self._send({"id": message["id"], "result": _ANSWERS[method]})

    async def _hear(self) -> dict[str, Any]:
        line = await self._lines.receive_until(b"\n", _FRAME_MAX)
        message: dict[str, Any] = json.loads(line)
        method = message.get("method")
        kept = self.heard if method is None or _belongs(method) else self.unasked
        kept.append(line)
        return message

    async def _send(self, message: dict[str, Any]) -> None:
        await self._stdin.send(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")


def _belongs(method: str | None) -> bool:
    """Whether it comes with what was asked, and not when the server likes."""
    return method == "notifications/progress" or method in _ANSWERS


def offers_removed(heard: Sequence[bytes]) -> list[Any]:
    """Return the messages, with no tool's argument `_pmcl`; each tool had it."""
    messages = [json.loads(line) for line in heard]
    for message in messages:
        for tool in message.get("result", {}).get("tools", ()):
            del tool["inputSchema"]["properties"]["_pmcl"]
    return messages
