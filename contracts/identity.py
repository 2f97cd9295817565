"""Identity: who the agents of a scope are, and what is aimed at, as an operator configures it.

It is configuration and never evidence; no observation, proposal or reflection changes it.
Source: SPEC B5.
"""

from typing import Annotated

import msgspec

from pmcl.contracts.contract import Contract
from pmcl.contracts.derived import ItemText, Visibility
from pmcl.contracts.names import Count, Id, Key, Millis, Text, Token
from pmcl.contracts.receipts import Received

__all__ = ["Goals", "Identity", "IdentityVersion", "SetIdentity"]

Goals = Annotated[tuple[ItemText, ...], msgspec.Meta(max_length=16)]


class Identity(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who the agents of a scope are.

    Attributes:
        text: what they are to know of themselves, in plain words.
        ideal_self: what they are to become able to do, or to be like.
        desired_world: what is to be true of their world.
        visibility: local_only keeps all of it but the name from a provider that is not local.
    """

    name: Key
    text: Text = ""
    ideal_self: Goals = ()
    desired_world: Goals = ()
    visibility: Visibility = "local_only"


class SetIdentity(Contract, frozen=True, kw_only=True, tag="pmcl/set-identity/1"):
    """An operator configures the identity of a scope.

    Attributes:
        of_scope: whose identity.
        label: who asks, as a name.
    """

    of_scope: Token
    identity: Identity
    label: Id


class IdentityVersion(Contract, frozen=True, kw_only=True, tag="pmcl/identity-version/1"):
    """The identity that stands.

    Attributes:
        version: counts from 1; a repeat of what stands makes no new one.
        by: `operator/<label>`.
    """

    version: Count
    configured_at: Millis
    by: str
    received: Received | None = None
