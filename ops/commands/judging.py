"""`pmcl judge` and `calibration`: what was decided, and how well it was foreseen."""

import sys

from pmcl.contracts import Effect
from pmcl.ops.commands.groups import (
    Json,
    Name,
    Plot,
    StateDir,
    app,
    run,
    save_figure,
    settings_of,
)
from pmcl.ops.console import print_json


@app.command
def judge(evaluation: str | None = None, *, state_dir: StateDir = None, json: Json = False) -> None:
    """Judge a stored evaluation again, and explain it line by line.

    Args:
        evaluation: The evaluation's id; the newest one when it is left out.
        state_dir: Keys, ledger and the embedded server's store.
        json: One line of JSON.
    """
    from pmcl.ops.judge import judge_again, show_judgement

    report = run(judge_again, settings_of(state_dir=state_dir), evaluation)
    print_json(report) if json else show_judgement(report)
    if not report["same"]:
        sys.exit(1)


@app.command
def calibration(
    *,
    scope: Name | None = None,
    effect: Effect | None = None,
    plot: Plot = None,
    state_dir: StateDir = None,
    json: Json = False,
) -> None:
    """Show how well forecasts met outcomes, and what became of holds.

    Args:
        scope: Count this scope alone.
        effect: Count this effect alone.
        plot: Where the reliability diagram goes, as PNG.
        state_dir: Keys, ledger and the embedded server's store.
        json: One line of JSON.
    """
    from pmcl.ops.calibration import read_calibration, show_calibration

    report = run(read_calibration, settings_of(state_dir=state_dir), scope, effect)
    save_figure(report["pooled"], plot)
    print_json(report) if json else show_calibration(report)
