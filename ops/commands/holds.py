"""`pmcl holds`: what is held, and what would lift it."""

from pmcl.ops.commands.groups import Json, Name, StateDir, holds_app, run, settings_of
from pmcl.ops.console import print_json


@holds_app.command(name="list")
def list_(
    *,
    scope: Name | None = None,
    reason: str | None = None,
    state_dir: StateDir = None,
    json: Json = False,
) -> None:
    """List the open holds, the newest first.

    Args:
        scope: Of this scope alone.
        reason: Of this reason alone.
        state_dir: Keys, ledger and the embedded server's store.
        json: One line of JSON.
    """
    from pmcl.ops.holds import list_holds, show_holds

    found = run(list_holds, settings_of(state_dir=state_dir), scope=scope, reason=reason)
    print_json(found) if json else show_holds(found)


@holds_app.command
def show(hold: str, *, state_dir: StateDir = None, json: Json = False) -> None:
    """Show one hold: on what, why, and what would lift it."""
    from pmcl.ops.holds import read_hold, show_hold

    found = run(read_hold, settings_of(state_dir=state_dir), hold)
    print_json(found) if json else show_hold(found)
