"""What the commands print: one console for people, one line of JSON for programs, logs apart."""

import io
import json
import logging
import os
import sys
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Final, TextIO, cast

import msgspec
import structlog
from rich.console import Console
from rich.segment import Segment, Segments

__all__ = [
    "configure_logs",
    "console",
    "open_streams",
    "print_json",
    "print_raw",
    "screen_width",
    "shown_minute",
    "shown_time",
    "shown_whole",
]

_PIPE_WIDTH: Final = 500
"""Nothing that goes into a file or another program is cut to the width of a screen."""

console = Console(
    highlight=False,
    emoji=False,  # what a model wrote is shown as it stands
    width=None
    if (sys.stdout is not None and sys.stdout.isatty()) or "COLUMNS" in os.environ
    else _PIPE_WIDTH,
)


def screen_width() -> int | None:
    """Return how wide the screen is; `None` where a line may be of any length."""
    return None if console.width >= _PIPE_WIDTH else console.width


def open_streams() -> None:
    """Standard input, output and error are there: what was closed leads nowhere.

    Otherwise the next file or socket that is opened takes the number, and is written to.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free
            setattr(sys, name, os.fdopen(number, "r" if number == 0 else "w"))


def print_json(value: Any) -> None:
    """Write `value` as one line of JSON on standard output."""
    sys.stdout.write(msgspec.json.encode(value).decode() + "\n")
    sys.stdout.flush()


def print_raw(text: str) -> None:
    """Print a text as it is: one that is printed otherwise has its tabs made spaces."""
    console.print(Segments([Segment(text)]), soft_wrap=True, end="")


def shown_time(at_ms: int | None, form: str = "%Y-%m-%d %H:%M:%SZ") -> str:
    """Return milliseconds since the epoch as UTC, "" for none."""
    return "" if at_ms is None else datetime.fromtimestamp(at_ms / 1000, UTC).strftime(form)


def shown_minute(at_ms: int | None) -> str:
    """Return month, day and minute of milliseconds since the epoch, in UTC, "" for none."""
    return shown_time(at_ms, "%m-%d %H:%M")


def shown_whole(value: Any) -> str:
    """Return a value as JSON, never cut; what does not print is escaped, so that nothing hides."""
    if value is None:
        return "missing"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


class _LogLines(io.TextIOBase):
    """Standard error, whose lines may be lost: a full disk must not end those who log."""

    def write(self, text: str, /) -> int:
        with suppress(OSError):
            sys.stderr.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            sys.stderr.flush()


def configure_logs(level: str) -> None:
    """Write structured logs of `level` and above to standard error, one JSON object a line."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelName(level.upper())),
        logger_factory=structlog.PrintLoggerFactory(cast("TextIO", _LogLines())),
        cache_logger_on_first_use=True,
    )
