"""How a connection behaves; the seed is in memory only and never shown."""

import msgspec

__all__ = ["ConnectionConfig"]


class ConnectionConfig(msgspec.Struct, frozen=True, kw_only=True):
    """One identity's connection.

    Attributes:
        url: `nats://host:port`, several separated by commas.
        seed: the nkey seed; not part of `repr`.
        inbox_prefix: below it lie all inboxes; the identity may publish and subscribe there.
        name: shown in the server's list of connections and in logs.
        connect_timeout_s: for one attempt; attempts never end.
        retry_s: between two attempts.
        refusal_s: how long a key that was never accepted is refused before that is believed: a
            server that is to take a new key in may not have loaded it yet.
        probe_interval_s: between two probes of the watchdog.
        probe_timeout_s: how long a probe may take; two late ones and the client is replaced.
        ping_interval_s: of the protocol's own pings.
        close_timeout_s: for the last bytes when the connection is closed.
        max_pending_bytes: what may wait to be sent before `BusBusyError`.
    """

    url: str
    seed: str
    inbox_prefix: str
    name: str
    connect_timeout_s: float = 2.0
    retry_s: float = 0.1
    refusal_s: float = 1.0
    probe_interval_s: float = 0.5
    probe_timeout_s: float = 1.0
    ping_interval_s: float = 3.0
    close_timeout_s: float = 1.0
    max_pending_bytes: int = 8 * 1024 * 1024

    def __repr__(self) -> str:
        return f"ConnectionConfig(url={self.url!r}, name={self.name!r})"
