"""What is particular to one agent: how its events read, and how it is told no.

Source: facts on hooks; the types and parsers that each agent's module names.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from pmcl.contracts import ContractError, Mismatch
from pmcl.hosts.hooks.answers import HookAnswer
from pmcl.hosts.hooks.events import Event
from pmcl.judgement import EffectRules

__all__ = [
    "CANARY_SESSION",
    "Agent",
    "Registration",
    "fitting",
    "mcp_tool",
    "outside_server",
    "permission_denied",
]

T = TypeVar("T")

NAMES = ("claude-code", "codex", "gemini")
CANARY_SESSION = "pmcl-doctor"
"""The session of a call that only tries the hook."""


class Registration(msgspec.Struct, frozen=True, kw_only=True):
    """One event that the hook is installed for.

    Attributes:
        event: as the agent spells it.
        exit_code: how the command ends when its process could not; 2 blocks, 1 does not.
        matcher: which tools; `None` where the event has none.
        members: the handler's other members, its timeout in the agent's unit among them.
    """

    event: str
    exit_code: int
    matcher: str | None = None
    members: dict[str, Any]


class Agent(msgspec.Struct, frozen=True, kw_only=True):
    """One coding agent.

    Attributes:
        read: what an event says; raises `ContractError` for one that has not its form.
        deny: keeps a tool from running, and gives the model the reason.
        denial: the reason in what was printed to keep a tool from running; `None` if it does not.
        withhold: keeps an output from the model, and gives the reason in its place.
        inform: gives the model a text at the start of a session.
        after_tool: the event whose output can be withheld.
        never_blocked: events that go on whatever happens; any other is taken for a call.
        registrations: what is installed.
        settings: the settings file of a project's folder, or the user's.
        advice: what the user has to do besides.
        rules: what built-in tools do whose names do not tell.
        shell_call: an event of a shell command in a folder, by which `pmcl doctor` tries the hook.
    """

    name: str
    read: Callable[[dict[str, Any]], Event]
    deny: Callable[[str], HookAnswer]
    denial: Callable[[dict[str, Any]], str | None]
    withhold: Callable[[Any, str], HookAnswer]
    inform: Callable[[str], HookAnswer]
    after_tool: str
    never_blocked: frozenset[str]
    registrations: tuple[Registration, ...]
    settings: Callable[[Path | None], Path]
    advice: str
    rules: EffectRules
    shell_call: Callable[[str, Path], dict[str, Any]]


def fitting(event: dict[str, Any], kind: type[T]) -> T:
    """Return the event as a struct; members that it does not name are left out.

    Raises:
        ContractError: a member is missing or has another type.
    """
    try:
        return msgspec.convert(event, kind)
    except msgspec.ValidationError as error:
        found = Mismatch.of(error)
        raise ContractError(found.path, "", found.limit) from error


def permission_denied(printed: dict[str, Any]) -> str | None:
    """Return the reason of a denial as Claude Code and Codex read it."""
    specific = printed.get("hookSpecificOutput")
    if not isinstance(specific, dict) or specific.get("hookEventName") != "PreToolUse":
        return None
    if specific.get("permissionDecision") != "deny":
        return None
    return str(specific.get("permissionDecisionReason") or "") or None


def mcp_tool(name: str) -> tuple[str, str] | None:
    """Return server and tool of `mcp__server__tool`; `None` for a built-in tool."""
    prefix, _, rest = name.partition("__")
    server, between, tool = rest.partition("__")
    if prefix != "mcp" or not between or not server or not tool:
        return None
    return outside_server(server), tool


def outside_server(name: str) -> str:
    """Return a server's name; one that has an agent's is kept apart from its built-in tools."""
    return f"mcp/{name}" if name in NAMES else name
