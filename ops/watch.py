"""`pmcl watch`: what the sidecar decides, as it becomes true; LOG tells it after each commit.

Nothing is asked of the workers. A terminal that cannot keep up loses lines and is told how many.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, Final

import anyio
import msgspec

from pmcl.bus import STREAM_SEQUENCE, Message
from pmcl.contracts import (
    EVENTS,
    STORED_PREFIX,
    Evaluated,
    Event,
    HoldPlaced,
    HoldReleased,
    OutcomeLinked,
    OutcomeListed,
    ReflectionEnded,
    Refused,
    RefusedError,
    check_token,
    decode,
)
from pmcl.ops.asking import open_operator
from pmcl.ops.console import print_json, shown_time, shown_whole
from pmcl.ops.lines import print_line
from pmcl.ops.settings import Settings

__all__ = ["Seen", "print_watched", "watch"]

_WAITING_MAX: Final = 1024
_QUIET: Final = (
    "evidence-recorded",
    "lease-began",
    "lease-renewed",
    "number-closed",
    "reflection-claimed",
)


_IDS: Final = ("hold_id", "approval_id", "item_id", "cycle_id", "erasure_id", "evaluation_id")
"""What a command takes, the narrowest first."""
_INDENT: Final = 10


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """One event of LOG.

    Attributes:
        sequence: of LOG and of the journal.
        name: of the event, as its subject has it.
        event: as JSON, content-free.
        skipped: how many before it were lost since nobody read them in time.
    """

    sequence: int
    name: str
    event: dict[str, Any]
    skipped: int = 0


class _Inlet:
    """Takes messages off the bus and never waits."""

    def __init__(self) -> None:
        self.send, self.receive = anyio.create_memory_object_stream[tuple[Message, int]](
            _WAITING_MAX
        )
        self._skipped = 0

    def take(self, message: Message) -> None:
        try:
            self.send.send_nowait((message, self._skipped))
        except anyio.WouldBlock:
            self._skipped += 1
        else:
            self._skipped = 0


async def watch(
    settings: Settings, *, scope: str | None = None, host: str | None = None, all_: bool = False
) -> AsyncGenerator[Seen, None]:
    """Yield events from now on, for ever.

    Args:
        settings: name the sidecar.
        scope: of this scope alone.
        host: of hosts of this name alone.
        all_: also leases, observations and closed numbers.

    Raises:
        ContractError: scope or host is no token.
        NotRunningError: no sidecar answers.
    """
    within = ".".join(
        "*" if value is None else check_token(field, value)
        for field, value in (("scope", scope), ("host", host))
    )
    async with open_operator(settings) as operator:
        inlet = _Inlet()
        with inlet.send, inlet.receive:
            await operator.subscribe(f"{STORED_PREFIX}.event.{within}.>", inlet.take)
            async for message, skipped in inlet.receive:
                seen = _seen(message, skipped)
                if all_ or seen.name not in _QUIET:
                    yield seen


def _seen(message: Message, skipped: int) -> Seen:
    return Seen(
        sequence=int(message.headers.get(STREAM_SEQUENCE, "0")),
        name=message.subject.rpartition(".")[2],
        event=msgspec.json.decode(message.data),
        skipped=skipped,
    )


async def print_watched(settings: Settings, *, as_json: bool, **wanted: Any) -> None:
    """Print events as lines, or as lines of JSON, until it is stopped. Raises as `watch`."""
    async with aclosing(watch(settings, **wanted)) as events:
        async for seen in events:
            print_json(seen) if as_json else print_line(_line(seen), indent=_INDENT)


def _line(seen: Seen) -> str:
    event = seen.event
    whose = f"{event['scope']}/{event['host']}"
    skipped = f"  ({seen.skipped} lines were skipped)" if seen.skipped else ""
    at = shown_time(event["at_ms"], "%H:%M:%S")
    about = shown_whole(_about(event))
    return f"{at}  {seen.name:<18}  {whose:<20}  {about:<26}  {_told(event)}{skipped}".rstrip()


def _about(event: dict[str, Any]) -> str:
    """Return the id to go on with, "" where no command takes one."""
    known = {**event, "evaluation_id": _evaluation_id(event)}
    return next((str(known[name]) for name in _IDS if known.get(name)), "")


def _evaluation_id(event: dict[str, Any]) -> str | None:
    """Return the evaluation that an event is about, be it by an outcome."""
    outcome = event.get("outcome")
    inner = outcome.get("evaluation_id") if isinstance(outcome, dict) else None
    return event.get("evaluation_id", inner)


def _told(event: dict[str, Any]) -> str:
    """Return what an event is about, in a few words."""
    try:
        known = decode(msgspec.json.encode(event), *EVENTS)
    except RefusedError:
        return str(event.get("schema"))  # of a newer version
    return shown_whole(_words(known))


def _words(event: Event) -> str:
    match event:
        case Evaluated():
            reasons = ", ".join(event.reasons)
            return f"{event.status:<8}  {event.effect}  {event.server}/{event.tool}  {reasons}"
        case HoldPlaced():
            return f"{event.effect}  {event.reason}"
        case HoldReleased():
            return f"by {len(event.evidence_ids)} evidence ids"
        case Refused():
            return f"{event.code}: {event.field}"
        case OutcomeLinked():
            mode = event.outcome.failure_mode or ""
            return f"{event.outcome.status}  {mode}  by the {event.reported_by}"
        case OutcomeListed():
            return f"{event.outcome.status}: {event.reason}"
        case ReflectionEnded():
            return f"{event.result}  {event.reason}  {event.counts.admitted} admitted"
        case _:
            return ""
