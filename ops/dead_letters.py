"""`pmcl deadletters`: what could not be dealt with, and a second chance for it.

A redriven letter goes through the sidecar's own workers and its inbox, once for ever; it leaves the
stream only then. So a redrive can be broken off anywhere and begun again.
"""

from collections import Counter
from collections.abc import AsyncIterator, Iterator
from typing import Annotated, Any, Final

import anyio
import msgspec

from pmcl.bus import DEADLETTERS, Connection, Message, delete_message, stored_messages, stream_state
from pmcl.contracts import (
    DeadLetter,
    PmclError,
    Redrive,
    Redriven,
    RefusedError,
    decode,
    sha256,
)
from pmcl.judgement import redact
from pmcl.ops.asking import Operator, open_operator, operator_label
from pmcl.ops.console import console, shown_minute, shown_time, shown_whole
from pmcl.ops.lines import print_lines
from pmcl.ops.record.progress import progress
from pmcl.ops.record.reach import reach_bus
from pmcl.ops.rows import print_rows
from pmcl.ops.settings import Settings
from pmcl.ops.state_dir import ledger_key
from pmcl.workers import LETTER_MAX_BYTES

__all__ = [
    "DeadLetterNotFoundError",
    "LetterView",
    "RedriveReport",
    "Wanted",
    "letter_lines",
    "list_letters",
    "read_letter",
    "redrive",
    "show_letter",
    "show_letters",
    "show_redriven",
]

_PAGE: Final = 64
_AT_ONCE: Final = 16
"""Half of what the sidecar takes of one sender at once."""


class DeadLetterNotFoundError(PmclError):
    """No dead letter has this number."""

    def __init__(self, sequence: int) -> None:
        self.sequence = sequence
        super().__init__(f"there is no dead letter {sequence}: see `pmcl deadletters list`")


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """Which dead letters are meant; what is `None` is not asked for.

    Attributes:
        sequence: of the stream DEADLETTERS.
        after: only those behind this number.
        limit: how many, the oldest first.
    """

    sequence: int | None = None
    worker: str | None = None
    reason: str | None = None
    after: int = 0
    limit: Annotated[int, msgspec.Meta(ge=1)] = 256

    def takes(self, letter: "LetterView") -> bool:
        """Return whether a letter is meant, the limit apart."""
        return (
            self.sequence in (None, letter.sequence)
            and self.worker in (None, letter.worker)
            and self.reason in (None, letter.reason)
        )


class LetterView(msgspec.Struct, frozen=True, kw_only=True):
    """One dead letter without its content."""

    sequence: int
    worker: str
    subject: str
    reason: str
    attempts: int
    at: int
    headers: dict[str, str]
    size_bytes: int
    sha256: str


class RedriveReport(msgspec.Struct, kw_only=True):
    """What a redrive has done so far.

    Attributes:
        found: letters that were meant.
        done, repeats: dealt with now, and before; with `dry_run`, what would be.
        left: of those that stay, how many for each code.
    """

    dry_run: bool = False
    found: int = 0
    done: int = 0
    repeats: int = 0
    left: dict[str, int] = msgspec.field(default_factory=Counter)


async def list_letters(settings: Settings, wanted: Wanted) -> dict[str, Any]:
    """Return the letters that are meant, oldest first: `{"letters": [LetterView], "more"}`.

    Raises:
        BusError: the server does not answer.
    """
    async with reach_bus(settings, "admin") as admin:
        letters = [view async for view, _ in _letters(admin, wanted, beyond=1)]
    return {"letters": letters[: wanted.limit], "more": len(letters) > wanted.limit}


async def read_letter(settings: Settings, sequence: int) -> dict[str, Any]:
    """Return one letter and its content, secrets marked: `{"letter", "content"}`.

    Content that is no JSON, or cannot be cleared of secrets, is `None`.

    Raises:
        DeadLetterNotFoundError: there is none.
        BusError: the server does not answer.
    """
    async with reach_bus(settings, "admin") as admin:
        async for view, letter in _letters(admin, Wanted(sequence=sequence)):
            return {"letter": view, "content": _content(settings, letter)}
    raise DeadLetterNotFoundError(sequence)


def _content(settings: Settings, letter: DeadLetter) -> Any:
    key = ledger_key(settings.state_dir, make=False)
    try:
        return redact(msgspec.json.decode(letter.payload), key.secret)
    except (RefusedError, msgspec.DecodeError, UnicodeDecodeError):
        return None


async def redrive(
    settings: Settings,
    wanted: Wanted,
    report: RedriveReport,
    *,
    per_second: float | None = None,
    quiet: bool = True,
) -> None:
    """Have the letters dealt with, the oldest first; `report` is right at every moment.

    Some are under way at once. One that is refused is tried again, alone, when all are through: it
    may cite what another one brought.

    Args:
        settings: name the sidecar.
        wanted: which.
        report: is filled; its `dry_run` says that nothing is changed.
        per_second: at most so many.
        quiet: show no progress.

    Raises:
        NotRunningError: no sidecar answers.
        BusError: the server does not answer.
    """
    async with open_operator(settings) as operator, reach_bus(settings, "admin") as admin:
        found = [view.sequence async for view, _ in _letters(admin, wanted)]
        report.found = len(found)
        pace, redriving = _Pace(per_second), _Redriving(operator, admin, report)
        refused: list[int] = []
        waiting = iter(found)
        with progress("redrive", len(found), quiet=quiet) as advance:

            async def work() -> None:
                for sequence in waiting:
                    await pace.turn()
                    if await redriving.redrive(sequence):
                        advance(1)
                    else:
                        refused.append(sequence)

            try:
                async with anyio.create_task_group() as tasks:
                    for _ in range(_AT_ONCE):
                        tasks.start_soon(work)
            except* PmclError as errors:
                raise errors.exceptions[0] from None
            for sequence in sorted(refused):
                await pace.turn()
                await redriving.redrive(sequence, last_try=True)
                advance(1)


class _Pace:
    """Lets so many begin a second, evenly."""

    def __init__(self, per_second: float | None) -> None:
        self._apart_s = 1 / per_second if per_second else 0.0
        self._due = anyio.current_time()

    async def turn(self) -> None:
        begins = max(self._due, anyio.current_time())
        self._due = begins + self._apart_s
        await anyio.sleep_until(begins)


class _Redriving:
    """Asks for one letter after another to be dealt with, and counts what became of them."""

    def __init__(self, operator: Operator, admin: Connection, report: RedriveReport) -> None:
        self._operator = operator
        self._admin = admin
        self._report = report

    async def redrive(self, sequence: int, *, last_try: bool = False) -> bool:
        """Return whether the letter was dealt with; after the last try it counts as left."""
        report = self._report
        question = Redrive(sequence=sequence, label=operator_label(), dry_run=report.dry_run)
        try:
            redriven = await self._operator.ask("redrive", question, Redriven)
        except RefusedError as refused:
            if last_try:
                report.left[refused.code] = report.left.get(refused.code, 0) + 1
            return False
        if redriven.result == "done":
            report.done += 1
        else:
            report.repeats += 1
        if not report.dry_run:
            with anyio.CancelScope(shield=True):  # bounded by its own timeout
                await delete_message(self._admin, DEADLETTERS, sequence, overwrite=False)
        return True


async def _letters(
    admin: Connection, wanted: Wanted, *, beyond: int = 0
) -> AsyncIterator[tuple[LetterView, DeadLetter]]:
    """Yield the letters that are meant, and as many more than the limit as are asked for."""
    state = await stream_state(admin, DEADLETTERS)
    if state is None or not state.messages:
        return
    left = wanted.limit + beyond
    start = wanted.sequence or max(state.first, wanted.after + 1)
    end = state.last if wanted.sequence is None else wanted.sequence
    for first in range(start, end + 1, _PAGE):
        last = min(first + _PAGE - 1, end)
        for sequence, message in enumerate(
            await stored_messages(admin, DEADLETTERS, first, last), start=first
        ):
            if message is None:
                continue
            letter = decode(message.data, DeadLetter, max_bytes=LETTER_MAX_BYTES)
            view = _view(sequence, message, letter)
            if wanted.takes(view):
                yield view, letter
                left -= 1
                if not left:
                    return


def _view(sequence: int, message: Message, letter: DeadLetter) -> LetterView:
    return LetterView(
        sequence=sequence,
        worker=message.subject.rpartition(".")[2],
        subject=letter.subject,
        reason=letter.reason,
        attempts=letter.attempts,
        at=letter.at,
        headers=letter.headers,
        size_bytes=len(letter.payload),
        sha256=sha256(letter.payload),
    )


def show_letters(found: dict[str, Any]) -> None:
    """Print a list for people."""
    if not found["letters"]:
        console.print("There are no dead letters.")
        return
    names = ("number", "since", "worker", "subject", "reason", "tries", "bytes")
    rows = [
        (
            str(letter.sequence),
            shown_minute(letter.at),
            letter.worker,
            letter.subject,
            shown_whole(letter.reason),
            str(letter.attempts),
            str(letter.size_bytes),
        )
        for letter in found["letters"]
    ]
    print_rows(names, rows)
    if found["more"]:
        console.print("There are more: narrow it with --worker or --reason, or raise --limit.")


def show_letter(found: dict[str, Any]) -> None:
    """Print one letter for people, secrets marked."""
    print_lines(letter_lines(found))


def letter_lines(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what there is to say of a letter, each as a name and a text."""
    letter: LetterView = found["letter"]
    yield "dead letter", str(letter.sequence)
    yield "since", shown_time(letter.at)
    yield "worker", letter.worker
    yield "subject", letter.subject
    yield "reason", f"{shown_whole(letter.reason)}, after {letter.attempts} tries"
    for name, value in letter.headers.items():
        yield name, shown_whole(value)
    yield "content", f"{letter.size_bytes} bytes, SHA-256 {letter.sha256}"
    if found["content"] is not None:
        yield "", shown_whole(found["content"])


def show_redriven(report: RedriveReport) -> None:
    """Print for people what a redrive has done, or would do."""
    word = "would be" if report.dry_run else "were"
    console.print(
        f"{report.found} dead letters: {report.done} {word} dealt with, "
        f"{report.repeats} had been before"
    )
    for code, count in sorted(report.left.items()):
        console.print(f"{count} stay: {code}")
