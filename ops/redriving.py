"""`pmcl deadletters redrive`: a second chance for what could not be dealt with.

A redriven letter goes through the sidecar's own workers and its inbox, once for ever; it leaves the
stream only then. So a redrive can be broken off anywhere and begun again.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final

import anyio
import msgspec

from pmcl.bus import DEADLETTERS, Connection, delete_message
from pmcl.contracts import PmclError, Redrive, Redriven, RefusedError
from pmcl.ops.asking import Operator, open_operator, operator_label
from pmcl.ops.console import console
from pmcl.ops.dead_letters import Wanted, find_letters
from pmcl.ops.progress import Advance, progress
from pmcl.ops.reach import reach_bus
from pmcl.ops.settings import Settings

__all__ = ["RedriveReport", "redrive", "show_redriven"]

_AT_ONCE: Final = 16
"""Half of what the sidecar takes of one sender at once."""


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
    left: Counter[str] = msgspec.field(default_factory=Counter)


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
        found = [view.sequence async for view, _ in find_letters(admin, wanted)]
        report.found = len(found)
        with progress("redrive", len(found), quiet=quiet) as advance:
            redriving = _Redriving(operator, admin, report, _Pace(per_second), advance)
            refused = await redriving.try_all(found)
            await redriving.try_last(refused)


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

    def __init__(
        self,
        operator: Operator,
        admin: Connection,
        report: RedriveReport,
        pace: _Pace,
        advance: Advance,
    ) -> None:
        self._operator = operator
        self._admin = admin
        self._report = report
        self._pace = pace
        self._advance = advance

    async def try_all(self, sequences: Sequence[int]) -> list[int]:
        """Return which letters were refused; some are under way at once."""
        waiting, refused = iter(sequences), list[int]()

        async def work() -> None:
            for sequence in waiting:
                await self._pace.turn()
                if await self._redrive(sequence):
                    self._advance(1)
                else:
                    refused.append(sequence)

        try:
            async with anyio.create_task_group() as tasks:
                for _ in range(_AT_ONCE):
                    tasks.start_soon(work)
        except* PmclError as errors:
            raise errors.exceptions[0] from None
        return refused

    async def try_last(self, sequences: Sequence[int]) -> None:
        """Try letters once more, alone and in order; what is refused now counts as left."""
        for sequence in sorted(sequences):
            await self._pace.turn()
            await self._redrive(sequence, last_try=True)
            self._advance(1)

    async def _redrive(self, sequence: int, *, last_try: bool = False) -> bool:
        """Return whether the letter was dealt with; after the last try it counts as left."""
        report = self._report
        question = Redrive(sequence=sequence, label=operator_label(), dry_run=report.dry_run)
        try:
            redriven = await self._operator.ask("redrive", question, Redriven)
        except RefusedError as refused:
            if last_try:
                report.left[refused.code] += 1
            return False
        if redriven.result == "done":
            report.done += 1
        else:
            report.repeats += 1
        if not report.dry_run:
            with anyio.CancelScope(shield=True):  # bounded by its own timeout
                await delete_message(self._admin, DEADLETTERS, sequence, overwrite=False)
        return True


def show_redriven(report: RedriveReport) -> None:
    """Print for people what a redrive has done, or would do."""
    word = "would be" if report.dry_run else "were"
    console.print(
        f"{report.found} dead letters: {report.done} {word} dealt with, "
        f"{report.repeats} had been before"
    )
    for code, count in sorted(report.left.items()):
        console.print(f"{count} stay: {code}")
