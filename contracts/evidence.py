"""Observations: what a host saw, and the void that closes a number without one.

Source: SPEC B1, B2; DESIGN section 2, a host's watermark.
"""

from typing import Annotated, Literal

import msgspec

from pmcl.contracts.contract import Contract
from pmcl.contracts.names import Count, EvidenceIds, Id, Key, Millis, Text, TrustLabel, Ulid

__all__ = ["Confidence", "Observation", "Resource", "Resources", "Void"]

Confidence = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]


class Resource(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something that an effect would touch, as the adapter resolved it.

    Attributes:
        kind: what `value` is.
        value: an absolute resolved path, a host name, an address, an account, a database.
        argument: the argument it came from, if any.
    """

    kind: Literal["path", "host", "recipient", "account", "database", "other"]
    value: Annotated[str, msgspec.Meta(min_length=1, max_length=4096)]
    argument: Key | None = None


Resources = Annotated[tuple[Resource, ...], msgspec.Meta(max_length=64)]


class Observation(Contract, frozen=True, kw_only=True, tag="pmcl/observation/1"):
    """One observation; envelope and payload are kept apart in the ledger.

    Attributes:
        key: idempotency key, unique per scope and host for ever.
        evidence_id: chosen by the host, unique per scope; a repeat of the key keeps the first one.
        generation: of the lease it was made under.
        source: the sensor, tool or person, as a name; kept in the open.
        domain: about the agent itself (inner) or its world (outer).
        summary, detail, provenance, resources: the payload; erasable.
        resources: what the observation is about.
    """

    key: Id
    evidence_id: Ulid
    generation: Count
    source: Key
    trust: TrustLabel
    summary: Text
    observed_at: Millis
    domain: Literal["inner", "outer"] = "outer"
    modality: Key = "text"
    provenance: Text = ""
    confidence: Confidence = 1.0
    evidence_ids: EvidenceIds = ()
    visibility: Literal["local_only", "shareable"] = "local_only"
    resources: Resources = ()
    detail: str | None = None


class Void(Contract, frozen=True, kw_only=True, tag="pmcl/void/1"):
    """Closes a number that has no message.

    Attributes:
        lost: its message was acknowledged, and then lost by the stream; else it never was.
    """

    lost: bool = False
