"""The client for programs without an event loop: the same verbs, from any thread.

Nothing is decided here; each verb waits for `pmcl.hosts.Host`, which lives in a loop of its own.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import ParamSpec, TypeVar, Unpack

from pmcl.contracts import CONTEXT_BYTES, Context
from pmcl.hosts.bridge import Bridge
from pmcl.hosts.client import Host
from pmcl.hosts.config import HostConfig
from pmcl.hosts.dispatch import Run
from pmcl.hosts.function_tool import FunctionClaims, FunctionTool
from pmcl.hosts.guarding import Decorator, Guard, guard_blocking
from pmcl.hosts.observing import ObservationFields
from pmcl.hosts.proposal import Proposal
from pmcl.hosts.turn import Turn
from pmcl.hosts.verdict import Verdict

__all__ = ["SyncHost", "SyncTurn"]

P = ParamSpec("P")
R = TypeVar("R")


class SyncTurn:
    """What one turn of the conversation is for; see `pmcl.hosts.Turn`."""

    def __init__(self, turn: Turn, bridge: Bridge) -> None:
        self._turn = turn
        self._bridge = bridge

    @property
    def turn_id(self) -> str:
        """The id under which the turn is completed."""
        return self._turn.turn_id

    @property
    def goal(self) -> str | None:
        """Of the calls made in the turn."""
        return self._turn.goal

    def said(self, text: str) -> None:
        """Take what the user said for evidence; see `Turn.said`."""
        self._bridge.call(self._turn.said, text)


class SyncHost:
    """One client of the sidecar; several threads may use it. Verbs raise as those of `Host`.

    An interrupt (Ctrl-C) ends the wait for a verb and cancels it; the host can still be used.
    """

    def __init__(self, host: Host, bridge: Bridge) -> None:
        self._host = host
        self._bridge = bridge

    @classmethod
    @contextmanager
    def connect(cls, config: HostConfig) -> Iterator["SyncHost"]:
        """Connect as `Host.connect` does, in a thread with an event loop of its own.

        At the end what other threads still have open is left: a dispatch has the outcome
        `unknown`, a turn is not completed, a call raises `HostError`.
        """
        with Bridge.into(Host.connect(config)) as (bridge, host):
            yield cls(host, bridge)

    @property
    def generation(self) -> int | None:
        """The generation of the living lease; see `Host.generation`."""
        return self._host.generation

    @property
    def is_connected(self) -> bool:
        """Whether the bus can be reached, as far as is known now."""
        return self._host.is_connected

    def observe(self, **fields: Unpack[ObservationFields]) -> str:
        """Return the evidence id once the observation is stored; see `Host.observe`."""
        return self._bridge.call(self._host.observe, **fields)

    def observe_many(self, observed: Sequence[ObservationFields]) -> list[str]:
        """Return the evidence ids, in order, once all are stored; see `Host.observe_many`."""
        return self._bridge.call(self._host.observe_many, observed)

    def check(self, proposal: Proposal) -> Verdict:
        """Return the verdict on a proposal; see `Host.check`."""
        return self._bridge.call(self._host.check, proposal)

    def context(
        self, goal: str = "", *, budget_bytes: int = CONTEXT_BYTES, budget_tokens: int | None = None
    ) -> Context:
        """Return what a turn about `goal` should know; see `Host.context`."""
        return self._bridge.call(
            self._host.context, goal, budget_bytes=budget_bytes, budget_tokens=budget_tokens
        )

    def dispatch(self, verdict: Verdict, proposal: Proposal) -> AbstractContextManager[Run]:
        """Return the block in which the tool may run, once; see `Host.dispatch`."""
        return self._bridge.block(self._host.dispatch(verdict, proposal))

    def guarded(self, **claims: Unpack[FunctionClaims]) -> Decorator:
        """Return a decorator: the function runs only when its call passed; see `Host.guarded`.

        It runs in the thread that calls it.
        """

        def decorate(function: Callable[P, R], /) -> Callable[P, R]:
            guard = Guard(self._host.mediator, FunctionTool(function, **claims))
            return guard_blocking(guard, function, self._bridge)

        return decorate

    @contextmanager
    def turn(self, goal: str | None = None) -> Iterator[SyncTurn]:
        """Yield a turn, which is completed if the block ends without an error; see `Host.turn`."""
        with self._bridge.block(self._host.turn(goal)) as turn, turn.here():
            yield SyncTurn(turn, self._bridge)

    def complete(self, turn_id: str) -> None:
        """End a turn after a successful response; see `Host.complete`."""
        self._bridge.call(self._host.complete, turn_id)

    def disable(self) -> None:
        """End the lease now; see `Host.disable`."""
        self._bridge.call(self._host.disable)
