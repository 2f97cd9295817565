"""`pmcl stop` and `resume`: everything but local inspections, held and let go on."""

from typing import Annotated

from cyclopts import Parameter

from pmcl.ops.commands.groups import Json, StateDir, app, run, settings_of
from pmcl.ops.console import print_json

DryRun = Annotated[
    bool, Parameter(name="--dry-run", negative=(), help="Change nothing; tell what would.")
]


@app.command
def stop(*, dry_run: DryRun = False, state_dir: StateDir = None, json: Json = False) -> None:
    """Let only local inspections go on, at once and until `pmcl resume`, over restarts too."""
    from pmcl.ops.stopping import show_stopped
    from pmcl.ops.stopping import stop as say_stop

    state = run(say_stop, settings_of(state_dir=state_dir), dry_run=dry_run)
    print_json(state) if json else show_stopped(state)


@app.command
def resume(*, dry_run: DryRun = False, state_dir: StateDir = None, json: Json = False) -> None:
    """Let everything be judged again after `pmcl stop`."""
    from pmcl.ops.stopping import resume as say_resume
    from pmcl.ops.stopping import show_resumed

    state = run(say_resume, settings_of(state_dir=state_dir), dry_run=dry_run)
    print_json(state) if json else show_resumed(state)
