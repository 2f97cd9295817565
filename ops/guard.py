"""`pmcl guard`: an MCP server behind the checkpoint, in place of the server itself."""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from pmcl.hosts import Host
from pmcl.hosts.adapter import Mediator
from pmcl.hosts.guard import GuardedServer, guard_command, guard_url, name_of
from pmcl.ops.known_hosts import find_host
from pmcl.ops.misuse import MisuseError
from pmcl.ops.settings import Settings
from pmcl.ops.tracing import export_traces

__all__ = ["GuardOptions", "NothingToGuardError", "guard"]


class NothingToGuardError(MisuseError):
    """What was named cannot be guarded; the message says what can."""


class GuardOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What `pmcl guard` is told.

    Attributes:
        command: what starts the server; empty when it is at `http`.
        http: the address of a server of streamable HTTP.
        bearer_env: the variable that holds the token for `http`.
        host: the host it runs for.
        server: the server's name in the host's profile.
        transparent: leave the tools' schemas alone.
    """

    command: Sequence[str]
    http: str | None = None
    bearer_env: str | None = None
    host: str | None = None
    server: str | None = None
    transparent: bool = False


async def guard(settings: Settings, options: GuardOptions) -> int:
    """Guard a server until it ends, and return its exit code.

    Raises:
        NothingToGuardError: there is neither a command nor an address that can be used, or both.
        HostNotFoundError, KeyringError, ProfileError: the host's files cannot be used.
        RefusedError, HostError, LedgerError: the host cannot begin; no server was started.
    """
    url, name = _url(options)
    headers = _headers(options)
    guarded = GuardedServer(
        name=options.server or name,
        cwd=None if url else Path.cwd(),
        is_transparent=options.transparent,
    )
    config = find_host(settings, options.host)
    _tell(f"{guarded.name} is guarded for {config.credentials.scope}/{config.credentials.host}")
    async with export_traces(), Host.connect(config) as host:
        mediator = Mediator(host)
        if url is not None:
            return await guard_url(url, headers, guarded, mediator)
        return await guard_command(options.command, guarded, mediator)


def _tell(text: str) -> None:
    """Say something on standard error: standard output is the client's."""
    with suppress(OSError):
        sys.stderr.write(f"pmcl: {text}\n")
        sys.stderr.flush()


def _url(options: GuardOptions) -> tuple[str | None, str]:
    """Return the server's address, if it has one, and the name that it goes by."""
    if any(options.command[:1]) == (options.http is not None):
        raise NothingToGuardError(
            "guard: name the server's command after --, or its --http address"
        )
    if options.http is None:
        return None, name_of(options.command)
    parts = urlsplit(options.http)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise NothingToGuardError(
            f"guard: --http is {options.http!r}, allowed: http:// or https://"
        )
    return options.http, parts.hostname


def _headers(options: GuardOptions) -> dict[str, str]:
    if options.bearer_env is None:
        return {}
    token = os.environ.get(options.bearer_env, "")
    if not token:
        raise NothingToGuardError(f"guard: the variable {options.bearer_env} holds no token")
    return {"Authorization": f"Bearer {token}"}
