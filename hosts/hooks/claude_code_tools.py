"""What the built-in tools of Claude Code do, for the sidecar's classification.

A definition says what the tool does, in words of ours. Where it names a thing, the user's words
must ask for a thing of that kind; editing is asked for in too many words for that. A rule stands
only where the name does not tell. Tools that start something (`Agent`, `Skill`, `CronCreate` and
others) have none, so they stay what they look like.
"""

from typing import Final

from pmcl.contracts import ToolDefinition
from pmcl.hosts.hooks.definitions import of_the_session, tool

__all__ = ["DEFINITIONS", "RULES"]

DEFINITIONS: Final[dict[str, ToolDefinition]] = {
    "Bash": tool(
        "Runs a shell command in the working folder.",
        command="string",
        description="string",
        run_in_background="boolean",
        timeout="number",
    ),
    "Edit": tool(
        "Replaces one string by another.",
        file_path="string",
        old_string="string",
        new_string="string",
        replace_all="boolean",
    ),
    "Glob": tool("Finds files by a pattern.", pattern="string", path="string"),
    "Grep": tool("Searches files for a pattern.", pattern="string", path="string", glob="string"),
    "LS": tool("Lists a folder.", path="string"),
    "MultiEdit": tool(
        "Replaces several strings by others.",
        file_path="string",
        edits="array",
    ),
    "NotebookEdit": tool(
        "Replaces, inserts or deletes a cell of a notebook.",
        notebook_path="string",
        new_source="string",
        edit_mode="string",
    ),
    "Read": tool("Reads a file.", file_path="string", offset="number", limit="number"),
    "WebFetch": tool("Fetches a web page.", url="string", prompt="string"),
    "WebSearch": tool("Searches the web.", query="string"),
    "Write": tool(
        "Writes what it is given, whole.",
        file_path="string",
        content="string",
    ),
}

RULES: Final = of_the_session(
    "claude-code",
    "AskUserQuestion BashOutput EnterPlanMode ExitPlanMode TaskCreate TaskGet TaskList TaskOutput "
    "TaskUpdate TodoWrite ToolSearch",
)
