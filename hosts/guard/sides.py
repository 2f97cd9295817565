"""What the guard needs of a server, be it a process of its own or somewhere on the network."""

from typing import Protocol

__all__ = ["GuardedSide", "Sink"]


class Sink(Protocol):
    """Takes frames."""

    async def send(self, data: bytes) -> None:
        """Take one frame.

        Raises:
            OSError: nobody reads any more.
        """

    def close(self) -> None:
        """There are no more."""


class GuardedSide(Protocol):
    """A server; it is over when `receive` has nothing more and `wait` has returned."""

    @property
    def requests(self) -> Sink:
        """Where the client's frames go."""

    async def receive(self) -> bytes:
        """Return some bytes of the server's frames; nothing at their end."""

    async def wait(self) -> int:
        """Return the exit code, once there is one."""

    async def leave(self) -> None:
        """Nobody is interested any more: end."""

    async def pass_signals(self) -> None:
        """Give the server every signal that would end the guard, for ever."""
