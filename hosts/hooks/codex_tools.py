"""What the built-in tools of Codex CLI do, for the sidecar's classification.

Its hook sees shell commands as `Bash` and edits as `apply_patch`; it has no tool to read a file.
A rule stands only where the name does not tell.
"""

from typing import Final

from pmcl.contracts import ToolDefinition
from pmcl.hosts.hooks.definitions import of_the_session, tool

__all__ = ["DEFINITIONS", "RULES"]

DEFINITIONS: Final[dict[str, ToolDefinition]] = {
    "Bash": tool("Runs a shell command in the working folder.", command="string"),
    "apply_patch": tool("Adds, updates, moves and deletes files by a patch.", patch="string"),
    "view_image": tool("Shows a picture from the disk.", path="string"),
}

RULES: Final = of_the_session("codex", "request_user_input tool_search update_plan")
