"""Calibration: forecasts beside what happened, of a simulated host and of the recordings."""

from collections.abc import Mapping
from typing import Any, Final

from pmcl.ops.program.figure import Figure, amount, share, unavailable

__all__ = ["calibration_figures"]

_ENDS: Final = {"mitigated": "with a mitigation", "unmitigated": "without one"}


def calibration_figures(
    trial: Mapping[str, Any], recorded: Mapping[str, Any] | None
) -> list[Figure]:
    """Return the figures of a trial, and of the recorded calls' own outcomes.

    Args:
        trial: what `evaluate_calibration` returned.
        recorded: the pooled group of `read_calibration` on the replay's ledger.
    """
    return [*_simulated(trial), *_mitigations(recorded)]


def _simulated(trial: Mapping[str, Any]) -> list[Figure]:
    score = trial["score"]
    calls, failures, top1 = score["count"], score["failures"], score["top1"]
    of = f"simulated host with known failure rates, seed {trial['seed']}, through the real sidecar"
    return [
        share(
            "calibration",
            "failures in the mode that was forecast",
            round((top1 or 0) * failures),
            failures,
            f"top-1 accuracy over calls that failed; {of}",
        ),
        amount(
            "calibration",
            "the same, of what is possible",
            trial["top1_of_best"],
            "ratio",
            failures,
            "over the top-1 accuracy of one who knows the true rates; same calls",
        ),
        amount("calibration", "Brier score", score["brier"], "0 to 1", calls, f"0 is best; {of}"),
        amount(
            "calibration",
            "expected calibration error",
            score["ece"],
            "0 to 1",
            calls,
            "distance of forecast and share that came true, in tenths of the forecast; same calls",
        ),
        share(
            "calibration",
            "actions whose forecast moved after five outcomes",
            trial["moved"],
            trial["seen"],
            "actions that were asked for again after five outcomes; same calls",
        ),
    ]


def _mitigations(recorded: Mapping[str, Any] | None) -> list[Figure]:
    """Return how material calls ended; only if some failed can that tell anything."""
    how = "recorded calls with a material failure that ran, {}, and failed"
    figures = []
    failed = recorded is not None and recorded["failures"]
    for key, name in _ENDS.items():
        line, told = f"material calls {name} that failed", how.format(name)
        if recorded is None or not failed:
            reason = "no recorded call failed" if recorded else "no trace file was given"
            figures.append(unavailable("calibration", line, told, reason, "share"))
            continue
        ended = recorded[key]
        figures.append(share("calibration", line, ended["failures"], ended["count"], told))
    figures.append(
        unavailable(
            "calibration",
            "failures that a mitigation averted",
            "the same call with and without its mitigation",
            "a held call is not run, so whether it would have failed nobody knows",
            "share",
        )
    )
    return figures
