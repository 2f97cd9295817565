"""The `pmcl` command. Every command has `--json`; an error is one clear line and exit code 1."""

import sys

from pmcl.contracts import PmclError
from pmcl.ops.commands import app
from pmcl.ops.console import console

__all__ = ["app", "main"]


def main() -> None:
    """Run the command line; known errors are told in one line."""
    try:
        app()
    except PmclError as error:
        console.stderr = True
        console.print(f"pmcl: {error}", style="red", soft_wrap=True, markup=False)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
