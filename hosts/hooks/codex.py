"""Codex CLI: its events, its answers, its settings.

It takes an answer with a member that it does not know, an `allow`, an `ask` and a reason that is
empty for a failed hook, and goes on. A tool that failed has no event.
Source: `codex-rs/hooks/src`, `codex-rs/config/src/hook_config.rs`.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from pmcl.contracts import Resource
from pmcl.hosts import resolve_path
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
from pmcl.hosts.hooks.codex_tools import DEFINITIONS, RULES
from pmcl.hosts.hooks.events import AfterTool, BeforeTool, Event, Said, Started, TurnEnded
from pmcl.hosts.hooks.outputs import text_of

__all__ = ["CODEX"]

_NAME: Final = "codex"
_TIMEOUT_S: Final = 15
_PATCHED: Final = (
    "*** Add File: ",
    "*** Delete File: ",
    "*** Move to: ",
    "*** Update File: ",
)


class _Base(msgspec.Struct, kw_only=True):
    session_id: str
    cwd: str
    turn_id: str | None = None
    agent_id: str | None = None


class _Tool(_Base, kw_only=True):
    tool_name: str
    tool_input: dict[str, Any] | None
    tool_use_id: str
    tool_response: Any = None


class _Prompt(_Base, kw_only=True):
    prompt: str


def _read(event: dict[str, Any]) -> Event:
    match event.get("hook_event_name"):
        case "SessionStart":
            return Started(session=fitting(event, _Base).session_id)
        case "UserPromptSubmit":
            prompt = fitting(event, _Prompt)
            return Said(session=prompt.session_id, text=prompt.prompt)
        case "PostToolUse":
            return _after(fitting(event, _Tool))
        case "Stop":
            base = fitting(event, _Base)
            return TurnEnded(session=base.session_id, turn_id=base.turn_id)
        case _:
            return _before(fitting(event, _Tool))


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
    )


def _call(event: _Tool) -> ToolCall:
    server, name = mcp_tool(event.tool_name) or (_NAME, event.tool_name)
    arguments, cwd = event.tool_input or {}, Path(event.cwd)
    resources: tuple[Resource, ...] = ()
    if (server, name) == (_NAME, "apply_patch"):
        arguments, resources = _patch(arguments, cwd)
    return ToolCall(
        server=server,
        name=name,
        arguments=arguments,
        definition=DEFINITIONS.get(name) if server == _NAME else None,
        cwd=cwd,
        resources=resources,
    )


def _patch(arguments: dict[str, Any], cwd: Path) -> tuple[dict[str, Any], tuple[Resource, ...]]:
    """Return the patch under its own name: the hook calls it `command`, which it is not."""
    patch = arguments.get("command")
    if not isinstance(patch, str):
        return arguments, ()
    renamed = {"patch" if name == "command" else name: value for name, value in arguments.items()}
    found = dict.fromkeys(_patched(patch))
    return renamed, tuple(
        Resource(kind="path", value=resolve_path(path, cwd), argument="patch") for path in found
    )


def _patched(patch: str) -> Iterator[str]:
    for line in patch.splitlines():
        for start in _PATCHED:
            if line.strip().startswith(start):
                yield line.strip().removeprefix(start).strip()


def _deny(told: str) -> HookAnswer:
    return _specific("PreToolUse", {"permissionDecision": "deny", "permissionDecisionReason": told})


def _withhold(response: Any, told: str) -> HookAnswer:
    return printed({"decision": "block", "reason": told})


def _inform(told: str) -> HookAnswer:
    return _specific("SessionStart", {"additionalContext": told})


def _specific(event: str, members: dict[str, Any]) -> HookAnswer:
    return printed({"hookSpecificOutput": {"hookEventName": event, **members}})


def _settings(project: Path | None) -> Path:
    if project is not None:
        return project / ".codex" / "hooks.json"
    folder = os.environ.get("CODEX_HOME")
    return (Path(folder) if folder else Path.home() / ".codex") / "hooks.json"


def _shell_call(command: str, cwd: Path) -> dict[str, Any]:
    return {
        "session_id": CANARY_SESSION,
        "turn_id": "pmcl-doctor",
        "transcript_path": None,
        "cwd": str(cwd),
        "hook_event_name": "PreToolUse",
        "model": "none",
        "permission_mode": "default",
        "tool_name": "Bash",
        "tool_input": {"command": command},
        "tool_use_id": "pmcl-doctor",
    }


def _registration(event: str, exit_code: int, matcher: str | None = None) -> Registration:
    return Registration(
        event=event, exit_code=exit_code, matcher=matcher, members={"timeout": _TIMEOUT_S}
    )


CODEX: Final = Agent(
    name=_NAME,
    read=_read,
    deny=_deny,
    denial=permission_denied,
    withhold=_withhold,
    inform=_inform,
    after_tool="PostToolUse",
    never_blocked=frozenset(("SessionStart", "Stop", "UserPromptSubmit")),
    registrations=(
        _registration("SessionStart", 1),
        _registration("UserPromptSubmit", 1),
        _registration("PreToolUse", 2, "*"),
        _registration("PostToolUse", 2, "*"),
        _registration("Stop", 1),
    ),
    settings=_settings,
    advice=(
        "Codex runs a new or changed hook only once you have trusted it: start codex, enter "
        "/hooks, and trust the ones of pmcl. Until then it passes over them without a word. "
        "Versions before 0.124 also need `codex_hooks = true` under [features] in config.toml."
    ),
    rules=RULES,
    shell_call=_shell_call,
)
