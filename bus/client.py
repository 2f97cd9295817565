"""The edge to nats-py: a client is made connected, used until it breaks, and thrown away whole.

nats-py's own reconnect is never let through: it keeps half-sent commands, and several of its ways
to close forget to say so. One way back, a fresh client, serves every kind of loss. Nothing here or
above calls `flush` or `rtt`: a cancelled one deafens the client.

Source: facts/reliability, hazards 7 to 10, and the code of nats-py 2.16.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import anyio
import nats.errors
import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg

from pmcl.bus.config import ConnectionConfig
from pmcl.bus.message import parse_headers

__all__ = ["SturdyClient", "close_client", "connect_client", "own_cancellation"]

log = structlog.get_logger()

_NO_STATUS = b"NATS/1.0\r\n"
_REFUSED = "authorization violation"


class SturdyClient(Client):
    """A client whose read loop outlives whatever a sender put into a subject or a header block.

    nats-py decodes both inside the loop, and an error there ends it for good: one host could have
    made the whole cell deaf. What cannot be read is left out, and the message refused for it.
    """

    async def _process_headers(self, headers: bytes | None) -> dict[str, str] | None:
        if headers is not None and headers.startswith(_NO_STATUS):
            return parse_headers(headers)
        try:
            return await super()._process_headers(headers)
        except (ValueError, IndexError) as error:
            log.debug("bus.headers_unreadable", error=repr(error))
            return {}

    @property
    def waiting_bytes(self) -> int:
        """How much was handed over that the operating system has not taken yet."""
        return self._pending_data_size + self._socket.get_write_buffer_size()

    def send(self, framed: bytes) -> None:
        """Hand over whole frames; those of one turn of the loop go together, in their order.

        nats-py's own `publish` reads subject and headers again and makes a future for each
        message: three quarters of what a message costs. Its way to the socket, a queue and a task
        that writes, costs 5 to 9 us more than a call at the end of the turn.
        """
        self._pending.append(framed)
        self._pending_data_size += len(framed)
        if len(self._pending) == 1:
            asyncio.get_running_loop().call_soon(self._write_pending)

    def _write_pending(self) -> None:
        """Write what waits, or leave it to nats-py's task, which can wait for the socket."""
        if not self._pending:
            return
        socket = self._socket
        if socket.is_closing() or socket.get_write_buffer_size():
            self._have_written()
            return
        socket.writelines(self._pending)
        self._pending = []
        self._pending_data_size = 0

    def _have_written(self) -> None:
        assert self._flush_queue is not None  # made when the client connected
        if self._flush_queue.empty():
            self._flush_queue.put_nowait(asyncio.get_running_loop().create_future())

    @property
    def _socket(self) -> asyncio.WriteTransport:
        writer: asyncio.StreamWriter = self._transport._io_writer  # type: ignore[union-attr]
        return writer.transport

    def _build_message(
        self, sid: int, subject: bytes, reply: bytes, data: bytes, headers: dict[str, str] | None
    ) -> Msg:
        return Msg(
            _client=self,
            subject=subject.decode(errors="replace"),
            reply=reply.decode(errors="replace"),
            data=data,
            headers=headers,
            _sid=sid,
        )


@contextmanager
def own_cancellation() -> Iterator[None]:
    """Only who cancels this task ends it; what nats-py cancelled itself is a broken connection.

    Its tasks wait for the same futures as its caller, such as for the end of a closed socket. When
    one of them is cancelled, so is the future, and the caller would end as if it had been asked to.

    Raises:
        ConnectionAbortedError: in place of such an end.
    """
    task = asyncio.current_task()
    assert task is not None
    asked_before = task.cancelling()
    try:
        yield
    except asyncio.CancelledError as error:
        if task.cancelling() > asked_before:
            raise
        raise ConnectionAbortedError("the client cancelled what it waits for") from error


async def connect_client(
    config: ConnectionConfig, on_broken: Callable[[], None], on_refused: Callable[[], None]
) -> SturdyClient | None:
    """Return a connected client, or None if there was none within `connect_timeout_s`.

    `on_broken` is called as soon as the client notices that its connection is gone. It may never
    be called: some losses are silent, so `is_connected` must be watched too. `on_refused` is
    called each time a server does not accept the key.
    """
    client = SturdyClient()

    async def broken() -> None:
        on_broken()
        if not client.is_closed:
            await anyio.sleep_forever()  # in nats-py's reconnect task, which `close` cancels

    async def failed(error: Exception) -> None:
        log.debug("bus.client_error", name=config.name, error=repr(error))
        if _REFUSED in str(error).lower():  # nats-py has no type for it while it connects
            on_refused()

    connected = False
    try:
        with anyio.move_on_after(config.connect_timeout_s), own_cancellation():
            await client.connect(
                servers=config.url.split(","),
                name=config.name,
                nkeys_seed_str=config.seed,
                inbox_prefix=config.inbox_prefix,
                disconnected_cb=broken,
                closed_cb=broken,
                error_cb=failed,
                max_reconnect_attempts=-1,
                reconnect_time_wait=config.retry_s,  # type: ignore[arg-type]  # a float works
                ping_interval=config.ping_interval_s,  # type: ignore[arg-type]
                max_outstanding_pings=2,
                pending_size=0,  # a publish while disconnected fails at once instead of being kept
            )
            connected = True
    except ConnectionAbortedError as error:
        log.debug("bus.client_error", name=config.name, error=repr(error))
    finally:
        if not connected:
            await close_client(client, config.close_timeout_s)
    return client if connected else None


async def close_client(client: Client, timeout_s: float) -> None:
    """The client is closed and leaves nothing running; what it cannot send in time is lost."""
    if not client.is_connected:
        client._pending.clear()
        client._pending_data_size = 0
    with anyio.move_on_after(timeout_s, shield=True):
        try:
            with own_cancellation():
                await client.close()
        except (OSError, nats.errors.Error, asyncio.InvalidStateError) as error:
            log.debug("bus.close_failed", error=repr(error))
    _abandon(client)


def _abandon(client: Client) -> None:
    """Stop what a `close` that failed or was cut short has left: tasks and the socket."""
    for subscription in client._subs.values():
        subscription._stop_processing()
    tasks = (client._reading_task, client._ping_interval_task, client._flusher_task)
    for task in tasks:
        if task is not None:
            task.cancel()
    writer = getattr(client._transport, "_io_writer", None)
    if writer is not None:
        # asyncio's own transport cannot be aborted once it is closed; then nothing waits in it.
        transport = writer.transport
        transport.abort() if transport.get_write_buffer_size() else transport.close()
