"""The `pmcl` command. An error is one clear line; exit codes are those of docs/commands.md."""

import os
import sys
from typing import Final

from cyclopts import CycloptsError

from pmcl.contracts import PmclError
from pmcl.ops.commands import app
from pmcl.ops.console import console, open_streams, shown_whole
from pmcl.ops.misuse import MisuseError
from pmcl.ops.start import STOPPED

__all__ = ["app", "main"]

_FAILED: Final = 1
_BLOCKS: Final = 2
_MISUSED: Final = 64


def main() -> None:
    """Run the command line; known errors are told in one line."""
    open_streams()
    try:
        app(exit_on_error=False, print_error=False)
    except CycloptsError as error:
        _tell(_misused(error))
        # Coding agents run a tool after any code of a hook but 2, so a mistyped hook blocks.
        sys.exit(_BLOCKS if sys.argv[1:2] == ["hook"] and not _installs() else _MISUSED)
    except MisuseError as error:
        _tell(error)
        sys.exit(_MISUSED)
    except PmclError as error:
        _tell(error)
        sys.exit(_FAILED)
    except KeyboardInterrupt:
        sys.exit(STOPPED)
    except BrokenPipeError:
        # Whoever read has enough; what is still buffered must not fail again at the exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(_FAILED)
    except OSError as error:
        _tell(f"{error.filename or type(error).__name__}: {error.strerror}")
        sys.exit(_FAILED)


def _installs() -> bool:
    return sys.argv[2:3] in (["install"], ["uninstall"])


def _misused(error: CycloptsError) -> str:
    """Return in one line what was not understood, and where the help for it is."""
    said, words = " ".join(str(error).split()), " ".join(error.command_chain or ())
    return f"{said} See `pmcl {words} --help`.".replace("pmcl  --", "pmcl --")


def _tell(error: object) -> None:
    console.stderr = True
    console.print(f"pmcl: {shown_whole(str(error))}", style="red", soft_wrap=True, markup=False)
