"""The commands of `pmcl`, one module for each group; importing this door registers them all."""

from pmcl.ops.commands import (
    approvals,
    dashboard,
    dead_letters,
    evaluate,
    guard,
    holds,
    hooks,
    hosts,
    judging,
    lessons,
    mcp,
    outbox,
    record,
    replay,
    sidecar,
    stopping,
    watching,
)
from pmcl.ops.commands.groups import app

__all__ = [
    "app",
    "approvals",
    "dashboard",
    "dead_letters",
    "evaluate",
    "guard",
    "holds",
    "hooks",
    "hosts",
    "judging",
    "lessons",
    "mcp",
    "outbox",
    "record",
    "replay",
    "sidecar",
    "stopping",
    "watching",
]
