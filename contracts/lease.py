"""Leases: who is alive, under which authority, in which generation.

Source: SPEC A1 to A5.
"""

from typing import Annotated, Literal

import msgspec

from pmcl.contracts.contract import Contract
from pmcl.contracts.names import Count, Id, Key, Millis, Ulid
from pmcl.contracts.receipts import Received

__all__ = [
    "AuthoritySnapshot",
    "BeginLease",
    "CompleteTurn",
    "DisableLease",
    "Effect",
    "Gap",
    "Grant",
    "Heartbeat",
    "Lease",
    "LeaseState",
    "ResumeLease",
]

Effect = Literal["inspect_local", "network", "sensing", "mutation", "communication", "execution"]
Grant = Literal["grant", "approve", "prohibit"]


class AuthoritySnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """What the host may do, immutable for one generation; what is not named is prohibited.

    Attributes:
        tools: `server/name` to grant; `*` stands for every tool that is not named.
        effects: effect to grant.
        writable_roots: absolute paths below which a path may be changed.
        network_hosts: host names that may be reached; `*` stands for any.
    """

    tools: Annotated[dict[Key, Grant], msgspec.Meta(max_length=1024)]
    effects: dict[Effect, Grant]
    writable_roots: Annotated[tuple[Key, ...], msgspec.Meta(max_length=64)] = ()
    network_hosts: Annotated[tuple[Key, ...], msgspec.Meta(max_length=1024)] = ()


class BeginLease(Contract, frozen=True, kw_only=True, tag="pmcl/begin-lease/1"):
    """Registers a host, or joins the living lease of the same file and snapshot."""

    host_epoch: Ulid
    authority: AuthoritySnapshot
    provider_locality: Literal["local", "nonlocal"] = "nonlocal"


class ResumeLease(Contract, frozen=True, kw_only=True, tag="pmcl/resume-lease/1"):
    """Registers a host after silence: always a new generation, with the gap made explicit."""

    host_epoch: Ulid
    authority: AuthoritySnapshot
    provider_locality: Literal["local", "nonlocal"] = "nonlocal"


class Heartbeat(Contract, frozen=True, kw_only=True, tag="pmcl/heartbeat/1"):
    """Keeps the lease."""

    lease_id: Ulid
    generation: Count


class CompleteTurn(Contract, frozen=True, kw_only=True, tag="pmcl/complete-turn/1"):
    """Ends a turn after a successful assistant response; makes a durable reflection job.

    Attributes:
        turn_id: the host's own id; the same again makes no second job.
        responded: that the assistant's response succeeded; `false` is refused.
    """

    lease_id: Ulid
    generation: Count
    turn_id: Id
    responded: bool


class DisableLease(Contract, frozen=True, kw_only=True, tag="pmcl/disable-lease/1"):
    """Ends the lease now."""

    lease_id: Ulid
    generation: Count


class Gap(msgspec.Struct, frozen=True, kw_only=True):
    """A time in which nothing was observed and nothing is inferred."""

    from_ms: Millis
    to_ms: Millis
    unobserved: Literal[True] = True


class Lease(Contract, frozen=True, kw_only=True, tag="pmcl/lease/1"):
    """The answer to `begin` and `resume`.

    Attributes:
        expires_at: milliseconds since the epoch by the sidecar's clock.
        valid_for_ms: the same, to be counted on the host's monotonic clock.
        salt: key of the arguments commitment, 64 hex digits; never stored by the host.
        joined: that an equal, living lease was joined.
        gap: after `resume`, the time without heartbeats.
        last_evidence_id: after `resume`, the last committed evidence.
    """

    lease_id: Ulid
    generation: Count
    expires_at: Millis
    valid_for_ms: Millis
    heartbeat_ms: Millis
    salt: str
    joined: bool = False
    gap: Gap | None = None
    last_evidence_id: Ulid | None = None
    received: Received | None = None


class LeaseState(Contract, frozen=True, kw_only=True, tag="pmcl/lease-state/1"):
    """The answer to `heartbeat`, `complete` and `disable`."""

    lease_id: Ulid
    generation: Count
    live: bool
    expires_at: Millis
    valid_for_ms: Millis
    received: Received | None = None
