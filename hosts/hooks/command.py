"""The command that an agent runs for one event: it blocks as well when nothing of it can start.

A shell stands around the process: one that is missing, killed or broken ends with the code that
the event asks for, and with a reason, without which Codex and Gemini CLI would go on.
"""

import shlex
import sys
from pathlib import Path
from typing import Any, Final

import msgspec

from pmcl.contracts import HostError
from pmcl.hosts.hooks import client
from pmcl.hosts.hooks.agent import Agent, Registration

__all__ = ["HookPaths", "SettingsError", "groups_of", "is_ours", "paths_in"]

_MARK: Final = "pmcl-hook"
_UNFINISHED: Final = "pmcl: the hook did not finish, so nobody checked this"
_ARGUMENTS: Final = 11


class SettingsError(HostError):
    """An agent's settings stay as they are; the message says why, and where."""


class HookPaths(msgspec.Struct, frozen=True, kw_only=True):
    """What an installed command is made of; all absolute.

    Attributes:
        credentials: of the host that the agent works under.
        gateway: the file that names the gateway's address.
    """

    credentials: Path
    gateway: Path
    python: Path = Path(sys.executable)
    script: Path = Path(client.__file__)


def groups_of(agent: Agent, paths: HookPaths) -> list[tuple[str, dict[str, Any]]]:
    """Return what is written for each event, in the form that all three agents have.

    Raises:
        SettingsError: a path has a `$`, which Gemini CLI would replace.
    """
    for name in paths.__struct_fields__:
        if "$" in str(getattr(paths, name)):
            raise SettingsError(f"the {name} path {getattr(paths, name)} has a $: choose another")
    return [(each.event, _group(agent, each, paths)) for each in agent.registrations]


def _group(agent: Agent, registration: Registration, paths: HookPaths) -> dict[str, Any]:
    command = _command(agent, registration.exit_code, paths)
    handler = {"type": "command", "command": command, **registration.members}
    matcher = {} if registration.matcher is None else {"matcher": registration.matcher}
    return {**matcher, "hooks": [handler]}


def _command(agent: Agent, exit_code: int, paths: HookPaths) -> str:
    script = f'"$@" || {{ [ $? = {exit_code} ] || echo "{_UNFINISHED}" >&2; exit {exit_code}; }}'
    process = [paths.python, "-I", "-S", paths.script, agent.name, paths.credentials, paths.gateway]
    return shlex.join(["/bin/sh", "-c", script, _MARK, *map(str, process)])


def is_ours(command: object) -> bool:
    """Return whether a command was installed by us, whatever its paths are."""
    words = _words(command)
    return len(words) == _ARGUMENTS and words[:2] == ["/bin/sh", "-c"] and words[3] == _MARK


def paths_in(command: str) -> HookPaths:
    """Return what a command of ours is made of."""
    words = [Path(word) for word in _words(command)]
    return HookPaths(python=words[4], script=words[7], credentials=words[9], gateway=words[10])


def _words(command: object) -> list[str]:
    try:
        return shlex.split(command) if isinstance(command, str) else []
    except ValueError:
        return []
