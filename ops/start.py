"""Where `pmcl` begins: until its modules are there, Ctrl-C ends it without a word.

Python itself would print a traceback. What is imported here takes time as well, so it is little.
"""

import os
import signal

__all__ = ["STOPPED", "main"]

STOPPED = 130
"""Exit code after Ctrl-C."""


def main() -> None:
    """Run the command line. Whoever ignores Ctrl-C for us, as `nohup` does, goes on doing so."""
    heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if heard:
        signal.signal(signal.SIGINT, _end)
    from pmcl.ops.cli import main as run

    if heard:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run()


def _end(_number: int, _frame: object) -> None:
    os._exit(STOPPED)  # nothing has begun that would have to be ended
