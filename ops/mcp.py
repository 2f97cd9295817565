"""`pmcl mcp`: the checkpoint's verbs as tools, for an agent that asks by itself."""

from pathlib import Path

from pmcl.hosts.mcp import serve_mcp
from pmcl.ops.known_hosts import find_host
from pmcl.ops.settings import Settings
from pmcl.ops.tracing import export_traces

__all__ = ["mcp"]


async def mcp(settings: Settings, *, host: str | None) -> None:
    """Serve one client over standard input and output, until it closes them.

    Raises:
        HostNotFoundError, KeyringError, ProfileError: the host's files cannot be used.
        RefusedError, HostError, LedgerError: the host cannot begin.
    """
    async with export_traces():
        await serve_mcp(find_host(settings, host), Path.cwd())
