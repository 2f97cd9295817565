"""What is known of a host by its public key, which is all that says who speaks."""

import msgspec

from pmcl.contracts import TrustLabel

__all__ = ["KnownHost"]


class KnownHost(msgspec.Struct, frozen=True, kw_only=True):
    """Whose a key is; only this says in which scope and under which name it may speak.

    Attributes:
        trust: labels that its credential may assert.
    """

    scope: str
    host: str
    trust: frozenset[TrustLabel]
