"""`pmcl memories`: derived state as it stands, how it ended, and what was not admitted."""

from typing import Any, Final, Literal

import msgspec

from pmcl.contracts import LedgerError, Retraction, RetractItem, convert
from pmcl.ledger import items, rejections, self_models
from pmcl.ops.asking import ask_sidecar, operator_label
from pmcl.ops.console import console, shown_time, shown_whole
from pmcl.ops.reach import check_ledger
from pmcl.ops.rows import print_rows
from pmcl.ops.settings import Settings
from pmcl.store import open_reader

__all__ = [
    "Listing",
    "list_memories",
    "read_memory",
    "retract_memory",
    "show_memories",
    "show_memory",
    "show_retraction",
]

Listing = Literal["changes", "items", "rejected"]
"""What is listed: items, changes of the self-model that wait, or what was not admitted."""

_LISTED_MAX: Final = 256
_FIRST: Final = 2**62


async def list_memories(
    settings: Settings,
    *,
    what: Listing = "items",
    scope: str | None = None,
    kind: str | None = None,
    ended: bool = False,
) -> dict[str, Any]:
    """Return what was derived, newest first: `{"memories": [...], "more": bool}`.

    Args:
        settings: name the ledger; the sidecar may run meanwhile.
        what: items, waiting changes or rejections.
        scope: of this scope alone.
        kind: of this kind alone; not of changes.
        ended: items that count no longer as well.

    Raises:
        LedgerError: there is no ledger.
    """
    check_ledger(settings)
    limits: dict[str, Any] = {"scope": scope, "before": _FIRST, "max_rows": _LISTED_MAX + 1}
    async with open_reader(settings.ledger_path) as reader:
        found: list[tuple[int, Any]]
        if what == "items":
            found = [*await items.listed(reader, kind=kind, closed=ended, **limits)]
        elif what == "rejected":
            found = [*await rejections.listed(reader, kind=kind, **limits)]
        else:
            found = [*await self_models.listed(reader, **limits)]
    return {
        "memories": [msgspec.to_builtins(each) for _, each in found[:_LISTED_MAX]],
        "more": len(found) > _LISTED_MAX,
    }


async def read_memory(settings: Settings, memory_id: str) -> dict[str, Any]:
    """Return one item, change or rejection by its id.

    Raises:
        LedgerError: there is no ledger, or nothing of this id in it.
    """
    check_ledger(settings)
    async with open_reader(settings.ledger_path) as reader:
        for shown in (items.shown, rejections.shown, self_models.shown):
            found = await shown(reader, memory_id)
            if found is not None:
                told: dict[str, Any] = msgspec.to_builtins(found)
                return told
    raise LedgerError(f"{memory_id!r} is not in this ledger: see `pmcl memories list`")


async def retract_memory(
    settings: Settings, memory_id: str, *, dry_run: bool = False
) -> tuple[dict[str, Any], Retraction]:
    """Return the item as it was, and that it is taken back, or would be.

    Raises:
        LedgerError: there is no ledger, or nothing of this id in it.
        RefusedError: it is a change or a rejection, which no one can take back.
        NotRunningError: no sidecar runs.
    """
    found = await read_memory(settings, memory_id)
    asked = RetractItem(item_id=memory_id, dry_run=dry_run, label=operator_label())
    question = convert(msgspec.to_builtins(asked), RetractItem)
    return found, await ask_sidecar(settings, "retract", question, Retraction)


def show_memories(found: dict[str, Any]) -> None:
    """Print a list for people."""
    if not found["memories"]:
        console.print("Nothing is kept.")
        return
    names = ("id", "kind", "state", "host", "says")
    rows = [
        (_id(each), _kind(each), _state(each), f"{each['scope']}/{each['host']}", _text(each))
        for each in found["memories"]
    ]
    print_rows(names, rows)
    if found["more"]:
        console.print("There are more.")


def show_memory(found: dict[str, Any]) -> None:
    """Print one for people: what it says, what it rests on, how it ended."""
    skipped = {"said", "payload", "about_key"}
    for name, value in found.items():
        if name in skipped or value in (None, [], False):
            continue
        shown = shown_time(value) if name.endswith("_at") else value
        shown = ", ".join(shown) if isinstance(shown, list) else shown
        console.print(f"{name:<20}{shown_whole(str(shown))}", markup=False, soft_wrap=True)
    console.print(f"{'says':<20}{_text(found)}", markup=False, soft_wrap=True)


def show_retraction(found: dict[str, Any], done: Retraction) -> None:
    """Print for people what was taken back, or would be."""
    says = f"{done.kind} of {done.scope}/{done.host}: {_text(found)}"
    if not done.changed:
        told = f"It counts no longer already: {done.state}, since {shown_time(done.closed_at)}"
        says = f"{told}, by {done.closed_by}."
    elif done.state == "live":
        says = f"Would be taken back: {says}\nNothing was changed: --yes takes it back."
    else:
        says = f"Taken back, by {done.closed_by}: {says}"
    console.print(says, markup=False, soft_wrap=True)


def _id(each: dict[str, Any]) -> str:
    return str(each.get("item_id") or each["proposal_id"])


def _kind(each: dict[str, Any]) -> str:
    return str(each.get("kind") or each["part"])


def _state(each: dict[str, Any]) -> str:
    return str(each.get("state") or each.get("code") or "waits")


def _text(each: dict[str, Any]) -> str:
    said = each["said"]
    if said is None:
        return "(erased)" if each["erased"] else "(unavailable)"
    return shown_whole(said["text"])
