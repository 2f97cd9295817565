"""Whether the gateway answers, and whether it reaches the sidecar."""

from typing import Literal

import msgspec

from pmcl.hosts.defects import Defects

__all__ = ["HealthAnswer", "ReadyAnswer"]


class HealthAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The gateway answers."""

    status: Literal["ok"] = "ok"


class ReadyAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the sidecar does its work; where it does not, checks are degraded.

    `parts` are connection, intake, relay, requests and writer.
    """

    ready: bool
    parts: dict[str, bool]
    defects: Defects
