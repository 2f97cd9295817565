"""The `pmcl` command. Every command has `--json`; an error is one clear line and exit code 1."""

import sys
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any

import anyio
from cyclopts import App, Parameter

from pmcl.contracts import PmclError
from pmcl.ops.console import configure_logs, console, print_json
from pmcl.ops.settings import Settings, load_settings

__all__ = ["app", "main"]

app = App(name="pmcl", help="A veto-only sidecar between an agent's wish and a tool's effect.")
host_app = App(name="host", help="Hosts that may connect.")
approvals_app = App(name="approvals", help="Calls that wait for an operator's word.")
evaluate_app = App(name="evaluate", help="How well the checkpoint does on recorded input.")
app.command(host_app)
app.command(approvals_app)
app.command(evaluate_app)

StateDir = Annotated[
    Path | None, Parameter(help="Keys, ledger and the embedded server's store; PMCL_STATE_DIR.")
]
Json = Annotated[bool, Parameter(name="--json", negative=(), help="One line of JSON.")]

Plot = Annotated[Path | None, Parameter(help="Write the reliability diagram here, as PNG.")]


def _settings(**given: Any) -> Settings:
    settings = load_settings(overrides=given)
    configure_logs(settings.log_level)
    return settings


def _run(function: Any, *arguments: Any, **options: Any) -> Any:
    async def call() -> Any:
        return await function(*arguments, **options)

    return anyio.run(call, backend_options={"use_uvloop": sys.platform != "win32"})


@app.command
def up(
    *,
    state_dir: StateDir = None,
    rules: Annotated[Path | None, Parameter(help="What tools do; PMCL_RULES.")] = None,
    server_url: str | None = None,
    server_monitor_url: str | None = None,
    json: Json = False,
) -> None:
    """Run the sidecar: embedded NATS, streams, workers. Ctrl-C drains."""
    from pmcl.ops.up import up as run

    settings = _settings(
        state_dir=state_dir,
        rules=rules,
        server_url=server_url,
        server_monitor_url=server_monitor_url,
    )
    _run(run, settings, as_json=json)


@app.command
def status(*, state_dir: StateDir = None, json: Json = False) -> None:
    """Show what runs, what is in the ledger, and what waits."""
    from pmcl.ops.status import read_status, show_status

    found = _run(read_status, _settings(state_dir=state_dir))
    print_json(found) if json else show_status(found)


@app.command
def judge(evaluation: str | None = None, *, state_dir: StateDir = None, json: Json = False) -> None:
    """Judge a stored evaluation again, and explain it line by line.

    Args:
        evaluation: The evaluation's id; the newest one when it is left out.
        state_dir: Keys, ledger and the embedded server's store.
        json: One line of JSON.
    """
    from pmcl.ops.judge import judge_again, show_judgement

    report = _run(judge_again, _settings(state_dir=state_dir), evaluation)
    print_json(report) if json else show_judgement(report)
    if not report["same"]:
        sys.exit(1)


@app.command
def demo(*, json: Json = False) -> None:
    """Show a pass with its outcome, a hold before dispatch, and a failure that is remembered."""
    from pmcl.ops.demo import demo as run

    configure_logs("error")
    if not _run(run, as_json=json):
        sys.exit(1)


@host_app.command
def add(  # noqa: PLR0913 - each is an option of the command
    name: str,
    *,
    scope: str,
    trust: tuple[str, ...] = (),
    root: tuple[Path, ...] = (),
    out: Path | None = None,
    state_dir: StateDir = None,
    json: Json = False,
) -> None:
    """Register a host and write its credentials, with a profile of what it may do beside them.

    Args:
        name: The host's name: 1 to 64 of a-z, 0-9, _ and -.
        scope: The scope (project, tenant) it works in; the same characters.
        trust: Trust labels it may assert; without it, every label but `operator`.
        root: Folders below which it may write; default: the current one.
        out: Where the credentials go; default: `credentials/` in the state directory.
        state_dir: Keys, ledger and the embedded server's store.
        json: One line of JSON.
    """
    from pmcl.ops.host_add import add_host

    settings = _settings(state_dir=state_dir)
    path = _run(add_host, settings, scope, name, trust, root or (Path.cwd(),), out)
    profile = path.with_suffix(".toml")
    if json:
        print_json({"credentials": str(path), "profile": str(profile)})
    else:
        console.print(f"credentials of {scope}/{name}: {path}", soft_wrap=True)
        console.print(f"what it may do: {profile}", soft_wrap=True)


@approvals_app.command(name="list")
def list_(
    *,
    ended: Annotated[
        bool, Parameter(name="--all", negative=(), help="Also those that are over, newest first.")
    ] = False,
    state_dir: StateDir = None,
    json: Json = False,
) -> None:
    """List the approvals that are pending, or granted and not used yet."""
    from pmcl.ops.approvals import list_approvals, show_approvals

    found = _run(list_approvals, _settings(state_dir=state_dir), ended=ended)
    print_json(found) if json else show_approvals(found)


@approvals_app.command
def show(approval: str, *, state_dir: StateDir = None, json: Json = False) -> None:
    """Show exactly what was proposed, and why it was held."""
    from pmcl.ops.approvals import read_approval, show_approval

    found = _run(read_approval, _settings(state_dir=state_dir), approval)
    print_json(found) if json else show_approval(found)


@approvals_app.command
def grant(
    approval: str,
    *,
    expires: Annotated[
        timedelta | None,
        Parameter(help="How long it can be used: 24h at most; default: PMCL_APPROVAL_TTL_MS."),
    ] = None,
    state_dir: StateDir = None,
    json: Json = False,
) -> None:
    """Let the proposal pass, once. Nothing but the wish for an approval is lifted."""
    from pmcl.ops.approvals import grant_approval

    _decided(_run(grant_approval, _settings(state_dir=state_dir), approval, expires), as_json=json)


@approvals_app.command
def deny(approval: str, *, state_dir: StateDir = None, json: Json = False) -> None:
    """Hold the proposal for good, or take back a grant that was not used yet."""
    from pmcl.ops.approvals import deny_approval

    _decided(_run(deny_approval, _settings(state_dir=state_dir), approval), as_json=json)


def _decided(approval: Any, *, as_json: bool) -> None:
    if as_json:
        print_json(approval)
    else:
        console.print(f"{approval.approval_id} is {approval.state}, by {approval.approver}")


@evaluate_app.command
def traces(
    *files: Path,
    revise: Annotated[bool, Parameter(negative=())] = False,
    json: Json = False,
) -> None:
    """Run recorded agent traces through the whole pipeline, over the real bus, as a host would.

    Args:
        files: JSON lines, plain or gzipped; one trace a line.
        revise: Propose each held external call once more, citing where its values were seen.
        json: One line of JSON.
    """
    from pmcl.ops.traces import evaluate_traces, show_report

    configure_logs("error")
    report = _run(evaluate_traces, files, revise=revise)
    print_json(report) if json else show_report(report)


@evaluate_app.command
def effects(
    *files: Path,
    rules: Annotated[Path | None, Parameter(help="What tools do; PMCL_RULES.")] = None,
    json: Json = False,
) -> None:
    """Count the sidecar's own effect of each recorded call beside a person's label.

    Args:
        files: JSON lines, plain or gzipped; one trace a line.
        rules: An operator's rules, which count as well.
        json: One line of JSON.
    """
    from pmcl.ops.confusion import count_effects, show_confusion

    report = _run(count_effects, _settings(rules=rules), files)
    print_json(report) if json else show_confusion(report)


@evaluate_app.command(name="calibration")
def calibration_trial(
    *, calls: int = 5000, seed: int = 1, plot: Plot = None, json: Json = False
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
    report = _run(evaluate_calibration, calls, seed)
    _plot(report["score"], plot)
    print_json(report) if json else show_trial(report)


@app.command
def calibration(
    *,
    scope: str | None = None,
    effect: str | None = None,
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

    report = _run(read_calibration, _settings(state_dir=state_dir), scope, effect)
    _plot(report["pooled"], plot)
    print_json(report) if json else show_calibration(report)


def _plot(figures: dict[str, Any], path: Path | None) -> None:
    if path is None:
        return
    import msgspec

    from pmcl.judgement import Score
    from pmcl.ops.reliability_plot import save_plot

    save_plot(msgspec.convert(figures, Score), path)


def main() -> None:
    """Run the command line; known errors are told in one line."""
    try:
        app()
    except PmclError as error:
        console.stderr = True
        console.print(f"pmcl: {error}", style="red", soft_wrap=True, markup=False)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
