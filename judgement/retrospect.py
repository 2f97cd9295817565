"""What a reflection looks back on, as values: what is not in `Retrospect` was not reflected on."""

import msgspec

from pmcl.contracts import Contract, Visibility, encode, sha256

__all__ = ["Contradicting", "HeldCall", "OpenIntention", "PastRun", "Retrospect", "SeenEvidence"]


class SeenEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """An envelope of the host that is not erased.

    Attributes:
        resource_keys: keyed digests of what it is about.
        text: its summary; empty where the reflector reads no text, or may not see it.
    """

    evidence_id: str
    trust: str
    source: str
    visibility: Visibility
    observed_at: int
    resource_keys: tuple[str, ...]
    text: str = ""


class PastRun(msgspec.Struct, frozen=True, kw_only=True):
    """What came of one dispatched call.

    Attributes:
        forecast: the failure mode that was named beforehand.
        expected: that the receipt is of the expected kind.
        verified: that evidence shows the receipt.
        evidence_ids: what the call had cited.
        resource_keys: keyed digests of what it touched; empty when its payload was erased.
    """

    outcome_id: str
    server: str
    tool: str
    effect: str
    fingerprint: str
    status: str
    failure_mode: str | None
    forecast: str
    expected: bool
    verified: bool
    evidence_ids: tuple[str, ...]
    resource_keys: tuple[str, ...] = ()


class HeldCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call that was held before its dispatch; fields as of `PastRun`."""

    evaluation_id: str
    server: str
    tool: str
    fingerprint: str
    reasons: tuple[str, ...]
    evidence_ids: tuple[str, ...]
    resource_keys: tuple[str, ...] = ()


class OpenIntention(msgspec.Struct, frozen=True, kw_only=True):
    """Something that is still to be done; `stale` once it has waited for too long."""

    item_id: str
    evidence_ids: tuple[str, ...]
    stale: bool


class Contradicting(msgspec.Struct, frozen=True, kw_only=True):
    """Two beliefs that both stand and cannot."""

    item_id: str
    other_id: str
    evidence_ids: tuple[str, ...]


class Retrospect(Contract, frozen=True, kw_only=True, tag="pmcl/retrospect/1"):
    """What one cycle of a host reads; every list is bounded, the newest first.

    Attributes:
        claim: under which alone the cycle may be ended.
        granted: the tools that the host's authority names and grants, `server/name`.
        spoken: codes of what was spoken about before.
    """

    cycle_id: str
    claim: int
    scope: str
    host: str
    now_ms: int
    evidence: tuple[SeenEvidence, ...] = ()
    runs: tuple[PastRun, ...] = ()
    held: tuple[HeldCall, ...] = ()
    intentions: tuple[OpenIntention, ...] = ()
    contradictions: tuple[Contradicting, ...] = ()
    granted: tuple[str, ...] = ()
    spoken: tuple[str, ...] = ()

    @property
    def mark(self) -> str:
        """Digest of what there is to reflect on; the same as long as nothing of it changed."""
        silent = tuple([msgspec.structs.replace(seen, text="") for seen in self.evidence])
        kept = msgspec.structs.replace(
            self, cycle_id="", claim=0, now_ms=0, evidence=silent, spoken=()
        )
        return sha256(encode(kept))
