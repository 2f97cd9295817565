"""A client that speaks HTTP by hand, so that it can also speak it badly."""

import json
from typing import Any

import anyio
import msgspec

__all__ = ["ANYTHING", "Answer", "Wire", "exchange"]

_WITHIN_S = 15.0
ANYTHING: dict[str, Any] = {
    "tools": {"*": "grant"},
    "effects": dict.fromkeys(
        ("inspect_local", "network", "sensing", "mutation", "communication", "execution"), "grant"
    ),
    "writable_roots": ["/"],
    "network_hosts": ["*"],
}
"""A snapshot that grants everything."""


class Answer(msgspec.Struct, frozen=True):
    status: int
    headers: dict[str, str]
    body: Any


async def exchange(port: int, sent: bytes) -> Answer:
    """Send bytes on a connection of their own and return the answer; the server closes it."""
    with anyio.fail_after(_WITHIN_S):
        async with await anyio.connect_tcp("127.0.0.1", port) as stream:
            await stream.send(sent)
            received = b""
            try:
                while True:
                    received += await stream.receive()
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                return parsed(received)


def parsed(received: bytes) -> Answer:
    head, _, body = received.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        assert name.lower() not in headers, name
        headers[name.lower()] = value.strip()
    assert int(headers["content-length"]) == len(body)
    return Answer(int(first.split()[1]), headers, json.loads(body))


class Wire:
    """One caller of one gateway."""

    def __init__(self, url: str, key: str | None) -> None:
        self.port = int(url.rpartition(":")[2])
        self.key = key

    async def send(
        self, method: str, path: str, body: bytes | None = None, **headers: str | None
    ) -> Answer:
        """Send a request; a header that is `None` is left out."""
        sent: dict[str, str | None] = {"host": f"127.0.0.1:{self.port}", "connection": "close"}
        if self.key is not None:
            sent["authorization"] = f"Bearer {self.key}"
        if body is not None:
            sent |= {"content-type": "application/json", "content-length": str(len(body))}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        lines = [f"{name}: {value}\r\n" for name, value in sent.items() if value is not None]
        head = f"{method} {path} HTTP/1.1\r\n{''.join(lines)}\r\n"
        return await exchange(self.port, head.encode() + (body or b""))

    async def get(self, path: str) -> Answer:
        return await self.send("GET", path)

    async def post(self, path: str, body: Any) -> Answer:
        return await self.send("POST", path, json.dumps(body).encode())

    async def begin(self, **changes: Any) -> dict[str, Any]:
        answer = await self.post("/v1/lease", {"authority": {**ANYTHING, **changes}})
        assert answer.status == 200, answer
        return dict(answer.body)

    async def check(self, tool: str, path: str, **said: Any) -> dict[str, Any]:
        asked = {
            "goal": "keep the folder tidy",
            "tool": {"server": "files", "name": tool},
            "arguments": {"path": path},
            "resources": [{"kind": "path", "value": path, "argument": "path"}],
        }
        answer = await self.post("/v1/checks/tool", asked | said)
        assert answer.status == 200, answer
        return dict(answer.body)

    async def claim(self, verdict: dict[str, Any], path: str, **said: Any) -> Answer:
        asked = {"verdict_id": verdict["verdict_id"], "arguments": {"path": path}}
        return await self.post("/v1/dispatches", asked | said)

    async def outcome(self, verdict: dict[str, Any], status: str, **said: Any) -> Answer:
        path = f"/v1/dispatches/{verdict['verdict_id']}/outcome"
        return await self.post(path, {"status": status, **said})
