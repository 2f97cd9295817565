"""`pmcl outcomes`: what hosts reported and no evaluation took."""

from pmcl.ops.commands.groups import Count, Json, Name, StateDir, outcomes_app, run, settings_of
from pmcl.ops.console import print_json


@outcomes_app.command(name="list")
def list_(
    *,
    scope: Name | None = None,
    host: Name | None = None,
    limit: Count = 256,
    state_dir: StateDir = None,
    json: Json = False,
) -> None:
    """List the outcomes that are linked to no evaluation, the newest first, with the reason.

    Args:
        scope: Of this scope alone.
        host: Of hosts of this name alone.
        limit: So many at most.
        state_dir: Keys, ledger and the embedded server's store.
        json: One line of JSON.
    """
    from pmcl.ops.unlinked import list_unlinked, show_unlinked

    settings = settings_of(state_dir=state_dir)
    found = run(list_unlinked, settings, scope=scope, host=host, limit=limit)
    print_json(found) if json else show_unlinked(found)
