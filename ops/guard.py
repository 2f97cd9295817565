"""`pmcl guard`: an MCP server behind the checkpoint, in place of the server itself."""

from collections.abc import Sequence
from pathlib import Path

from pmcl.contracts import PmclError
from pmcl.hosts import Host
from pmcl.hosts.adapter import Mediator
from pmcl.hosts.guard import GuardedServer, guard_command, name_of
from pmcl.ops.known_hosts import find_host
from pmcl.ops.settings import Settings

__all__ = ["NoCommandError", "guard"]


class NoCommandError(PmclError):
    """Nothing was named that could be guarded."""


async def guard(
    settings: Settings,
    command: Sequence[str],
    *,
    host: str | None,
    server: str | None,
    transparent: bool,
) -> int:
    """Guard the server that `command` starts until it ends, and return its exit code.

    Raises:
        NoCommandError: there is no command.
        HostNotFoundError, KeyringError, ProfileError: the host's files cannot be used.
        RefusedError, HostError, LedgerError: the host cannot begin; no server was started.
    """
    if not command:
        raise NoCommandError("guard: name the server's command after --")
    guarded = GuardedServer(
        name=server or name_of(command), cwd=Path.cwd(), is_transparent=transparent
    )
    async with Host.connect(find_host(settings, host)) as connected:
        return await guard_command(command, guarded, Mediator(connected))
