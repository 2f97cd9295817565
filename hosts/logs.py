"""A host's standard output is its own: an agent's protocol may run there."""

import logging
import sys

import structlog

__all__ = ["keep_logs_off_stdout"]


def keep_logs_off_stdout() -> None:
    """Have warnings and errors go to standard error, unless the program configured structlog."""
    if not structlog.is_configured():
        structlog.configure(
            wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
            # Looked up line by line: who exchanges it for a while may close what stood in for it.
            logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
        )
