"""`pmcl up`, `status` and `demo`: the sidecar itself."""

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from pmcl.ops.commands.groups import File, Json, StateDir, app, run, settings_of
from pmcl.ops.console import configure_logs, print_json
from pmcl.ops.misuse import MisuseError


@app.command
def up(
    *,
    state_dir: StateDir = None,
    rules: Annotated[File | None, Parameter(help="What tools do; PMCL_RULES.")] = None,
    server_url: str | None = None,
    server_monitor_url: str | None = None,
    dashboard: Annotated[
        bool, Parameter(negative=(), help="Start the dashboard beside it; PMCL_DASHBOARD.")
    ] = False,
    json: Json = False,
) -> None:
    """Run the sidecar: embedded NATS, streams, workers. Ctrl-C drains."""
    from pmcl.ops.up import up as run_up

    settings = settings_of(
        state_dir=state_dir,
        rules=rules,
        server_url=server_url,
        server_monitor_url=server_monitor_url,
        dashboard="on" if dashboard else None,
    )
    run(run_up, settings, as_json=json)


@app.command
def status(*, state_dir: StateDir = None, json: Json = False) -> None:
    """Show what runs, what is in the ledger, and what waits."""
    from pmcl.ops.status import read_status, show_status

    found = run(read_status, settings_of(state_dir=state_dir))
    print_json(found) if json else show_status(found)


@app.command
def demo(*, json: Json = False) -> None:
    """Show a pass with its outcome, a hold, a failure that is remembered, and an idle thought."""
    from pmcl.ops.demo import demo as run_demo

    configure_logs("error")
    if not run(run_demo, as_json=json):
        sys.exit(1)


@app.command
def doctor(
    *,
    project: Annotated[
        File | None, Parameter(help="The folder of a project; default: the current one.")
    ] = None,
    state_dir: StateDir = None,
    json: Json = False,
) -> None:
    """Look for what is wrong, and try every installed hook; exit code 1 when something is.

    Args:
        project: Its settings are looked at beside the user's.
        state_dir: Keys, ledger and the embedded server's store.
        json: One line of JSON.
    """
    from pmcl.ops.doctor import examine, show_findings

    if project is not None and not project.is_dir():
        raise MisuseError(f"project is {str(project)!r}, allowed: a folder")
    report = run(examine, settings_of(state_dir=state_dir), project or Path.cwd())
    print_json(report) if json else show_findings(report)
    if not report["ok"]:
        sys.exit(1)
