"""`pmcl reflections`: every cycle, how it ended and what it used; and what waits of each host."""

import time
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from pmcl.contracts import LedgerError
from pmcl.judgement import Breaker, GateLimits, breaker
from pmcl.ops.console import console, shown_minute, shown_time, shown_whole
from pmcl.ops.lines import print_lines
from pmcl.ops.reach import check_ledger
from pmcl.ops.reflection import reflection_config
from pmcl.ops.rows import print_rows
from pmcl.ops.settings import Settings
from pmcl.store import Row, load_queries, open_reader

__all__ = [
    "CycleView",
    "HostView",
    "list_reflections",
    "read_reflection",
    "show_cycle",
    "show_reflections",
]

_queries = load_queries("pmcl.ops", "reflections")
_LISTED_MAX: Final = 256

_strings = msgspec.json.Decoder(tuple[str, ...])


class CycleView(msgspec.Struct, frozen=True, kw_only=True):
    """One cycle as an operator sees it; `result` is None while it goes on.

    Attributes:
        claimed_at, ended_at: milliseconds since the epoch.
        turns, idle: the jobs that it is for.
        tokens, ms, cost: what it used; of an open one, what it may use.
        admitted, proposed, rejected, repeated: what became of its proposals.
        findings: codes of what the fixed rules spoke about.
        requeued: that its job waits again.
    """

    cycle_id: str
    scope: str
    host: str
    claim: int
    trigger: str
    attempt: int
    generation: int
    idle: bool
    turns: int
    reflector: str
    claimed_at: int
    ended_at: int | None
    result: str | None
    reason: str | None
    tokens: int
    ms: int
    cost: int
    admitted: int
    proposed: int
    rejected: int
    repeated: int
    findings: tuple[str, ...]
    requeued: bool


class HostView(msgspec.Struct, frozen=True, kw_only=True):
    """What waits of one host.

    Attributes:
        circuit: `open` until `retry_at`, then `half_open` for one attempt.
    """

    scope: str
    host: str
    turns_waiting: int
    idle_waiting: bool
    failures: int
    circuit: Breaker
    retry_at: int | None


async def list_reflections(
    settings: Settings,
    *,
    scope: str | None = None,
    host: str | None = None,
    result: str | None = None,
    limit: int = _LISTED_MAX,
) -> dict[str, Any]:
    """Return the newest cycles, and what waits of hosts: `{"cycles", "more", "hosts"}`.

    Args:
        settings: name the ledger; the sidecar may run meanwhile.
        scope: of this scope alone.
        host: of hosts of this name alone.
        result: cycles that ended this way alone.
        limit: so many cycles at most.

    Raises:
        LedgerError: there is no ledger.
    """
    check_ledger(settings)
    whose = {"scope": scope, "host": host}
    async with open_reader(settings.ledger_path) as reader:
        rows = await reader.all(_queries.listed, **whose, result=result, max_rows=limit + 1)
        hosts = await reader.all(_queries.hosts, **whose, max_rows=_LISTED_MAX)
    limits = reflection_config(settings).limits
    now_ms = time.time_ns() // 1_000_000
    return {
        "cycles": [_cycle(row) for row in rows[:limit]],
        "more": len(rows) > limit,
        "hosts": [_host(row, limits, now_ms) for row in hosts],
    }


async def read_reflection(settings: Settings, cycle_id: str) -> CycleView:
    """Return one cycle. Raises as `list_reflections`, and when there is none."""
    check_ledger(settings)
    async with open_reader(settings.ledger_path) as reader:
        row = await reader.one(_queries.one, cycle_id=cycle_id)
    if row is None:
        raise LedgerError(f"cycle {cycle_id!r} is not in this ledger: see `pmcl reflections list`")
    return _cycle(row)


def _cycle(row: Row) -> CycleView:
    fields = {name: row[name] for name in CycleView.__struct_fields__}
    fields |= {"idle": bool(row["idle"]), "requeued": bool(row["requeued"])}
    return CycleView(**fields | {"findings": _strings.decode(row["findings"])})


def _host(row: Row, limits: GateLimits, now_ms: int) -> HostView:
    retry_at = row["retry_at"] or None
    return HostView(
        scope=row["scope"],
        host=row["host"],
        turns_waiting=row["turns_waiting"],
        idle_waiting=row["idle_lease"] is not None,
        failures=row["failures"],
        circuit=breaker(row["failures"], retry_at, now_ms, limits),
        retry_at=retry_at,
    )


def show_reflections(found: dict[str, Any]) -> None:
    """Print a list for people."""
    if not found["cycles"]:
        console.print("Nothing was reflected on yet.")
    else:
        _show_cycles(found["cycles"])
    if found["more"]:
        console.print("There are more: narrow it with --scope, --host or --result.")
    for host in found["hosts"]:
        for text in _waits(host):
            console.print(f"{host.scope}/{host.host}: {text}", markup=False)


def _show_cycles(cycles: list[CycleView]) -> None:
    names = ("id", "began", "host", "for", "result", "kept", "reflector")
    rows = [
        (
            cycle.cycle_id,
            shown_minute(cycle.claimed_at),
            f"{cycle.scope}/{cycle.host}",
            _job(cycle),
            _end(cycle),
            str(cycle.admitted + cycle.proposed),
            shown_whole(cycle.reflector),
        )
        for cycle in cycles
    ]
    print_rows(names, rows)


def _job(cycle: CycleView) -> str:
    turns = f"{cycle.turns} turns" if cycle.turns else ""
    return " and ".join(filter(None, (turns, "idle" if cycle.idle else "")))


def _end(cycle: CycleView) -> str:
    return "goes on" if cycle.result is None else f"{cycle.result} {cycle.reason or ''}".strip()


def _waits(host: HostView) -> Iterator[str]:
    if host.turns_waiting or host.idle_waiting:
        idle = ", and an idle job" if host.idle_waiting else ""
        yield f"{host.turns_waiting} turns wait{idle}"
    if host.failures:
        until = f" until {shown_time(host.retry_at)}" if host.circuit != "half_open" else ""
        yield f"{host.failures} failures in a row, circuit {host.circuit}{until}"


def show_cycle(cycle: CycleView) -> None:
    """Print one cycle for people."""
    print_lines(_lines(cycle))


def _lines(cycle: CycleView) -> Iterator[tuple[str, str]]:
    yield "cycle", cycle.cycle_id
    yield "host", f"{cycle.scope}/{cycle.host}, generation {cycle.generation}"
    yield "for", _job(cycle)
    yield "claim", f"{cycle.claim}, attempt {cycle.attempt}"
    yield "reflector", shown_whole(cycle.reflector)
    yield "began", shown_time(cycle.claimed_at)
    yield "ended", shown_time(cycle.ended_at) or "not yet"
    yield "result", _end(cycle)
    yield "used", f"{cycle.tokens} tokens, {cycle.ms} ms, {cycle.cost} millionths"
    yield "admitted", str(cycle.admitted)
    yield "waiting", f"{cycle.proposed} changes of the self-model"
    yield "rejected", str(cycle.rejected)
    yield "repeated", str(cycle.repeated)
    for finding in cycle.findings:
        yield "found", finding
    if cycle.requeued:
        yield "again", "its job waits"
