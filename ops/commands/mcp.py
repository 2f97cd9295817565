"""`pmcl mcp`: an MCP server with the checkpoint's verbs."""

from pmcl.ops.commands.groups import StateDir, app, run, settings_of


@app.command
def mcp(*, host: str | None = None, state_dir: StateDir = None) -> None:
    """Offer the checkpoint's verbs as MCP tools, over standard input and output.

    Args:
        host: The host it runs for, `NAME` or `SCOPE/NAME`; the only one, if it is left out.
        state_dir: Keys, ledger and the embedded server's store.
    """
    from pmcl.ops.mcp import mcp as run_mcp

    run(run_mcp, settings_of(state_dir=state_dir), host=host)
