"""Asking a model critic, off the writer and in bounded time, before a verdict is decided.

It is told what the sanitized request says and hears nothing of evidence. It is asked about calls
and plans that do more than inspect. Source: SPEC C5, C9.
"""

from typing import Protocol

import anyio
import msgspec

from pmcl.contracts import CheckpointRequest, Effect
from pmcl.judgement import Critique

__all__ = ["Critic", "CriticUse", "criticise"]


class Critic(Protocol):
    """Says veto, none or unavailable; it has no words for consent.

    What a proposal says is not known to be shareable, so it leaves this machine for no critic.
    """

    async def critique(self, request: CheckpointRequest) -> Critique:
        """Return what is said of a sanitized request."""
        ...


class CriticUse(msgspec.Struct, frozen=True, kw_only=True):
    """The critic of a cell.

    Attributes:
        required: that without its answer nothing but a local inspection passes.
        within_ms: how long a verdict waits for it.
    """

    critic: Critic
    required: bool = False
    within_ms: int = 1_000


async def criticise(
    use: CriticUse | None, request: CheckpointRequest, effect: Effect
) -> Critique | None:
    """Return the critique; None where nobody is to be asked."""
    if use is None or request.kind == "recommendation":
        return None
    if request.kind == "tool" and effect == "inspect_local":
        return None
    with anyio.move_on_after(use.within_ms / 1000):
        return await use.critic.critique(request)
    return Critique(verdict="unavailable", reason="timeout")
