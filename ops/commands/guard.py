"""`pmcl guard`: an MCP server behind the checkpoint."""

import sys
from typing import Annotated

from cyclopts import Parameter

from pmcl.ops.commands.groups import StateDir, app, run, settings_of


@app.command
def guard(
    *command: Annotated[str, Parameter(allow_leading_hyphen=True)],
    host: str | None = None,
    server: str | None = None,
    transparent: Annotated[bool, Parameter(negative=())] = False,
    state_dir: StateDir = None,
) -> None:
    """Run an MCP server behind the checkpoint: `pmcl guard -- COMMAND...` in place of COMMAND.

    Args:
        command: What starts the server, after `--`; its exit code is passed on.
        host: The host it runs for, `NAME` or `SCOPE/NAME`; the only one, if it is left out.
        server: The server's name in the host's profile; default: from the command.
        transparent: Leave the tools' schemas alone: without the optional argument `_pmcl`.
        state_dir: Keys, ledger and the embedded server's store.
    """
    from pmcl.ops.guard import guard as run_guard

    settings = settings_of(state_dir=state_dir)
    code = run(run_guard, settings, command, host=host, server=server, transparent=transparent)
    sys.exit(code)
