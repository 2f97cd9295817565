"""What the commands print: one console for people, one line of JSON for programs, logs apart."""

import logging
import sys
from typing import Any

import msgspec
import structlog
from rich.console import Console

__all__ = ["configure_logs", "console", "print_json"]

console = Console(highlight=False)


def print_json(value: Any) -> None:
    """Write `value` as one line of JSON on standard output."""
    sys.stdout.write(msgspec.json.encode(value).decode() + "\n")
    sys.stdout.flush()


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
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
