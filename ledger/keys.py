"""Keyed digests: what the ledger remembers of content without holding it.

The key lives in a file of its own beside the ledger, so that a ledger rebuilt from the journal
gives the same digests. Whoever lacks the key cannot confirm a guess.
"""

from typing import Final

import msgspec

from pmcl.contracts import CheckpointRequest, Resource, keyed_digest
from pmcl.judgement import fallback_resource, fingerprint, fold_resource

__all__ = ["KEY_BYTES", "LedgerKey"]

KEY_BYTES: Final = 32


class LedgerKey(msgspec.Struct, frozen=True):
    """The secret of one ledger; its parts for each purpose are derived, never stored."""

    secret: bytes

    def __repr__(self) -> str:
        return "LedgerKey()"

    def lease_salt(self, lease_id: str) -> str:
        """Return the salt that a lease's hosts commit their raw arguments under (hex)."""
        return keyed_digest(self.secret, b"lease\0" + lease_id.encode())

    def resource(self, scope: str, resource: Resource) -> str:
        """Return the digest that stands for a resource of a scope."""
        return keyed_digest(
            self.secret, b"resource\0" + scope.encode() + b"\0" + fold_resource(resource)
        )

    def resources_of(self, scope: str, request: CheckpointRequest) -> tuple[str, ...]:
        """Return the digests of what a proposal would touch, at least one."""
        resources = request.resources or (fallback_resource(request.tool, request.arguments),)
        return tuple(dict.fromkeys(self.resource(scope, resource) for resource in resources))

    def action(self, scope: str, request: CheckpointRequest, resources: tuple[str, ...]) -> str:
        """Return the fingerprint of an action: the same tool on the same resources."""
        action = fingerprint(request.tool.server, request.tool.name, resources)
        return keyed_digest(self.secret, b"action\0" + scope.encode() + b"\0" + action)

    def statement(self, scope: str, content: bytes) -> str:
        """Return the digest that stands for a proposal: all that it says, and what it rests on."""
        return keyed_digest(self.secret, b"statement\0" + scope.encode() + b"\0" + content)

    def topic(self, scope: str, about: str) -> str:
        """Return the digest that stands for what beliefs of a scope are about."""
        return keyed_digest(self.secret, b"topic\0" + scope.encode() + b"\0" + about.encode())
