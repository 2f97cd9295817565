"""`pmcl dashboard`: the operator's page in the browser."""

from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from pmcl.ops.commands.groups import Json, StateDir, app, run, settings_of


@app.command
def dashboard(
    *,
    port: Annotated[int | None, Parameter(validator=Number(gte=0, lte=65535))] = None,
    parent: Annotated[int | None, Parameter(show=False)] = None,
    state_dir: StateDir = None,
    json: Json = False,
) -> None:
    """Show it all in the browser, live; Ctrl-C ends it. Whoever has the printed link may decide.

    Args:
        port: Of 127.0.0.1; PMCL_DASHBOARD_PORT, else any that is free.
        parent: End with this process.
        state_dir: Keys, ledger and the embedded server's store.
        json: One line of JSON.
    """
    from pmcl.ops.dashboard_process import serve

    settings = settings_of(state_dir=state_dir, dashboard_port=port)
    run(serve, settings, as_json=json, parent=parent)
