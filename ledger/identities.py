"""Identities: what operators configured, one version after another; no evidence, and no proposal.

Nothing but an operator's word writes here. What was said is a payload, which no erasure of a host's
content takes away.
"""

from typing import Final

import msgspec

from pmcl.contracts import Identity, IdentityConfigured
from pmcl.store import Reader, Row, Transaction, load_queries

__all__ = ["ConfiguredIdentity", "apply_configured", "current", "versions"]

_queries = load_queries("pmcl.ledger", "identities")
SCHEMA: Final = _queries.schema

_said = msgspec.json.Decoder(Identity)


class ConfiguredIdentity(msgspec.Struct, frozen=True, kw_only=True):
    """A version of a scope's identity.

    Attributes:
        identity: None when its content was not brought back.
    """

    scope: str
    version: int
    configured_by: str
    configured_at: int
    identity: Identity | None


def _configured(row: Row) -> ConfiguredIdentity:
    content = row["content"]
    return ConfiguredIdentity(
        scope=row["scope"],
        version=row["version"],
        configured_by=row["configured_by"],
        configured_at=row["configured_at"],
        identity=None if content is None else _said.decode(content),
    )


def current(tx: Transaction, scope: str) -> ConfiguredIdentity | None:
    """Return the newest version of a scope's identity."""
    row = tx.one(_queries.current, scope=scope, max_rows=1)
    return None if row is None else _configured(row)


async def versions(reader: Reader, scope: str, max_rows: int) -> list[ConfiguredIdentity]:
    """Return the newest versions of a scope's identity, newest first."""
    rows = await reader.all(_queries.current, scope=scope, max_rows=max_rows)
    return [_configured(row) for row in rows]


def apply_configured(tx: Transaction, event: IdentityConfigured) -> None:
    """Record a version."""
    tx.run(
        _queries.configure,
        scope=event.scope,
        version=event.version,
        identity_id=event.identity_id,
        by=event.by,
        at_ms=event.at_ms,
        commitment=event.commitment,
        size_bytes=event.size_bytes,
    )
