"""Becomes the command that it is given, which then ends with the guard, even by kill -9.

Run by path, with the standard library alone: `launch.py GUARD_PID COMMAND...`.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def _main(guard: int, command: list[str]) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != guard:
        sys.exit(1)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, the command may not
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvp(command[0], command)  # noqa: S606 - the command is what the operator named
    except OSError as error:
        sys.stderr.write(f"pmcl: {command[0]} cannot be run: {error.strerror}\n")
        sys.exit(127)


if __name__ == "__main__":
    _main(int(sys.argv[1]), sys.argv[2:])
