"""A guard stands between a client and a server of the Model Context Protocol, for one session.

Source: SPEC G2.
"""

import os
from collections.abc import Sequence
from typing import Final

import anyio

from pmcl.hosts.adapter import Mediator
from pmcl.hosts.guard.child import Child, open_child
from pmcl.hosts.guard.client_side import ClientSide
from pmcl.hosts.guard.frames import frames
from pmcl.hosts.guard.lanes import Lane
from pmcl.hosts.guard.mediation import Calls, GuardedServer
from pmcl.hosts.guard.pins import Pins
from pmcl.hosts.guard.pipes import Pipe
from pmcl.hosts.guard.server_side import ServerSide

__all__ = ["guard_command"]

_STDIN, _STDOUT, _STDERR = 0, 1, 2
_LAST_FRAMES_S: Final = 1.0
"""How long the output of a server is read that has ended: others may hold it open."""
_LAST_CALLS_S: Final = 10.0
_LAST_WRITES_S: Final = 2.0


async def guard_command(command: Sequence[str], server: GuardedServer, mediator: Mediator) -> int:
    """Run a server, guard it until it ends, and return its exit code.

    The client is on this process's standard input and output; nothing else gets at them any more.
    """
    with Pipe(os.dup(_STDIN)) as from_client, Pipe(os.dup(_STDOUT)) as to_client:
        _leave_standard_streams()
        async with open_child(command) as child:
            return await _Session(child, from_client, to_client).run(server, mediator)


def _leave_standard_streams() -> None:
    """Give whoever reads standard input nothing, and put stray output among the errors."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, _STDIN)
    os.close(nothing)
    os.dup2(_STDERR, _STDOUT)


class _Session:
    """The streams of one session; it is over when the server has ended."""

    def __init__(self, child: Child, from_client: Pipe, to_client: Pipe) -> None:
        self._child = child
        self._from_client = from_client
        self._to_client = Lane(to_client, "client")
        self._to_server = Lane(child.requests, "server")

    async def run(self, server: GuardedServer, mediator: Mediator) -> int:
        async with anyio.create_task_group() as streams:
            streams.start_soon(self._child.pass_signals)
            streams.start_soon(self._to_client.run)
            streams.start_soon(self._to_server.run)
            await self._exchange(server, mediator)
            self._to_server.close()
            self._to_client.close()
            with anyio.move_on_after(_LAST_WRITES_S):
                await self._to_client.ended.wait()
            code = await self._child.wait()
            streams.cancel_scope.cancel()
        return code

    async def _exchange(self, server: GuardedServer, mediator: Mediator) -> None:
        """Let both sides speak until the server has said its last, then close what is open."""
        pins = Pins()
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

    async def _read_server(self, side: ServerSide) -> None:
        async with anyio.create_task_group() as reading:
            reading.start_soon(self._end_with_child, reading.cancel_scope)
            async for frame in frames(self._child.answers.receive):
                await side.take(frame)
            reading.cancel_scope.cancel()

    async def _end_with_child(self, scope: anyio.CancelScope) -> None:
        await self._child.wait()
        scope.deadline = anyio.current_time() + _LAST_FRAMES_S
