"""The guard of a Model Context Protocol server: a proxy of frames that mediates every tool call."""

from pmcl.hosts.guard.guard import guard_command, guard_url
from pmcl.hosts.guard.mediation import GuardedServer
from pmcl.hosts.guard.names import name_of

__all__ = ["GuardedServer", "guard_command", "guard_url", "name_of"]
