"""A call that passed stays open until its agent tells of its end, or nobody will any more."""

from collections import deque
from collections.abc import Callable
from typing import Final

import anyio
import msgspec
import structlog

from pmcl.contracts import PmclError
from pmcl.hosts.adapter import Mediated
from pmcl.hosts.clock import now_s
from pmcl.hosts.dispatch import Dispatch, Run
from pmcl.hosts.hooks.events import Key

__all__ = ["OPEN_MAX_S", "OpenCall", "OpenCalls"]

log = structlog.get_logger()

OPEN_MAX_S: Final = 7200.0
"""The longest that a command of Claude Code may run in the background."""
_SENT_S: Final = 0.5


class OpenCall(msgspec.Struct, kw_only=True):
    """One claimed verdict whose tool may be running."""

    session: str
    mediated: Mediated
    dispatch: Dispatch
    run: Run
    began_s: float
    subagent: bool

    def note(self, failure: str | None) -> None:
        """Know what came of it."""
        if failure is None:
            self.run.succeeded()
        else:
            self.run.failed(failure)

    async def lose(self) -> None:
        """Record that nobody saw its end."""
        self.run.unknown()
        await self.leave()

    async def leave(self) -> None:
        """What was noted is recorded; a host's file that cannot be written leaves it for later."""
        try:
            with anyio.move_on_after(_SENT_S):  # the record itself is shielded
                await self.dispatch.__aexit__(None, None, None)
        except PmclError as error:
            log.error("hook.unrecorded", call=self.mediated.call.call_id, reason=str(error))


class OpenCalls:
    """The open calls of one host; those of one key end in the order in which they began."""

    def __init__(self) -> None:
        self._by_key: dict[Key, deque[OpenCall]] = {}

    def __len__(self) -> int:
        return sum(len(calls) for calls in self._by_key.values())

    def add(self, key: Key, call: OpenCall) -> None:
        """Keep a call open."""
        self._by_key.setdefault(key, deque()).append(call)

    def take(self, key: Key) -> OpenCall | None:
        """Return the oldest open call of a key, which is open no more; `None` if there is none."""
        calls = self._by_key.get(key)
        if calls is None:
            return None
        call = calls.popleft()
        if not calls:
            del self._by_key[key]
        return call

    async def lose_session(self, session: str, *, subagents: bool) -> None:
        """Record all open calls of a session as unknown, with those of its subagents or without."""
        await self._lose(lambda call: call.session == session and (subagents or not call.subagent))

    async def lose_old(self) -> None:
        """Record as unknown what has been open for more than `OPEN_MAX_S`."""
        before_s = now_s() - OPEN_MAX_S
        await self._lose(lambda call: call.began_s < before_s)

    async def lose_all(self) -> None:
        """Record all open calls as unknown."""
        await self._lose(lambda call: True)

    async def _lose(self, is_lost: Callable[[OpenCall], bool]) -> None:
        lost: list[OpenCall] = []
        for key, calls in [*self._by_key.items()]:
            lost.extend(call for call in calls if is_lost(call))
            kept = deque(call for call in calls if not is_lost(call))
            if kept:
                self._by_key[key] = kept
            else:
                del self._by_key[key]
        for call in lost:
            await call.lose()
