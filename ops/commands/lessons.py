"""`pmcl lessons`: what verified runs have taught."""

from typing import Literal

from pmcl.ops.commands.groups import Json, Name, StateDir, lessons_app, run, settings_of
from pmcl.ops.console import print_json


@lessons_app.command(name="list")
def list_(
    *,
    scope: Name | None = None,
    state: Literal["demoted", "gathering", "mature"] | None = None,
    state_dir: StateDir = None,
    json: Json = False,
) -> None:
    """List the lessons of actions with their runs, the last changed first.

    Args:
        scope: Of this scope alone.
        state: In this state alone.
        state_dir: Keys, ledger and the embedded server's store.
        json: One line of JSON.
    """
    from pmcl.ops.lessons import list_lessons, show_lessons

    found = run(list_lessons, settings_of(state_dir=state_dir), scope=scope, state=state)
    print_json(found) if json else show_lessons(found)
