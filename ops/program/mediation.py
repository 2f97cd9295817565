"""Mediation: no tool runs without a committed pass, and none under a verdict that is not for it."""

from collections.abc import Mapping, Sequence

from pmcl.ops.program.figure import Figure, share
from pmcl.ops.program.tries import Tries
from pmcl.ops.program.witness import Witness
from pmcl.ops.replay import ReplayedCall

__all__ = ["mediation_figures"]


def mediation_figures(
    calls: Sequence[ReplayedCall], witness: Witness, tries: Mapping[str, Tries]
) -> list[Figure]:
    """Return what the recorded calls show, and what was tried, by name."""
    held = [call for call in calls if call.status == "held"]
    return [
        share(
            "mediation",
            "ran without a pass in the ledger",
            witness.ran - witness.passed_before,
            witness.ran,
            "each recorded call that ran looked its verdict up in the ledger's file, as its tool",
        ),
        share(
            "mediation",
            "ran although held",
            sum(call.dispatch_ms is not None for call in held),
            len(held),
            "each held recorded call was handed to the dispatch all the same",
        ),
        *(share("mediation", name, one.ran, one.n, one.how) for name, one in tries.items()),
    ]
