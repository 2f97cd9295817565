"""`pmcl replay`: a part of INTAKE is handed to its workers once more.

What was done stays as it is, since the inbox decides. The sidecar keeps nothing about a replay: the
next sequence is all that it takes to go on, so one can be broken off anywhere.
"""

from collections.abc import Sequence
from typing import Final

import anyio
import msgspec

from pmcl.bus import DURABLES, INTAKE, Connection, find_place, stream_state
from pmcl.contracts import (
    BusError,
    ContractError,
    Replay,
    Replayed,
    Selection,
    check_token,
    limits,
    parse_subject,
)
from pmcl.ops.asking import open_operator, operator_label
from pmcl.ops.console import console, shown_whole
from pmcl.ops.misuse import MisuseError
from pmcl.ops.progress import progress
from pmcl.ops.reach import reach_bus
from pmcl.ops.settings import Settings

__all__ = ["ReplayReport", "Stretch", "replay", "show_replay"]

_STEPS_A_SECOND: Final = 4
"""How often a replay with a rate goes on, so that the rate is even."""


class Stretch(msgspec.Struct, frozen=True, kw_only=True):
    """Which part of INTAKE is meant; what is `None` is not asked for.

    Attributes:
        first, last: sequences of the stream, both included.
        since_ms, until_ms: when the stream stored the message; the end is not included.
    """

    selection: Selection = Selection()
    first: int | None = None
    last: int | None = None
    since_ms: int | None = None
    until_ms: int | None = None

    def __post_init__(self) -> None:
        if self.first is not None and self.last is not None and self.first > self.last:
            raise MisuseError(f"from is {self.first}, allowed: at most to, which is {self.last}")
        since_ms, until_ms = self.since_ms, self.until_ms
        if since_ms is not None and until_ms is not None and since_ms >= until_ms:
            raise MisuseError("since is not before until: no message lies between them")


class ReplayReport(msgspec.Struct, kw_only=True):
    """What a replay has done so far.

    Attributes:
        first, last: the sequences between which it goes, as found when it began.
        next: where it goes on; behind `last` once it is through.
        messages: how many are meant in all.
        repeats: had been dealt with before; nothing happened.
        done, refused: recorded now, the refused ones by code; with `dry_run`, would be.
        left: failed and still to be done, by reason.
    """

    dry_run: bool = False
    first: int = 1
    last: int = 0
    next: int = 1
    messages: int = 0
    repeats: int = 0
    done: int = 0
    refused: dict[str, int] = msgspec.field(default_factory=dict)
    left: dict[str, int] = msgspec.field(default_factory=dict)

    @property
    def is_through(self) -> bool:
        """Whether every message was handed on."""
        return self.next > self.last


async def replay(
    settings: Settings,
    stretch: Stretch,
    report: ReplayReport,
    *,
    per_second: float | None = None,
    quiet: bool = True,
) -> None:
    """Have the messages handed on, a page at a time; `report` is right at every moment.

    Args:
        settings: name the sidecar.
        stretch: which messages.
        report: is filled; its `dry_run` says that nothing is changed.
        per_second: at most so many.
        quiet: show no progress.

    Raises:
        ContractError: there is no such worker, or scope or host is no token.
        NotRunningError: no sidecar answers.
        RefusedError: it is busy, or cannot write; what was reported stands.
        BusError: the server does not answer.
    """
    subjects = _subjects(stretch.selection)
    async with open_operator(settings) as operator, reach_bus(settings, "admin") as admin:
        await _find(admin, subjects, stretch, report)
        due = anyio.current_time()
        with progress("replay", report.messages, quiet=quiet) as advance:
            while not report.is_through:
                await anyio.sleep_until(due)
                limit = _limit(per_second)
                question = Replay(
                    first=report.next,
                    last=report.last,
                    selection=stretch.selection,
                    limit=limit,
                    label=operator_label(),
                    dry_run=report.dry_run,
                )
                answer = await operator.ask("replay", question, Replayed)
                handed_on = _count(report, answer)
                due += handed_on / per_second if per_second else 0.0
                advance(handed_on)


def _limit(per_second: float | None) -> int:
    if per_second is None:
        return limits.REPLAY_PAGE_MAX
    return min(max(1, int(per_second / _STEPS_A_SECOND)), limits.REPLAY_PAGE_MAX)


def _count(report: ReplayReport, answer: Replayed) -> int:
    """Add a page to the report and return how many messages it had."""
    if answer.through < report.next:
        raise BusError(f"the sidecar stands still at {report.next} of {INTAKE}")
    report.next = answer.through + 1
    report.repeats += answer.repeats
    report.done += answer.done
    for total, page in ((report.refused, answer.refused), (report.left, answer.left)):
        for code, count in page.items():
            total[code] = total.get(code, 0) + count
    failed = sum(answer.refused.values()) + sum(answer.left.values())
    return answer.repeats + answer.done + failed


async def _find(
    admin: Connection, subjects: Sequence[str], stretch: Stretch, report: ReplayReport
) -> None:
    """Fill in where the replay begins and ends, and how many messages are meant."""
    state = await stream_state(admin, INTAKE)
    last = 0 if state is None else state.last
    first = max(1, stretch.first or 1)
    if stretch.since_ms is not None:
        found = await find_place(admin, INTAKE, subjects, since_ms=stretch.since_ms)
        first = max(first, found.sequence)
    if stretch.until_ms is not None:
        found = await find_place(admin, INTAKE, subjects, since_ms=stretch.until_ms)
        last = min(last, found.sequence - 1)
    if stretch.last is not None:
        last = min(last, stretch.last)
    report.first = report.next = first
    report.last = last
    if first <= last:
        begin = await find_place(admin, INTAKE, subjects, first=first)
        beyond = await find_place(admin, INTAKE, subjects, first=last + 1)
        report.messages = begin.messages - beyond.messages


def _subjects(selection: Selection) -> Sequence[str]:
    for field, value in (("scope", selection.scope), ("host", selection.host)):
        if value is not None:
            check_token(field, value)
    workers = DURABLES if selection.worker is None else (selection.worker,)
    if not set(workers) <= DURABLES.keys():
        raise ContractError("worker", selection.worker, ", ".join(DURABLES))
    kinds = [parse_subject(DURABLES[worker].replace("*", "a")).kind for worker in workers]
    return [selection.subject(kind) for kind in kinds]


def show_replay(report: ReplayReport) -> None:
    """Print for people what a replay has done, or would do."""
    word = "would be" if report.dry_run else "were"
    console.print(
        f"{report.messages} messages of {INTAKE} from {report.first} to {report.last}: "
        f"{report.done} {word} recorded, {report.repeats} had been before",
        soft_wrap=True,
    )
    for code, count in sorted(report.refused.items()):
        console.print(f"{count} {word} refused: {shown_whole(code)}", markup=False)
    for reason, count in sorted(report.left.items()):
        console.print(f"{count} failed, and stay: {shown_whole(reason)}", markup=False)
    if not report.is_through:
        console.print(
            f"Stopped before {report.next}; --from {report.next} --to {report.last} goes on.",
            soft_wrap=True,
        )
