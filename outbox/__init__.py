"""The delivery guarantees: what is committed is told, once, and what is told was committed."""

from pmcl.outbox.host_file import (
    HostFile,
    HostFileState,
    HostFileSwept,
    PendingMessage,
    message_id,
    open_host_file,
)
from pmcl.outbox.host_units import Claim, HostFileFullError

__all__ = [
    "Claim",
    "HostFile",
    "HostFileFullError",
    "HostFileState",
    "HostFileSwept",
    "PendingMessage",
    "message_id",
    "open_host_file",
]
