"""What can go wrong on the bus; every error says whether the message may have arrived."""

from pmcl.contracts import BusError

__all__ = [
    "AppendRefusedError",
    "BusBusyError",
    "BusClosedError",
    "BusTimeoutError",
    "HeaderError",
    "JetStreamError",
    "KeyringError",
    "MessageTooLargeError",
    "NoRespondersError",
    "ServerError",
    "ServerLockedError",
    "StreamConfigError",
    "StreamMissingError",
    "UncertainAppendError",
    "WrongSequenceError",
]


class BusTimeoutError(BusError):
    """Nothing came back in time; what was asked may have been done."""

    def __init__(self, what: str, timeout_s: float) -> None:
        self.what = what
        self.timeout_s = timeout_s
        super().__init__(f"no answer from {what} within {timeout_s} s")


class NoRespondersError(BusError):
    """Nobody listens to the subject; nothing was done."""

    def __init__(self, subject: str) -> None:
        self.subject = subject
        super().__init__(f"nobody answers on {subject}")


class BusClosedError(BusError):
    """The connection is down, or went down while the answer was awaited.

    Attributes:
        sent: that the message may have left before; if not, nothing was done.
    """

    def __init__(self, subject: str, *, sent: bool) -> None:
        self.subject = subject
        self.sent = sent
        state = "lost while waiting" if sent else "down"
        super().__init__(f"the connection is {state}: {subject}")


class BusBusyError(BusError):
    """More bytes wait to be sent than allowed; nothing was sent."""

    def __init__(self, pending_bytes: int, limit_bytes: int) -> None:
        self.pending_bytes = pending_bytes
        self.limit_bytes = limit_bytes
        super().__init__(f"{pending_bytes} bytes wait to be sent, allowed: {limit_bytes}")


class MessageTooLargeError(BusError):
    """Headers and payload together are over the server's limit; nothing was sent."""

    def __init__(self, subject: str, size_bytes: int, limit_bytes: int) -> None:
        self.subject = subject
        self.size_bytes = size_bytes
        self.limit_bytes = limit_bytes
        super().__init__(f"{subject}: {size_bytes} bytes with headers, allowed: {limit_bytes}")


class HeaderError(BusError):
    """The header may not be sent; nothing was sent."""

    def __init__(self, name: str, limit: str) -> None:
        self.name = name
        self.limit = limit
        super().__init__(f"header {name!r}: {limit}")


class JetStreamError(BusError):
    """JetStream refused; nothing was changed.

    Attributes:
        code: the server's `err_code`, 0 if it gave none.
    """

    def __init__(self, what: str, code: int, description: str) -> None:
        self.what = what
        self.code = code
        self.description = description
        super().__init__(f"{what}: {description} ({code})")


class AppendRefusedError(JetStreamError):
    """The stream refused a message or a whole batch, of which nothing is stored."""


class WrongSequenceError(BusError):
    """The stream does not end where the writer believed; of this batch nothing is stored.

    Attributes:
        actual: the stream's last sequence, if the server named it.
    """

    def __init__(self, expected: int, actual: int | None) -> None:
        self.expected = expected
        self.actual = actual
        super().__init__(f"last sequence is {actual}, expected: {expected}")


class UncertainAppendError(BusError):
    """It is not known how much was stored: read the stream back."""


class StreamMissingError(BusError):
    """The stream or the consumer does not exist."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"{name} does not exist")


class StreamConfigError(BusError):
    """A stream or the server is set up in a way that would break a guarantee."""

    def __init__(self, name: str, found: str, limit: str) -> None:
        self.name = name
        self.found = found
        self.limit = limit
        super().__init__(f"{name}: found {found}, allowed: {limit}")


class ServerError(BusError):
    """The embedded nats-server cannot be found, started or reloaded."""


class ServerLockedError(ServerError):
    """Another nats-server uses the same store; two would overwrite each other."""


class KeyringError(BusError):
    """A key file or the registry of hosts cannot be used."""
