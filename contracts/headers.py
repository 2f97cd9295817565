"""The headers that PMCL reads and writes; every other header is left unread.

A user header named `Status` would look like a server status to the client library.
"""

from typing import Final

__all__ = [
    "BUDGET_MS",
    "CHAIN_HASH",
    "EPOCH",
    "HOST_HEADERS",
    "MSG_ID",
    "NUMBER",
    "TRACEPARENT",
]

EPOCH: Final = "Pmcl-Epoch"
"""The epoch of the host's file, a ULID."""
NUMBER: Final = "Pmcl-Number"
"""On a stream message its own number; on a request the highest acknowledged one, 0 for none."""
BUDGET_MS: Final = "Pmcl-Budget-Ms"
"""How long the sender of a request will still wait, milliseconds."""
MSG_ID: Final = "Nats-Msg-Id"
TRACEPARENT: Final = "traceparent"
CHAIN_HASH: Final = "Pmcl-Hash"
"""On a message of LOG: the journal row's chain hash."""

HOST_HEADERS: Final = frozenset({EPOCH, NUMBER, BUDGET_MS, MSG_ID, TRACEPARENT})
"""The only headers of a host that are read."""
