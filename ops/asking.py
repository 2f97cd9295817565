"""How an operator's command asks the running sidecar, under the operator's own identity.

The seed lies in the state directory, so whoever can read that may decide.
"""

import getpass
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final, TypeVar, cast

import anyio.to_thread

from pmcl.bus import (
    BusTimeoutError,
    Connection,
    Keyring,
    Message,
    NoRespondersError,
    ServerConfig,
    open_connection,
    prepare_server,
)
from pmcl.contracts import (
    Contract,
    ErrorReply,
    PmclError,
    Subject,
    decode,
    encode,
    limits,
    refusal,
)
from pmcl.ops.settings import Settings
from pmcl.ops.state_dir import running_pid

__all__ = ["NotRunningError", "Operator", "ask_sidecar", "open_operator", "operator_label"]

C = TypeVar("C", bound=Contract)

_CONNECT_S: Final = 5.0
_REPLY_MAX_BYTES: Final = 2 * limits.MESSAGE_MAX_BYTES
_not_in_label = re.compile(r"[^A-Za-z0-9._:/-]+")


class NotRunningError(PmclError):
    """No sidecar answers for this state directory."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(f"no sidecar answers for {settings.state_dir}: start it with `pmcl up`")


async def ask_sidecar(settings: Settings, verb: str, question: Contract, answer: type[C]) -> C:
    """Return the sidecar's reply to an operator. Raises as `Operator.ask`."""
    async with open_operator(settings) as operator:
        return await operator.ask(verb, question, answer)


class Operator:
    """The operator's own connection to a running sidecar."""

    def __init__(self, settings: Settings, connection: Connection) -> None:
        self._settings = settings
        self._connection = connection

    async def ask(self, verb: str, question: Contract, answer: type[C]) -> C:
        """Return the sidecar's reply.

        Raises:
            RefusedError: the sidecar refused, by the class that its code names.
            NotRunningError: nobody answered.
        """
        subject = str(Subject("ops", "", "", verb))
        try:
            reply = await self._connection.request(subject, encode(question), timeout_s=_CONNECT_S)
        except (BusTimeoutError, NoRespondersError) as error:
            raise NotRunningError(self._settings) from error
        decoded = decode(reply.data, answer, ErrorReply, max_bytes=_REPLY_MAX_BYTES)
        if isinstance(decoded, ErrorReply):
            raise refusal(decoded.code, decoded.field, decoded.value, decoded.limit)
        return cast("C", decoded)

    async def subscribe(self, subject: str, take: Callable[[Message], None]) -> None:
        """`take` is called for every message of the subject from now on; it must not wait."""
        await self._connection.subscribe(subject, take)


@asynccontextmanager
async def open_operator(settings: Settings) -> AsyncIterator[Operator]:
    """Yield a connection on which an operator speaks.

    Raises:
        NotRunningError: no sidecar runs on the state directory.
    """
    if settings.server_url is None and running_pid(settings.state_dir) is None:
        raise NotRunningError(settings)  # and nothing is made in a folder that was mistyped
    keyring = await anyio.to_thread.run_sync(Keyring, settings.state_dir / "keys")
    ports = prepare_server(ServerConfig(state_dir=settings.state_dir / "nats"), keyring)
    config = keyring.connection_config("operator", settings.server_url or ports.url)
    async with open_connection(config) as connection:
        try:
            await connection.wait_ready(_CONNECT_S)
        except BusTimeoutError as error:
            raise NotRunningError(settings) from error
        yield Operator(settings, connection)


def operator_label() -> str:
    """Return the local user's name, as a label: it says who decided, it proves nothing."""
    try:
        name = getpass.getuser()
    except (KeyError, OSError):
        name = ""
    return _not_in_label.sub("-", name)[:64] or "unknown"
