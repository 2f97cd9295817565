"""`pmcl holds`: what is held, since when, why, and what would lift it; nothing is changed.

The ledger keeps keyed digests of what a hold is on. The words are the payload's of the evaluation
that placed it: where that was erased, only the digests are left.
"""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from pmcl.contracts import CheckpointRequest, HoldLift, LedgerError, Resource
from pmcl.judgement import fallback_resource
from pmcl.ledger import LedgerKey
from pmcl.ledger.evaluations import Judged
from pmcl.ops.console import console, shown_minute, shown_time, shown_whole
from pmcl.ops.lifting import operators_part
from pmcl.ops.lines import print_lines, print_none, shown_resources
from pmcl.ops.reach import check_ledger
from pmcl.ops.rows import print_rows
from pmcl.ops.settings import Settings
from pmcl.ops.state_dir import ledger_key
from pmcl.store import Row, load_queries, open_reader

__all__ = ["LIFTS", "HoldView", "hold_lines", "list_holds", "read_hold", "show_hold", "show_holds"]

_queries = load_queries("pmcl.ops", "holds")
_LISTED_MAX: Final = 256
_SUMMARY_CHARS: Final = 72

LIFTS: Final[dict[HoldLift, str]] = {
    "evidence_about_resource": "evidence about one of the resources that no model wrote, of the "
    "host's living generation and not cited before, shown with the proposal",
    "trusted_value": "words of the user or the operator that ask for the effect and name the "
    "value, said to the agent, whose hook records them; no command of pmcl lifts it",
}
"""What lifts a hold, in words."""

_strings = msgspec.json.Decoder(tuple[str, ...])
_judged = msgspec.json.Decoder(Judged)


class HoldView(msgspec.Struct, frozen=True, kw_only=True):
    """One hold as an operator sees it.

    Attributes:
        since, released_at: milliseconds since the epoch.
        lifted_by: what would lift it, in words.
        resources: what it is on; `None` when the payload was erased.
        resource_keys: the keyed digests by which the ledger knows them.
        cited: evidence that lifts nothing any more, since it was shown before.
        reasons: for all of which the call that placed it was held; empty when that was erased.
        operators_part: what of these an operator alone can lift, and how; only of one that was
            asked for by itself.
        goal, arguments: of the call that placed it; `None` when that was erased.
        said: what the model was told.
    """

    hold_id: str
    scope: str
    host: str
    effect: str
    reason: str
    since: int
    server: str | None
    tool: str | None
    lift: str
    lifted_by: str
    resources: tuple[Resource, ...] | None
    resource_keys: tuple[str, ...]
    cited: tuple[str, ...]
    reasons: tuple[str, ...] = ()
    operators_part: tuple[str, ...] = ()
    goal: str | None = None
    arguments: dict[str, Any] | None = None
    said: str | None = None
    released_at: int | None = None
    released_by: str | None = None


async def list_holds(
    settings: Settings,
    *,
    scope: str | None = None,
    reason: str | None = None,
    before: str | None = None,
    limit: int = _LISTED_MAX,
) -> dict[str, Any]:
    """Return the open holds, newest first: `{"holds": [HoldView], "more": bool}`.

    With it `"others"` are told where none has the reason: how many there are of each reason.

    Args:
        settings: name the ledger; the sidecar may run meanwhile.
        scope: of this scope alone.
        reason: of this reason alone.
        before: only what is older than the hold of this id.
        limit: so many at most.

    Raises:
        LedgerError: there is no ledger.
        LedgerKeyMissingError: its key is gone.
    """
    key = _key(settings)
    async with open_reader(settings.ledger_path) as reader:
        rows = await reader.all(
            _queries.open, scope=scope, reason=reason, before=before, max_rows=limit + 1
        )
        others = [] if rows or reason is None else await reader.all(_queries.reasons, scope=scope)
    return {
        "holds": [_view(key, row) for row in rows[:limit]],
        "more": len(rows) > limit,
        "others": {row["reason"]: row["holds"] for row in others},
    }


async def read_hold(settings: Settings, hold_id: str) -> HoldView:
    """Return one hold, open or released. Raises as `list_holds`, and when there is none."""
    key = _key(settings)
    async with open_reader(settings.ledger_path) as reader:
        row = await reader.one(_queries.one, hold_id=hold_id)
    if row is None:
        raise LedgerError(f"hold {hold_id!r} is not in this ledger: see `pmcl holds list`")
    judged = _judged_of(row)
    part = () if judged is None else tuple(operators_part(settings, judged))
    return msgspec.structs.replace(_view(key, row), operators_part=part)


def _key(settings: Settings) -> LedgerKey:
    check_ledger(settings)
    return ledger_key(settings.state_dir, make=False)


def _judged_of(row: Row) -> Judged | None:
    return None if row["content"] is None else _judged.decode(row["content"])


def _view(key: LedgerKey, row: Row) -> HoldView:
    judged = _judged_of(row)
    keys = _strings.decode(row["resource_keys"])
    return HoldView(
        hold_id=row["hold_id"],
        scope=row["scope"],
        host=row["host"],
        effect=row["effect"],
        reason=row["reason"],
        since=row["placed_at"],
        server=row["server"],
        tool=row["tool"],
        lift=row["lift"],
        lifted_by=LIFTS[row["lift"]],
        resources=None
        if judged is None
        else _named(key, row["scope"], judged.inputs.request, keys),
        resource_keys=keys,
        cited=_strings.decode(row["cited"]),
        reasons=() if judged is None else judged.evaluation.reasons,
        goal=None if judged is None else judged.inputs.request.goal,
        arguments=None if judged is None else judged.inputs.request.arguments,
        said=None if judged is None else judged.evaluation.revision_request,
        released_at=row["released_at"],
        released_by=row["released_by"],
    )


def _named(
    key: LedgerKey, scope: str, request: CheckpointRequest, keys: tuple[str, ...]
) -> tuple[Resource, ...]:
    """Return those of the request's resources that the hold is on."""
    resources = request.resources or (fallback_resource(request.tool, request.arguments),)
    return tuple(resource for resource in resources if key.resource(scope, resource) in keys)


def show_holds(found: dict[str, Any]) -> None:
    """Print a list for people."""
    if not found["holds"]:
        print_none("Nothing is held.", found["others"])
        return
    names = ("id", "since", "host", "effect", "reason", "call", "goal", "on")
    rows = [
        (
            hold.hold_id,
            shown_minute(hold.since),
            f"{hold.scope}/{hold.host}",
            hold.effect,
            hold.reason,
            _call(hold),
            _cut(hold.goal or ""),
            _resources(hold),
        )
        for hold in found["holds"]
    ]
    print_rows(names, rows)
    if found["more"]:
        console.print("There are more: narrow it with --scope or --reason.")


def show_hold(hold: HoldView) -> None:
    """Print one hold for people."""
    print_lines(hold_lines(hold))


def hold_lines(hold: HoldView) -> Iterator[tuple[str, str]]:
    """Yield what there is to say of a hold, each as a name and a text."""
    yield "hold", hold.hold_id
    yield "state", "held" if hold.released_at is None else "released"
    yield "since", shown_time(hold.since)
    yield "host", f"{hold.scope}/{hold.host}"
    yield "tool", shown_whole(f"{hold.server}/{hold.tool}")
    yield "effect", hold.effect
    yield "on", _resources(hold)
    yield from _reasons(hold)
    for evidence_id in hold.cited:
        yield "cited", f"{evidence_id}: pmcl evidence show"
    if hold.goal is not None:
        yield "goal", shown_whole(hold.goal)
    if hold.arguments is not None:
        yield "arguments", shown_whole(hold.arguments)
    if hold.said is not None:
        yield "told", shown_whole(hold.said)
    if hold.released_at is not None:
        yield "released", f"{shown_time(hold.released_at)} by {hold.released_by}"


def _reasons(hold: HoldView) -> Iterator[tuple[str, str]]:
    """Yield why it is held and what lifts it, and the same of the call that placed it."""
    yield "reason", hold.reason
    yield "lifted by", hold.lifted_by
    for reason in hold.reasons:
        if reason != hold.reason:
            yield "and", reason
    for told in hold.operators_part:
        yield "lifted by", shown_whole(told)


def _call(hold: HoldView) -> str:
    """Return the tool, and as much of its arguments as tells one call from another."""
    arguments = hold.arguments or {}
    said = arguments.get("command", arguments)
    return " ".join(filter(None, (shown_whole(hold.tool), said and _cut(said))))


def _cut(value: Any) -> str:
    text = shown_whole(value)
    return text if len(text) <= _SUMMARY_CHARS else f"{text[:_SUMMARY_CHARS]}…"


def _resources(hold: HoldView) -> str:
    if hold.resources is None:
        return f"{len(hold.resource_keys)} resources whose names were erased"
    return shown_resources(hold.resources)
