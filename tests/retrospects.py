"""What reflectors look back on in tests."""

from typing import Any, Final

from pmcl.judgement import PastRun, Retrospect, SeenEvidence

__all__ = ["NOTES", "SEEN", "looking_back", "run"]

NOTES: Final = "n" * 64
SEEN: Final = SeenEvidence(
    evidence_id="01HF0000000000000000000000",
    trust="tool_output",
    source="ls",
    visibility="local_only",
    observed_at=1,
    resource_keys=(NOTES,),
)


def run(number: int = 0, **changes: Any) -> PastRun:
    """Return a call that is said to have succeeded, and has shown nothing."""
    fields: dict[str, Any] = {
        "outcome_id": f"outcome-{number}",
        "server": "files",
        "tool": "write_file",
        "effect": "mutation",
        "fingerprint": "f" * 64,
        "status": "succeeded",
        "failure_mode": None,
        "forecast": "wrong_target",
        "expected": False,
        "verified": False,
        "evidence_ids": (),
        "resource_keys": (NOTES,),
    }
    return PastRun(**fields | changes)


def looking_back(**changes: Any) -> Retrospect:
    """Return what a cycle reads: `SEEN` and no call, unless it is told."""
    fields: dict[str, Any] = {"evidence": (SEEN,), **changes}
    return Retrospect(cycle_id="c", claim=1, scope="s", host="a", now_ms=9, **fields)
