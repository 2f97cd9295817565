"""`pmcl guard`: an MCP server behind the checkpoint."""

import sys
from typing import Annotated

from cyclopts import Parameter

from pmcl.ops.commands.groups import StateDir, app, run, settings_of


@app.command
def guard(
    *command: str,
    http: str | None = None,
    bearer_env: str | None = None,
    host: str | None = None,
    server: str | None = None,
    transparent: Annotated[bool, Parameter(negative=())] = False,
    state_dir: StateDir = None,
) -> None:
    """Run an MCP server behind the checkpoint: `pmcl guard -- COMMAND...` in place of COMMAND.

    Args:
        command: What starts the server, after `--`; its exit code is passed on.
        http: The address of a server of streamable HTTP, in place of COMMAND.
        bearer_env: The variable of the environment that holds the token for it.
        host: The host it runs for, `NAME` or `SCOPE/NAME`; the only one, if it is left out.
        server: The server's name in the host's profile; default: from the command.
        transparent: Leave the tools' schemas alone: without the optional argument `_pmcl`.
        state_dir: Keys, ledger and the embedded server's store.
    """
    from pmcl.ops.guard import GuardOptions
    from pmcl.ops.guard import guard as run_guard

    settings = settings_of(state_dir=state_dir)
    options = GuardOptions(
        command=command,
        http=http,
        bearer_env=bearer_env,
        host=host,
        server=server,
        transparent=transparent,
    )
    sys.exit(run(run_guard, settings, options))
