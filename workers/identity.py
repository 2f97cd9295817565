"""The identity worker: who the agents of a scope are, as an operator alone configures it.

Source: SPEC B5.
"""

import os
from collections.abc import Mapping

import msgspec
from ulid_transform import ulid_now

from pmcl.contracts import (
    CELL_HOST,
    Contract,
    Identity,
    IdentityConfigured,
    IdentityVersion,
    Kind,
    SetIdentity,
)
from pmcl.judgement import redact_text
from pmcl.ledger import LedgerKey, identities
from pmcl.ledger.payloads import SALT_BYTES, Payload
from pmcl.outbox import UnitOfWork
from pmcl.workers.operators import operator_of
from pmcl.workers.worker import Decision, Incoming

__all__ = ["IdentityWorker"]


class IdentityWorker:
    """Takes down each version; a repeat of the one that stands makes no other."""

    name: str = "identity"
    kind: Kind = "ops"
    needs_watermark: bool = False
    accepts: Mapping[str | None, type[Contract]] = {"identity": SetIdentity}

    def __init__(self, key: LedgerKey) -> None:
        self._key = key

    async def prepare(self, incoming: Incoming) -> Identity:
        """Return the identity without secrets."""
        return _redacted(incoming.body.identity, self._key.secret)

    def decide(self, unit: UnitOfWork, incoming: Incoming, prepared: Identity) -> Decision:
        """Return the version that stands from now on."""
        asked: SetIdentity = incoming.body
        standing = identities.current(unit.tx, asked.of_scope)
        if standing is not None and standing.identity == prepared:
            return Decision(
                reply=IdentityVersion(
                    version=standing.version,
                    configured_at=standing.configured_at,
                    by=standing.configured_by,
                )
            )
        payload = Payload(
            scope=asked.of_scope,
            id=ulid_now(),
            salt=os.urandom(SALT_BYTES),
            content=msgspec.json.encode(prepared),
        )
        configured = IdentityConfigured(
            scope=asked.of_scope,
            host=CELL_HOST,
            at_ms=unit.now_ms,
            identity_id=payload.id,
            version=1 if standing is None else standing.version + 1,
            by=operator_of(asked.label),
            commitment=payload.commitment,
            size_bytes=len(payload.content),
        )
        reply = IdentityVersion(
            version=configured.version, configured_at=unit.now_ms, by=configured.by
        )
        return Decision(events=(configured,), payloads=(payload,), reply=reply)


def _redacted(identity: Identity, key: bytes) -> Identity:
    return msgspec.structs.replace(
        identity,
        name=redact_text(identity.name, key),
        text=redact_text(identity.text, key),
        ideal_self=tuple([redact_text(goal, key) for goal in identity.ideal_self]),
        desired_world=tuple([redact_text(goal, key) for goal in identity.desired_world]),
    )
