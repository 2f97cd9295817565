"""Claude Code: its events, its answers, its settings.

A hook's `allow` or `ask` is never given: where there is no objection nothing is printed, and the
agent's own rules decide.
Source: types of `@anthropic-ai/claude-agent-sdk` 0.3.332.
"""

import os
from pathlib import Path
from typing import Any, Final

import msgspec

from pmcl.hosts.adapter import ToolCall
from pmcl.hosts.hooks.agent import (
    CANARY_SESSION,
    Agent,
    Registration,
    fitting,
    mcp_tool,
    permission_denied,
)
from pmcl.hosts.hooks.answers import HookAnswer, printed
from pmcl.hosts.hooks.claude_code_tools import DEFINITIONS, RULES
from pmcl.hosts.hooks.events import (
    AfterTool,
    BeforeTool,
    Event,
    Ignored,
    Said,
    SessionEnded,
    Started,
    TurnEnded,
)
from pmcl.hosts.hooks.outputs import text_of

__all__ = ["CLAUDE_CODE"]

_NAME: Final = "claude-code"
_FROM_THE_USER: Final = ("user", "sdk", None)
_TIMEOUT_S: Final = 15


class _Base(msgspec.Struct, kw_only=True):
    session_id: str
    cwd: str
    prompt_id: str | None = None
    agent_id: str | None = None


class _Tool(_Base, kw_only=True):
    tool_name: str
    tool_input: dict[str, Any]
    tool_use_id: str
    tool_response: Any = None
    error: str = ""
    is_interrupt: bool = False


class _Prompt(_Base, kw_only=True):
    prompt: str
    source: str | None = None


def _read(event: dict[str, Any]) -> Event:
    match event.get("hook_event_name"):
        case "SessionStart":
            return Started(session=fitting(event, _Base).session_id)
        case "UserPromptSubmit":
            return _said(fitting(event, _Prompt))
        case "PostToolUse":
            return _after(fitting(event, _Tool))
        case "PostToolUseFailure":
            return _failed(fitting(event, _Tool))
        case "Stop":
            base = fitting(event, _Base)
            return TurnEnded(session=base.session_id, turn_id=base.prompt_id)
        case "SessionEnd":
            return SessionEnded(session=fitting(event, _Base).session_id)
        case _:
            return _before(fitting(event, _Tool))


def _said(event: _Prompt) -> Event:
    """What a schedule, a task or another machine puts in as a prompt is not the user's word."""
    if event.source not in _FROM_THE_USER:
        return Ignored()
    return Said(session=event.session_id, text=event.prompt)


def _before(event: _Tool) -> BeforeTool:
    return BeforeTool(
        session=event.session_id,
        key=(event.session_id, event.tool_use_id),
        call=_call(event),
        subagent=event.agent_id is not None,
    )


def _after(event: _Tool) -> AfterTool:
    return AfterTool(
        event="PostToolUse",
        session=event.session_id,
        key=(event.session_id, event.tool_use_id),
        call=_call(event),
        output=text_of(event.tool_response),
        response=event.tool_response,
        failure="interrupted" if _was_interrupted(event.tool_response) else None,
    )


def _was_interrupted(response: Any) -> bool:
    return isinstance(response, dict) and response.get("interrupted") is True


def _failed(event: _Tool) -> AfterTool:
    return AfterTool(
        event="PostToolUseFailure",
        session=event.session_id,
        key=(event.session_id, event.tool_use_id),
        call=_call(event),
        output=event.error,
        failure="interrupted" if event.is_interrupt else "tool_error",
    )


def _call(event: _Tool) -> ToolCall:
    server, name = mcp_tool(event.tool_name) or (_NAME, event.tool_name)
    return ToolCall(
        server=server,
        name=name,
        arguments=event.tool_input,
        definition=DEFINITIONS.get(name) if server == _NAME else None,
        cwd=Path(event.cwd),
    )


def _deny(told: str) -> HookAnswer:
    return _specific("PreToolUse", {"permissionDecision": "deny", "permissionDecisionReason": told})


def _withhold(response: Any, told: str) -> HookAnswer:
    """Put the reason in place of every text of the output; the agent wants the output's shape."""
    withheld = _emptied(response, told)
    return _specific("PostToolUse", {"updatedToolOutput": withheld}, decision="block", reason=told)


def _emptied(value: Any, told: str) -> Any:
    if isinstance(value, dict):
        kept = ("type", "mode")  # which of several shapes it is
        return {
            name: member if name in kept else _emptied(member, told)
            for name, member in value.items()
        }
    if isinstance(value, list):
        return [_emptied(item, told) for item in value[:1]]
    return told if isinstance(value, str) or value is None else value


def _inform(told: str) -> HookAnswer:
    return _specific("SessionStart", {"additionalContext": told})


def _specific(event: str, members: dict[str, Any], **beside: Any) -> HookAnswer:
    return printed({**beside, "hookSpecificOutput": {"hookEventName": event, **members}})


def _settings(project: Path | None) -> Path:
    if project is not None:
        # Its own name for what is this machine's: the other file is shared with the repository.
        return project / ".claude" / "settings.local.json"
    folder = os.environ.get("CLAUDE_CONFIG_DIR")
    return (Path(folder) if folder else Path.home() / ".claude") / "settings.json"


def _shell_call(command: str, cwd: Path) -> dict[str, Any]:
    return {
        "session_id": CANARY_SESSION,
        "transcript_path": "",
        "cwd": str(cwd),
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": command, "description": "Try the hook"},
        "tool_use_id": "pmcl-doctor",
    }


def _registration(
    event: str, exit_code: int, matcher: str | None = None, **members: Any
) -> Registration:
    return Registration(
        event=event,
        exit_code=exit_code,
        matcher=matcher,
        members={"timeout": _TIMEOUT_S, **members},
    )


CLAUDE_CODE: Final = Agent(
    name=_NAME,
    read=_read,
    deny=_deny,
    denial=permission_denied,
    withhold=_withhold,
    inform=_inform,
    after_tool="PostToolUse",
    never_blocked=frozenset(
        ("PostToolUseFailure", "SessionEnd", "SessionStart", "Stop", "UserPromptSubmit")
    ),
    registrations=(
        _registration("SessionStart", 1),
        _registration("UserPromptSubmit", 1),
        _registration("PreToolUse", 2, "*", onFailure="block"),
        _registration("PostToolUse", 2, "*"),
        _registration("PostToolUseFailure", 1, "*"),
        _registration("Stop", 1),
        _registration("SessionEnd", 1),
    ),
    settings=_settings,
    advice="Sessions that are open already go on without the hook: start them again.",
    rules=RULES,
    shell_call=_shell_call,
)
