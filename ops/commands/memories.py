"""`pmcl memories` and `pmcl identity`: what was derived, and what operators configured."""

from typing import Annotated, Literal

from cyclopts import Parameter

from pmcl.contracts import ItemKind
from pmcl.ops.commands.groups import (
    File,
    Json,
    Name,
    StateDir,
    identity_app,
    memories_app,
    run,
    settings_of,
)
from pmcl.ops.console import print_json


@memories_app.command(name="list")
def list_(
    what: Literal["changes", "items", "rejected"] = "items",
    *,
    scope: Name | None = None,
    kind: ItemKind | None = None,
    ended: bool = False,
    state_dir: StateDir = None,
    json: Json = False,
) -> None:
    """List what reflection derived, the newest first.

    Args:
        what: Items, changes of the self-model that wait, or what was rejected.
        scope: Of this scope alone.
        kind: Of this kind alone.
        ended: Items that count no longer as well.
        state_dir: Keys, ledger and the embedded server's store.
        json: One line of JSON.
    """
    from pmcl.ops.memories import list_memories, show_memories

    settings = settings_of(state_dir=state_dir)
    found = run(list_memories, settings, what=what, scope=scope, kind=kind, ended=ended)
    print_json(found) if json else show_memories(found)


@memories_app.command
def show(memory: str, *, state_dir: StateDir = None, json: Json = False) -> None:
    """Show one: what it says, what it rests on, and how it ended or why it was rejected."""
    from pmcl.ops.memories import read_memory, show_memory

    found = run(read_memory, settings_of(state_dir=state_dir), memory)
    print_json(found) if json else show_memory(found)


@memories_app.command
def retract(
    memory: str,
    *,
    yes: Annotated[bool, Parameter(negative=())] = False,
    state_dir: StateDir = None,
    json: Json = False,
) -> None:
    """Take an item back, in a running sidecar; without --yes only tell what would go.

    Args:
        memory: The item's id.
        yes: Do it. What it says stays in the record, and the same is not admitted again.
        state_dir: Keys, ledger and the embedded server's store.
        json: One line of JSON.
    """
    from pmcl.ops.memories import retract_memory, show_retraction

    found, done = run(retract_memory, settings_of(state_dir=state_dir), memory, dry_run=not yes)
    print_json(done) if json else show_retraction(found, done)


@identity_app.command(name="show")
def show_identity(scope: Name, *, state_dir: StateDir = None, json: Json = False) -> None:
    """Show the versions of a scope's identity, the newest first."""
    from pmcl.ops.identity import list_identities, show_identities

    found = run(list_identities, settings_of(state_dir=state_dir), scope)
    print_json(found) if json else show_identities(found)


@identity_app.command(name="set")
def set_(scope: Name, file: File, *, state_dir: StateDir = None, json: Json = False) -> None:
    """Configure who the agents of a scope are, from a TOML file; the sidecar must run."""
    from pmcl.ops.identity import read_identity, set_identity, show_identity_set

    settings = settings_of(state_dir=state_dir)
    found = run(set_identity, settings, scope, read_identity(file))
    print_json(found) if json else show_identity_set(found)
