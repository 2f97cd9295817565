"""Leases: one live generation of a host; a newer one fences every older one at once."""

from functools import lru_cache
from typing import Final

import msgspec

from pmcl.contracts import (
    AuthoritySnapshot,
    LeaseBegan,
    LeaseEnded,
    LeaseNotFoundError,
    LeaseRenewed,
    StaleGenerationError,
)
from pmcl.store import Row, Transaction, load_queries

__all__ = [
    "LeaseRow",
    "apply_began",
    "apply_ended",
    "apply_renewed",
    "bind",
    "current",
    "expired",
    "live",
]

_queries = load_queries("pmcl.ledger", "leases")
SCHEMA: Final = _queries.schema


class LeaseRow(msgspec.Struct, frozen=True, kw_only=True):
    """A lease as the ledger holds it; times are milliseconds since the epoch."""

    lease_id: str
    scope: str
    host: str
    generation: int
    host_epoch: str
    authority: AuthoritySnapshot
    provider_locality: str
    heard_at: int
    expires_at: int
    state: str
    resumed: bool = False

    def lives(self, now_ms: int) -> bool:
        """Return whether the lease is in force."""
        return self.state == "live" and now_ms < self.expires_at


@lru_cache(maxsize=1024)
def _authority(text: str) -> AuthoritySnapshot:
    return msgspec.json.decode(text, type=AuthoritySnapshot)


def _row(row: Row) -> LeaseRow:
    return LeaseRow(
        lease_id=row["lease_id"],
        scope=row["scope"],
        host=row["host"],
        generation=row["generation"],
        host_epoch=row["host_epoch"],
        authority=_authority(row["authority"]),
        provider_locality=row["provider_locality"],
        heard_at=row["heard_at"],
        expires_at=row["expires_at"],
        state=row["state"],
        resumed=bool(row["resumed"]),
    )


def current(tx: Transaction, scope: str, host: str) -> LeaseRow | None:
    """Return the newest generation of a host, living or not."""
    return tx.recall(_key(scope, host), lambda: _newest(tx, scope, host))


def _newest(tx: Transaction, scope: str, host: str) -> LeaseRow | None:
    row = tx.one(_queries.current, scope=scope, host=host)
    return None if row is None else _row(row)


def _key(scope: str, host: str) -> tuple[str, ...]:
    return "leases.current", scope, host


def bind(tx: Transaction, scope: str, host: str, lease_id: str, generation: int) -> LeaseRow:
    """Return the lease that a request names, if it is the host's newest generation.

    Raises:
        LeaseNotFoundError: no such lease of this host.
        StaleGenerationError: fenced by a newer one.
    """
    newest = current(tx, scope, host)
    if newest is not None and newest.lease_id == lease_id:
        if newest.generation != generation:
            raise StaleGenerationError("$.generation", generation, newest.generation)
        return newest
    named = tx.one(_queries.find, lease_id=lease_id)
    if newest is None or named is None or (named["scope"], named["host"]) != (scope, host):
        raise LeaseNotFoundError("$.lease_id", lease_id, "a lease of this host")
    raise StaleGenerationError("$.generation", generation, newest.generation)


def expired(tx: Transaction, now_ms: int) -> list[LeaseRow]:
    """Return at most 64 leases whose time is over and whose end is not yet recorded."""
    return [_row(row) for row in tx.all(_queries.expired, now_ms=now_ms)]


def live(tx: Transaction) -> list[LeaseRow]:
    """Return every lease whose end is not yet recorded, one of a host at most."""
    return [_row(row) for row in tx.all(_queries.live)]


def apply_began(tx: Transaction, event: LeaseBegan) -> None:
    """Record a new generation."""
    tx.run(
        _queries.begin,
        lease_id=event.lease_id,
        scope=event.scope,
        host=event.host,
        generation=event.generation,
        host_epoch=event.host_epoch,
        authority=msgspec.json.encode(event.authority, order="sorted").decode(),
        provider_locality=event.provider_locality,
        at_ms=event.at_ms,
        expires_at=event.expires_at,
        resumed=int(event.resumed),
    )
    tx.forget(_key(event.scope, event.host))


def apply_renewed(tx: Transaction, event: LeaseRenewed) -> None:
    """Record a heartbeat."""
    tx.run(_queries.renew, lease_id=event.lease_id, at_ms=event.at_ms, expires_at=event.expires_at)
    tx.forget(_key(event.scope, event.host))


def apply_ended(tx: Transaction, event: LeaseEnded) -> None:
    """Record the end of a lease."""
    tx.run(_queries.finish, lease_id=event.lease_id, reason=event.reason)
    tx.forget(_key(event.scope, event.host))
