"""Gemini CLI: its events, its answers, its settings.

It gives calls no id: the two events of one call are those of the same session, tool and
arguments, in their order. Standard error of a process that ends well is taken for its answer.
Source: the documents and code bundled with `@google/gemini-cli` 0.61.0.
"""

import os
import re
from pathlib import Path
from typing import Any, Final

import msgspec

from pmcl.contracts import Resource, canonical, sha256
from pmcl.hosts.adapter import ToolCall
from pmcl.hosts.hooks.agent import (
    CANARY_SESSION,
    Agent,
    Registration,
    fitting,
    mcp_tool,
    outside_server,
)
from pmcl.hosts.hooks.answers import HookAnswer, printed
from pmcl.hosts.hooks.events import (
    AfterTool,
    BeforeTool,
    Event,
    Said,
    SessionEnded,
    Started,
    TurnEnded,
)
from pmcl.hosts.hooks.gemini_tools import DEFINITIONS, RULES
from pmcl.hosts.hooks.outputs import text_of

__all__ = ["GEMINI"]

_NAME: Final = "gemini"
_TIMEOUT_MS: Final = 15_000
_FILES: Final = "\n--- Content from referenced files ---"
_context = re.compile(r"<hook_context>.*?</hook_context>", re.DOTALL)
_url_host = re.compile(r"https?://([^\s/?#\"'<>()]+)", re.IGNORECASE)
_exit_code = re.compile(r"^Exit Code: ([1-9]\d{0,2})$", re.MULTILINE)


class _Base(msgspec.Struct, kw_only=True):
    session_id: str
    cwd: str


class _Mcp(msgspec.Struct, kw_only=True):
    server_name: str
    tool_name: str


class _Tool(_Base, kw_only=True):
    tool_name: str
    tool_input: dict[str, Any]
    mcp_context: _Mcp | None = None
    tool_response: Any = None


class _Prompt(_Base, kw_only=True):
    prompt: str


def _read(event: dict[str, Any]) -> Event:
    match event.get("hook_event_name"):
        case "SessionStart":
            return Started(session=fitting(event, _Base).session_id)
        case "BeforeAgent":
            return _said(fitting(event, _Prompt))
        case "AfterTool":
            return _after(fitting(event, _Tool))
        case "AfterAgent":
            return TurnEnded(session=fitting(event, _Base).session_id)
        case "SessionEnd":
            return SessionEnded(session=fitting(event, _Base).session_id)
        case _:
            return _before(fitting(event, _Tool))


def _said(event: _Prompt) -> Said:
    """Keep apart what the agent adds to the user's words: files, and what hooks said."""
    words, _, files = event.prompt.partition(_FILES)
    return Said(session=event.session_id, text=_context.sub("", words), files=files)


def _before(event: _Tool) -> BeforeTool:
    return BeforeTool(session=event.session_id, key=_key(event), call=_call(event))


def _after(event: _Tool) -> AfterTool:
    response = event.tool_response if isinstance(event.tool_response, dict) else {}
    output = text_of(response.get("llmContent", event.tool_response))
    return AfterTool(
        event="AfterTool",
        session=event.session_id,
        key=_key(event),
        call=_call(event),
        output=output,
        response=event.tool_response,
        failure=_failure(event.tool_name, response, output),
    )


def _failure(tool: str, response: dict[str, Any], output: str) -> str | None:
    if response.get("error"):
        return "tool_error"
    ended = _exit_code.search(output) if tool == "run_shell_command" else None
    return None if ended is None else f"exit_{ended[1]}"


def _key(event: _Tool) -> tuple[str, ...]:
    return (event.session_id, event.tool_name, sha256(canonical(event.tool_input)))


def _call(event: _Tool) -> ToolCall:
    server, name = _NAME, event.tool_name
    if event.mcp_context is not None:
        server = outside_server(event.mcp_context.server_name)
        name = event.mcp_context.tool_name
    else:
        server, name = mcp_tool(name) or (server, name)
    built_in = server == _NAME
    return ToolCall(
        server=server,
        name=name,
        arguments=event.tool_input,
        definition=DEFINITIONS.get(name) if built_in else None,
        cwd=Path(event.cwd),
        resources=_pages(event.tool_input) if built_in and name == "web_fetch" else (),
    )


def _pages(arguments: dict[str, Any]) -> tuple[Resource, ...]:
    """Return the hosts of the addresses that the prompt of a fetch names."""
    hosts = dict.fromkeys(_url_host.findall(str(arguments.get("prompt", ""))))
    named = [host.rpartition("@")[2].partition(":")[0] for host in hosts]
    return tuple(Resource(kind="host", value=host, argument="prompt") for host in named if host)


def _deny(told: str) -> HookAnswer:
    return printed({"decision": "deny", "reason": told})


def _denial(printed: dict[str, Any]) -> str | None:
    return str(printed.get("reason") or "") or None if printed.get("decision") == "deny" else None


def _withhold(response: Any, told: str) -> HookAnswer:
    return _deny(told)


def _inform(told: str) -> HookAnswer:
    specific = {"hookEventName": "SessionStart", "additionalContext": told}
    return printed({"hookSpecificOutput": specific})


def _settings(project: Path | None) -> Path:
    home = os.environ.get("GEMINI_CLI_HOME")
    folder = project or (Path(home) if home else Path.home())
    return folder / ".gemini" / "settings.json"


def _shell_call(command: str, cwd: Path) -> dict[str, Any]:
    return {
        "session_id": CANARY_SESSION,
        "transcript_path": "",
        "cwd": str(cwd),
        "hook_event_name": "BeforeTool",
        "timestamp": "1970-01-01T00:00:00.000Z",
        "tool_name": "run_shell_command",
        "tool_input": {"command": command, "description": "Try the hook"},
    }


def _registration(event: str, exit_code: int, matcher: str | None = None) -> Registration:
    members = {"name": f"pmcl-{event}", "timeout": _TIMEOUT_MS}
    return Registration(event=event, exit_code=exit_code, matcher=matcher, members=members)


GEMINI: Final = Agent(
    name=_NAME,
    read=_read,
    deny=_deny,
    denial=_denial,
    withhold=_withhold,
    inform=_inform,
    after_tool="AfterTool",
    never_blocked=frozenset(("AfterAgent", "BeforeAgent", "SessionEnd", "SessionStart")),
    registrations=(
        _registration("SessionStart", 1),
        _registration("BeforeAgent", 1),
        _registration("BeforeTool", 2, "*"),
        _registration("AfterTool", 2, "*"),
        _registration("AfterAgent", 1),
        _registration("SessionEnd", 1),
    ),
    settings=_settings,
    advice="Gemini CLI runs no hook in a folder that you have not trusted: see /permissions.",
    rules=RULES,
    shell_call=_shell_call,
)
