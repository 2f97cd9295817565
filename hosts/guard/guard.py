"""A guard stands between a client and a server of the Model Context Protocol, for one session.

Source: SPEC G2.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import anyio

from pmcl.hosts.adapter import Mediator
from pmcl.hosts.guard.child import open_child
from pmcl.hosts.guard.client_side import ClientSide
from pmcl.hosts.guard.frames import frames
from pmcl.hosts.guard.lanes import Lane
from pmcl.hosts.guard.mediation import Calls, GuardedServer
from pmcl.hosts.guard.pins import Pins
from pmcl.hosts.guard.pipes import Pipe
from pmcl.hosts.guard.server_side import ServerSide
from pmcl.hosts.guard.sides import GuardedSide

__all__ = ["guard_command", "guard_url"]

_STDIN, _STDOUT, _STDERR = 0, 1, 2
_LAST_FRAMES_S: Final = 1.0
"""How long the output of a server is read that has ended: others may hold it open."""
_DESERTED_S: Final = 2.0
"""How long a server may take to end by itself when its client has."""
_LAST_CALLS_S: Final = 10.0
_LAST_WRITES_S: Final = 2.0


async def guard_command(command: Sequence[str], server: GuardedServer, mediator: Mediator) -> int:
    """Run a server, guard it until it ends, and return its exit code.

    The client is on this process's standard input and output; nothing else gets at them any more.
    """
    with _client() as client:
        async with open_child(command) as child:
            return await _Session(child, client, Pins()).run(server, mediator)


async def guard_url(
    url: str, headers: dict[str, str], server: GuardedServer, mediator: Mediator
) -> int:
    """Guard a server at an address until the client goes, and return 0.

    The client is where it is for `guard_command`; `headers` go with each request to the server.
    """
    from pmcl.hosts.guard.remote import open_remote  # its library would slow down every other start

    pins = Pins()
    with _client() as client:
        async with open_remote(url, headers, pins.schema_of) as remote:
            return await _Session(remote, client, pins).run(server, mediator)


@contextmanager
def _client() -> Iterator[tuple[Pipe, Pipe]]:
    """Take the standard streams: who reads them now gets nothing, stray output is an error's."""
    with Pipe(os.dup(_STDIN)) as incoming, Pipe(os.dup(_STDOUT)) as outgoing:
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, _STDIN)
        os.close(nothing)
        os.dup2(_STDERR, _STDOUT)
        yield incoming, outgoing


class _Session:
    """The streams of one session; it is over when the server has ended."""

    def __init__(self, side: GuardedSide, client: tuple[Pipe, Pipe], pins: Pins) -> None:
        self._side = side
        self._pins = pins
        self._from_client, self._client_output = client
        self._to_client = Lane(self._client_output, "client")
        self._to_server = Lane(side.requests, "server")

    async def run(self, server: GuardedServer, mediator: Mediator) -> int:
        async with anyio.create_task_group() as streams:
            streams.start_soon(self._side.pass_signals)
            streams.start_soon(self._to_client.run)
            streams.start_soon(self._to_server.run)
            await self._exchange(server, mediator)
            self._to_server.close()
            self._to_client.close()
            with anyio.move_on_after(_LAST_WRITES_S):
                await self._to_client.ended.wait()
            code = await self._side.wait()
            streams.cancel_scope.cancel()
        return code

    async def _exchange(self, server: GuardedServer, mediator: Mediator) -> None:
        """Let both sides speak until the server has said its last, then close what is open."""
        pins = self._pins
        calls = Calls(server, mediator, pins, self._to_client)
        async with anyio.create_task_group() as tasks:
            lanes = (self._to_client, self._to_server)
            async with anyio.create_task_group() as reading:
                reading.start_soon(self._read_client, ClientSide(calls, pins, lanes, tasks))
                await self._read_server(ServerSide(calls, pins, self._to_client, tasks))
                reading.cancel_scope.cancel()
            calls.lose()
            tasks.cancel_scope.deadline = anyio.current_time() + _LAST_CALLS_S

    async def _read_client(self, side: ClientSide) -> None:
        async for frame in frames(self._from_client.receive):
            await side.take(frame)
        self._to_server.close()
        await anyio.sleep(_DESERTED_S)
        while not self._client_output.is_deserted:  # noqa: ASYNC110 - it tells nobody
            await anyio.sleep(_DESERTED_S)
        await self._side.leave()

    async def _read_server(self, side: ServerSide) -> None:
        async with anyio.create_task_group() as reading:
            reading.start_soon(self._end_with_server, reading.cancel_scope)
            async for frame in frames(self._side.receive):
                await side.take(frame)
            reading.cancel_scope.cancel()

    async def _end_with_server(self, scope: anyio.CancelScope) -> None:
        await self._side.wait()
        scope.deadline = anyio.current_time() + _LAST_FRAMES_S
