"""A host's real key in the hands of a plain NATS client, or of somebody at the bare socket."""

import asyncio
import base64
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
import msgspec
import nats
import nkeys
from nats.aio.client import Client
from ulid_transform import ulid_now

from pmcl.bus import Credentials
from pmcl.contracts import (
    BeginLease,
    CheckpointRequest,
    Contract,
    Lease,
    Observation,
    encode,
    headers,
    inbox_prefix,
)
from tests.unit.workers.desk import AUTHORITY, request_of

TIMEOUT_S = 10.0


class PlainHost:
    """Says what it likes with a host's key; knows nothing of our client's care."""

    def __init__(self, client: Client, credentials: Credentials) -> None:
        self.client = client
        self.scope = credentials.scope
        self.host = credentials.host
        self.epoch = ulid_now()
        self.number = 0
        self.errors: list[str] = []
        self._lease: Lease | None = None

    @property
    def lease(self) -> Lease:
        assert self._lease is not None
        return self._lease

    def subject(self, kind: str, *leaf: str) -> str:
        return ".".join(("pmcl.v1", kind, self.scope, self.host, *leaf))

    async def ask(
        self, subject: str, body: Contract | bytes, fields: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        """The reply, as JSON."""
        given = {headers.EPOCH: self.epoch, headers.NUMBER: "0"} if fields is None else fields
        reply = await self.client.request(
            subject, _bytes(body), timeout=TIMEOUT_S, headers=dict(given) or None
        )
        answer: dict[str, Any] = msgspec.json.decode(reply.data)
        return answer

    async def begin(self, **changes: Any) -> Lease:
        fields: dict[str, Any] = {"host_epoch": self.epoch, "authority": AUTHORITY}
        body = BeginLease(**(fields | changes))
        reply = await self.ask(self.subject("lease", "begin"), body)
        self._lease = msgspec.convert(reply, Lease)
        return self._lease

    def request(self, tool: str = "read_file", **changes: Any) -> CheckpointRequest:
        return request_of(self.scope, self.host, self.lease, tool, **changes)

    async def check(
        self, body: CheckpointRequest | bytes, fields: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        return await self.ask(self.subject("checkpoint", "tool"), body, fields)

    def observation(self, **changes: Any) -> Observation:
        fields: dict[str, Any] = {
            "key": ulid_now(),
            "evidence_id": ulid_now(),
            "generation": self._lease.generation if self._lease else 1,
            "source": "read_file",
            "trust": "tool_output",
            "summary": "the notes were read",
            "observed_at": 1,
        }
        return Observation(**(fields | changes))

    async def tell(self, kind: str, body: Contract | bytes, **fields: str) -> dict[str, Any]:
        """Store the next numbered message; the stream's acknowledgement. "" leaves a header out."""
        self.number += 1
        given = {headers.EPOCH: self.epoch, headers.NUMBER: str(self.number), **fields}
        reply = await self.client.request(
            self.subject(kind),
            _bytes(body),
            timeout=TIMEOUT_S,
            headers={name: value for name, value in given.items() if value} or None,
        )
        ack: dict[str, Any] = msgspec.json.decode(reply.data)
        return ack


class Socket:
    """The bare protocol, with the host's key in the handshake."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def send(self, data: bytes) -> None:
        self._writer.write(data)

    async def heard(self) -> bytes:
        """Everything until the server answers a PING, or closes."""
        found = b""
        with anyio.fail_after(TIMEOUT_S):
            try:
                self._writer.write(b"PING\r\n")
                while b"PONG\r\n" not in found and (line := await self._reader.readline()):
                    found += line
            except ConnectionError:
                return found
        return found

    async def is_closed(self) -> bool:
        return b"PONG" not in await self.heard()


def _bytes(body: Contract | bytes) -> bytes:
    return body if isinstance(body, bytes) else encode(body)


@asynccontextmanager
async def open_plain(credentials: Credentials) -> AsyncIterator[PlainHost]:
    errors: list[str] = []

    async def failed(error: Exception) -> None:
        errors.append(str(error))

    client = await nats.connect(
        credentials.url,
        nkeys_seed_str=credentials.seed,
        inbox_prefix=inbox_prefix(credentials.scope, credentials.host),
        error_cb=failed,
        allow_reconnect=False,
    )
    try:
        host = PlainHost(client, credentials)
        host.errors = errors
        yield host
    finally:
        with anyio.move_on_after(TIMEOUT_S, shield=True):
            await client.close()


@asynccontextmanager
async def open_socket(credentials: Credentials) -> AsyncIterator[Socket]:
    address = credentials.url.removeprefix("nats://")
    name, _, port = address.partition(":")
    reader, writer = await asyncio.open_connection(name, int(port))
    try:
        info = msgspec.json.decode((await reader.readline()).removeprefix(b"INFO "))
        pair = nkeys.from_seed(bytearray(credentials.seed.encode()))
        signature = base64.urlsafe_b64encode(pair.sign(info["nonce"].encode())).rstrip(b"=")
        hello = {
            "nkey": pair.public_key.decode(),
            "sig": signature.decode(),
            "headers": True,
            "verbose": False,
            "pedantic": False,
            "protocol": 1,
        }
        writer.write(b"CONNECT " + msgspec.json.encode(hello) + b"\r\n")
        yield Socket(reader, writer)
    finally:
        writer.close()
        with anyio.move_on_after(TIMEOUT_S, shield=True):
            with suppress(ConnectionError):
                await writer.wait_closed()
