"""How far long work has got, on standard error, for people alone."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

__all__ = ["Advance", "progress"]

Advance = Callable[[int], None]
"""Tells that so many more are done."""


@contextmanager
def progress(what: str, total: int, *, quiet: bool) -> Iterator[Advance]:
    """Show a bar until the block ends; none when `quiet`, or where no terminal is."""
    screen = Console(stderr=True)
    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    hidden = quiet or not screen.is_terminal
    with Progress(*columns, console=screen, transient=True, disable=hidden) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.advance(task, done)
