"""`pmcl watch`: what happens, as it happens."""

from typing import Annotated

from cyclopts import Parameter

from pmcl.ops.commands.groups import Json, Name, StateDir, app, run, settings_of


@app.command
def watch(
    *,
    scope: Name | None = None,
    host: Name | None = None,
    all_: Annotated[bool, Parameter(name="--all", negative=())] = False,
    state_dir: StateDir = None,
    json: Json = False,
) -> None:
    """Show verdicts, holds, refusals, outcomes and operators' words as they are committed.

    Args:
        scope: Of this scope alone.
        host: Of hosts of this name alone.
        all_: Also leases, observations and closed numbers.
        state_dir: Keys, ledger and the embedded server's store.
        json: One line of JSON for each event.
    """
    from pmcl.ops.watch import print_watched

    settings = settings_of(state_dir=state_dir)
    run(print_watched, settings, as_json=json, scope=scope, host=host, all_=all_)
