"""Whether the gateway answers, and whether it reaches the sidecar."""

from typing import Literal

import msgspec

__all__ = ["HealthAnswer", "ReadyAnswer"]


class HealthAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The gateway answers."""

    status: Literal["ok"] = "ok"


class ReadyAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the gateway can reach the sidecar; if not, checks are degraded."""

    ready: bool
