"""`pmcl evaluate`: how well the checkpoint does on recorded input."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from pmcl.ops.commands.groups import (
    Count,
    File,
    Json,
    Plot,
    evaluate_app,
    run,
    save_figure,
    settings_of,
)
from pmcl.ops.console import configure_logs, print_json
from pmcl.ops.misuse import MisuseError


@evaluate_app.command
def traces(
    *files: File,
    revise: Annotated[bool, Parameter(negative=())] = False,
    resources: Annotated[bool, Parameter(negative=())] = False,
    json: Json = False,
) -> None:
    """Run recorded agent traces through the whole pipeline, over the real bus, as a host would.

    Args:
        files: JSON lines, plain or gzipped; one trace a line.
        revise: Propose each held external call once more, citing where its values were seen.
        resources: Name what each call touches, as an adapter resolves it.
        json: One line of JSON.
    """
    from pmcl.ops.traces import evaluate_traces, show_report

    _check_named(files)
    configure_logs("error")
    report = run(evaluate_traces, files, revise=revise, resources=resources)
    print_json(report) if json else show_report(report)


@evaluate_app.command
def effects(
    *files: File,
    rules: Annotated[File | None, Parameter(help="What tools do; PMCL_RULES.")] = None,
    json: Json = False,
) -> None:
    """Count the sidecar's own effect of each recorded call beside a person's label.

    Args:
        files: JSON lines, plain or gzipped; one trace a line.
        rules: An operator's rules, which count as well.
        json: One line of JSON.
    """
    from pmcl.ops.confusion import count_effects, show_confusion

    _check_named(files)
    report = run(count_effects, settings_of(rules=rules), files)
    print_json(report) if json else show_confusion(report)


@evaluate_app.command(name="calibration")
def calibration_trial(
    *, calls: Count = 5000, seed: int = 1, plot: Plot = None, json: Json = False
) -> None:
    """Let a simulated host with known failure rates ask the real sidecar, and score the forecasts.

    Args:
        calls: How many; each is judged, dispatched and has its outcome.
        seed: Of everything that is drawn.
        plot: Where the reliability diagram goes, as PNG.
        json: One line of JSON.
    """
    from pmcl.ops.simulated_host import evaluate_calibration, show_trial

    configure_logs("error")
    report = run(evaluate_calibration, calls, seed)
    save_figure(report["score"], plot)
    print_json(report) if json else show_trial(report)


@evaluate_app.command
def coding(
    *folders: File,
    installed: Annotated[bool, Parameter(negative=())] = False,
    sessions: Count = 4,
    seed: int = 1,
    json: Json = False,
) -> None:
    """Count what would be held of a coding agent's ordinary work, and what injections would pass.

    Args:
        folders: Checkouts of projects; their texts are read, nothing of them is run.
        installed: Take the packages of this environment as well.
        sessions: Of each kind for each project.
        seed: Of everything that is drawn.
        json: One line of JSON.
    """
    from pmcl.ops.coding import CodingConfig, evaluate_coding, show_coding

    configure_logs("error")
    config = CodingConfig(sessions=sessions, seed=seed, installed=installed)
    report = run(evaluate_coding, folders, config)
    print_json(report) if json else show_coding(report)


@evaluate_app.command
def program(*files: File, calls: Count = 2000, seed: int = 1, json: Json = False) -> None:
    """Measure mediation, authority, calibration, utility, safety, continuity and privacy.

    Args:
        files: JSON lines, plain or gzipped; one trace a line.
        calls: Of the simulated host.
        seed: Of everything that is drawn.
        json: One line of JSON.
    """
    from pmcl.ops.program import ProgramConfig, evaluate_program, show_program

    configure_logs("error")
    report = run(evaluate_program, files, ProgramConfig(calls=calls, seed=seed))
    print_json(report) if json else show_program(report)


def _check_named(files: Sequence[Path]) -> None:
    if not files:
        raise MisuseError("no file is named, allowed: one or more of recorded traces")
