"""What the built-in tools of Gemini CLI do, for the sidecar's classification.

A rule stands only where the name does not tell.
"""

from typing import Final

from pmcl.contracts import ToolDefinition
from pmcl.hosts.hooks.definitions import of_the_session, tool
from pmcl.judgement import EffectRules, ToolRule

__all__ = ["DEFINITIONS", "RULES"]

DEFINITIONS: Final[dict[str, ToolDefinition]] = {
    "glob": tool("Finds files by a pattern.", pattern="string", dir_path="string"),
    "google_web_search": tool("Searches the web.", query="string"),
    "grep_search": tool("Searches files for a pattern.", pattern="string", dir_path="string"),
    "list_directory": tool("Lists a folder.", dir_path="string"),
    "read_file": tool("Reads a file.", file_path="string"),
    "read_many_files": tool("Reads files.", include="array", exclude="array"),
    "replace": tool(
        "Replaces one string by another.",
        file_path="string",
        old_string="string",
        new_string="string",
    ),
    "run_shell_command": tool(
        "Runs a shell command in a folder.",
        command="string",
        description="string",
        dir_path="string",
        is_background="boolean",
    ),
    "save_memory": tool("Writes a fact into the agent's memory file.", fact="string"),
    "web_fetch": tool("Fetches the web pages that the prompt names.", prompt="string"),
    "write_file": tool("Writes a file, whole.", file_path="string", content="string"),
}

RULES: Final = of_the_session(
    "gemini", "ask_user enter_plan_mode exit_plan_mode write_todos"
).merged(EffectRules(tools={"gemini/google_web_search": ToolRule(effect="network")}))
