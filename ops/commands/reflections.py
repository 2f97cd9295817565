"""`pmcl reflections`: what was thought about, when, and what came of it."""

from pmcl.contracts import ReflectionResult
from pmcl.ops.commands.groups import Json, Name, StateDir, reflections_app, run, settings_of
from pmcl.ops.console import print_json


@reflections_app.command(name="list")
def list_(
    *,
    scope: Name | None = None,
    host: Name | None = None,
    result: ReflectionResult | None = None,
    state_dir: StateDir = None,
    json: Json = False,
) -> None:
    """List the cycles, the newest first, and what waits of each host.

    Args:
        scope: Of this scope alone.
        host: Of hosts of this name alone.
        result: That ended this way alone.
        state_dir: Keys, ledger and the embedded server's store.
        json: One line of JSON.
    """
    from pmcl.ops.reflections import list_reflections, show_reflections

    settings = settings_of(state_dir=state_dir)
    found = run(list_reflections, settings, scope=scope, host=host, result=result)
    print_json(found) if json else show_reflections(found)


@reflections_app.command
def show(cycle: str, *, state_dir: StateDir = None, json: Json = False) -> None:
    """Show one cycle: what it was for, how it ended, and what it used."""
    from pmcl.ops.reflections import read_reflection, show_cycle

    found = run(read_reflection, settings_of(state_dir=state_dir), cycle)
    print_json(found) if json else show_cycle(found)
