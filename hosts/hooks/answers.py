"""What the process of a hook is told to print, and to end with.

Gemini CLI takes standard error for the answer where standard output is empty, whatever the exit
code is, so an answer that ends with 0 has nothing there.
"""

from typing import Any, Final, Literal

import msgspec

__all__ = ["GO_ON", "HookAnswer", "printed", "told"]


class HookAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `/v1/hooks/{agent}`; the client prints it.

    Attributes:
        exit_code: 0 for what is printed, 1 for a failure that blocks nothing, 2 to block.
    """

    exit_code: Literal[0, 1, 2] = 0
    stdout: str = ""
    stderr: str = ""


GO_ON: Final = HookAnswer()
"""No objection. Nothing is granted by it: the agent's own rules decide."""


def printed(value: dict[str, Any]) -> HookAnswer:
    """Return the answer that prints one JSON object."""
    return HookAnswer(stdout=msgspec.json.encode(value).decode())


def told(text: str, *, blocks: bool) -> HookAnswer:
    """Return the answer that tells of a failure on standard error; all three agents know it."""
    return HookAnswer(exit_code=2 if blocks else 1, stderr=f"pmcl: {text}\n")
