"""What is asked at the desk and answered, but for checks: strict structs, the source of schemas.

A request tolerates no unknown field: a misspelt claim must not be a missing one. Neither scope nor
host is a field of any; the key says both.
Source: SPEC A1, B1, D1, G4.
"""

from typing import Annotated, Any, Literal, cast

import msgspec

from pmcl.contracts import (
    CONTEXT_BYTES,
    AuthoritySnapshot,
    Confidence,
    Count,
    EvidenceIds,
    Id,
    Key,
    Millis,
    Receipt,
    Resources,
    Text,
    TrustLabel,
    Ulid,
)
from pmcl.hosts.observing import ObservationFields

__all__ = [
    "Asked",
    "BeginAsked",
    "ContextAsked",
    "DispatchAnswer",
    "DispatchAsked",
    "LeaseAnswer",
    "ManyObserved",
    "ManyStored",
    "ObserveAsked",
    "Observed",
    "OutcomeAnswer",
    "OutcomeAsked",
    "OutcomeSaid",
    "Stored",
    "TurnAnswer",
    "TurnAsked",
]

_OBSERVATIONS_MAX = 256
_DAY_MS = 86_400_000

OutcomeSaid = Literal["succeeded", "failed", "cancelled", "unknown"]


class Asked(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What every request may say.

    Attributes:
        generation: of the lease that the caller means; another one is refused.
    """

    generation: Count | None = None


class BeginAsked(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Begins a lease, or joins the living one of the same snapshot.

    Attributes:
        authority: the host's profile when it is missing, as every other adapter of the host has it.
        provider_locality: where the model runs; the profile's, or `nonlocal`, when it is missing.
    """

    authority: AuthoritySnapshot | None = None
    provider_locality: Literal["local", "nonlocal"] | None = None


class LeaseAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The lease as this gateway holds it.

    Attributes:
        generation: `None` while nobody has granted one; then checks are degraded.
        live: whether there is a lease now.
        verdicts: passed and not used yet.
        dispatches: claimed, without an outcome yet.
    """

    scope: str
    host: str
    generation: int | None
    live: bool
    verdicts: int
    dispatches: int


class Observed(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One of many observations; see the contract `pmcl/observation/1`.

    Attributes:
        key: idempotency key; made when it is missing.
    """

    source: Key
    summary: Text
    key: Id | None = None
    trust: TrustLabel = "tool_output"
    detail: str | None = None
    resources: Resources = ()
    domain: Literal["inner", "outer"] = "outer"
    modality: Key = "text"
    provenance: Text = ""
    confidence: Confidence = 1.0
    evidence_ids: EvidenceIds = ()
    visibility: Literal["local_only", "shareable"] = "local_only"
    observed_at: Millis | None = None

    def fields(self) -> ObservationFields:
        """Return what was given of the observation."""
        given = {name: getattr(self, name) for name in Observed.__struct_fields__}
        named = {name: value for name, value in given.items() if value is not None}
        return cast("ObservationFields", named)


class ObserveAsked(Observed, frozen=True, kw_only=True):
    """One observation; `generation` as in every request."""

    generation: Count | None = None


class Stored(msgspec.Struct, frozen=True, kw_only=True):
    """The observation is stored."""

    evidence_id: Ulid


class ManyObserved(Asked, frozen=True, kw_only=True):
    """Observations, stored in order; `generation` is said once, for all."""

    observations: Annotated[
        tuple[Observed, ...], msgspec.Meta(min_length=1, max_length=_OBSERVATIONS_MAX)
    ]


class ManyStored(msgspec.Struct, frozen=True, kw_only=True):
    """All observations are stored; ids in the same order."""

    evidence_ids: tuple[Ulid, ...]


class DispatchAsked(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Claims a verdict; only after the answer may the tool run.

    Attributes:
        arguments: exactly what the tool will get; others than those judged are refused.
        outcome_within_ms: how long the outcome may take; after it the dispatch is `unknown`.
    """

    verdict_id: Ulid
    arguments: dict[str, Any]
    outcome_within_ms: Annotated[int, msgspec.Meta(ge=1, le=_DAY_MS)] = 600_000


class DispatchAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict is claimed: run the tool once, then say what came of it."""

    verdict_id: Ulid
    outcome_within_ms: int


class OutcomeAsked(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What came of a dispatch; said once.

    Attributes:
        failure_mode: a short code, only with `failed`.
        receipt: what the action left behind, only with `succeeded`.
    """

    status: OutcomeSaid
    failure_mode: Id | None = None
    receipt: Receipt | None = None


class OutcomeAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome is on this host's disk and will reach the ledger."""

    verdict_id: Ulid
    status: OutcomeSaid


class TurnAsked(Asked, frozen=True, kw_only=True):
    """Ends a turn, after a successful response; the same id again changes nothing."""

    turn_id: Id


class ContextAsked(Asked, frozen=True, kw_only=True):
    """Asks what a turn should know.

    Attributes:
        goal: what the turn is about.
        budget_bytes: of the answer.
        budget_tokens: as well, a token being taken for two bytes.
    """

    goal: Text = ""
    budget_bytes: int = CONTEXT_BYTES
    budget_tokens: int | None = None


class TurnAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The turn is complete."""

    turn_id: Id
