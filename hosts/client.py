"""The host's client: all that it starts ends with its block, and every wait has a bound.

Source: SPEC G1; DESIGN section 4.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Unpack, cast

import anyio
import structlog

from pmcl.bus import SpanKind, background_tasks, open_connection, span, untraced
from pmcl.contracts import (
    CONTEXT_BYTES,
    PREFIX,
    STORED_PREFIX,
    BusError,
    CompleteTurn,
    Context,
    HostError,
    LeaseState,
    LedgerError,
)
from pmcl.hosts.adapter import Mediator
from pmcl.hosts.asking import ask
from pmcl.hosts.checking import Checker
from pmcl.hosts.config import HostConfig
from pmcl.hosts.contexts import ask_context
from pmcl.hosts.dispatch import Dispatch
from pmcl.hosts.function_tool import FunctionClaims, FunctionTool
from pmcl.hosts.guarding import AsyncDecorator, Guard, guard_async
from pmcl.hosts.logs import keep_logs_off_stdout
from pmcl.hosts.observing import ObservationFields, Observer
from pmcl.hosts.proposal import Proposal
from pmcl.hosts.session import Session
from pmcl.hosts.turn import Turn
from pmcl.hosts.verdict import Verdict
from pmcl.judgement import check_turn_id
from pmcl.outbox import open_host_file

__all__ = ["Host"]

log = structlog.get_logger()


class Host:
    """One client of the sidecar, for one host; several of them may share the host's file.

    Attributes:
        mediator: the way that guarded functions take past the checkpoint, and what they have seen.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._checker = Checker(session)
        self._observer = Observer(session)
        self.mediator = Mediator(self)

    @classmethod
    @asynccontextmanager
    async def connect(cls, config: HostConfig) -> AsyncIterator["Host"]:
        """Connect, begin or join the lease, and close what dead siblings left.

        When the sidecar does not answer within `deadline_ms`, the host starts degraded and gets its
        lease later. At the end, verdicts that were not used are closed, and the last outcomes get
        `close_ms` to reach the bus; what does not is sent at the next start.

        Raises:
            RefusedError: the lease was refused.
            KeyRefusedError: the server does not accept the key; told as soon as it says so.
            HostError, LedgerError: the host's file cannot be used.
        """
        keep_logs_off_stdout()
        async with (
            open_host_file(config.file) as file,
            open_connection(config.credentials.connection_config()) as connection,
            background_tasks() as tasks,
        ):
            session = Session(config, connection, file)
            await connection.subscribe(_lease_ended(config), lambda _: session.keeper.wake())
            with untraced():
                tasks.start_soon(session.delivery.run)
                tasks.start_soon(session.keeper.run)
                tasks.start_soon(session.outstanding.run, session.delivery.wake)
            try:
                await session.keeper.wait(config.deadline_ms / 1000)
                yield cls(session)
            finally:
                await _close(session)

    @property
    def generation(self) -> int | None:
        """The generation of the living lease; `None` while there is none.

        Raises:
            StaleGenerationError: a newer begin has fenced this host.
            KeyRefusedError: the server does not accept the key.
            HostError: the lease was disabled here.
        """
        binding = self._session.keeper.binding
        return None if binding is None else binding.generation

    @property
    def is_connected(self) -> bool:
        """Whether the bus can be reached, as far as is known now."""
        return self._session.connection.ready

    async def observe(self, **fields: Unpack[ObservationFields]) -> str:
        """Return the evidence id once the observation is stored.

        Delivered once: it is sent with the same number as often as needed within `observe_ms`.

        Raises:
            ContractError: the observation does not have its shape; it was not sent.
            DetectorMissingError: it may hold a secret that nothing here would find; not sent.
            ObservationLostError: it was not stored in time, as far as is known. Should it have
                been, the ledger still does not count it.
            HostError: the host's file is full, or its key is not accepted.
            LedgerError: it was sent, and then the host's file could not be written; it may count.
        """
        (evidence_id,) = await self.observe_many([fields])
        return evidence_id

    async def observe_many(
        self, observed: Sequence[ObservationFields], *, ends: Dispatch | None = None
    ) -> list[str]:
        """Return the evidence ids, in order, once all are stored. Raises as `observe`.

        Args:
            observed: what was seen; if there is nothing, nothing is done.
            ends: the block of a call that ended with it: the result that its `Run` was told of is
                recorded by the same write, before any of it is stored.
        """
        size = {"pmcl.observations": len(observed)}
        with span("pmcl.host.observe", kind=SpanKind.PRODUCER, attributes=size):
            return await self._observer.observe(observed, ends)

    async def check(self, proposal: Proposal) -> Verdict:
        """Return the verdict on a proposal, within `deadline_ms`, whoever answers or not.

        Raises:
            RefusedError: the request itself was refused; nothing may be dispatched.
            HostError: this host may not ask any more.
        """
        with span("pmcl.host.check", kind=SpanKind.CLIENT) as checking:
            verdict = await self._checker.check(proposal)
            checking.set_attribute("pmcl.status", verdict.status)
            return verdict

    async def context(
        self, goal: str = "", *, budget_bytes: int = CONTEXT_BYTES, budget_tokens: int | None = None
    ) -> Context:
        """Return what a turn about `goal` should know, within `deadline_ms` and its budget.

        When nobody compiles it, it says so: its status is `degraded`, and nothing is in it.

        Args:
            goal: what memories are looked for by; it is not stored.
            budget_bytes: of the answer's JSON, 4,096 to 131,072.
            budget_tokens: as well, a token being taken for two bytes, 2,048 to 65,536.

        Raises:
            ContractError: the goal or a budget is out of its bounds; nobody was asked.
            RefusedError: the request itself was refused.
            HostError: this host may not ask any more.
        """
        return await ask_context(
            self._session, goal, budget_bytes=budget_bytes, budget_tokens=budget_tokens
        )

    def dispatch(self, verdict: Verdict, proposal: Proposal) -> Dispatch:
        """Return the block in which the tool may run, once.

        Entering raises `HostError` or `LedgerError` unless the verdict is claimed: the tool must
        not run then. Leaving records the outcome.
        """
        return Dispatch(self._session, verdict, proposal)

    def guarded(self, **claims: Unpack[FunctionClaims]) -> AsyncDecorator:
        """Return a decorator: the function runs only when its call passed.

        The call is proposed with the function's name, parameters and docstring, checked and
        dispatched; the value, or the error, is recorded as untrusted evidence before the caller
        gets it. A plain function runs in a thread, so that it does not hold up the event loop.
        Goal and pre-mortem come from `turn` and `pmcl.hosts.stating`.

        The guarded function raises what the function raises, and:
            HeldError: it did not run.
            DispatchRefusedError, LedgerError: it did not run; the verdict could not be used.
            ContractError: it did not run; an argument is no plain data.
            HostError: it ran, but its value could not be recorded, so the caller does not get it.
        """

        def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
            return guard_async(Guard(self.mediator, FunctionTool(function, **claims)), function)

        return cast("AsyncDecorator", decorate)

    @asynccontextmanager
    async def turn(self, goal: str | None = None) -> AsyncIterator[Turn]:
        """Yield a turn: guarded calls inside have its goal; without an error it is completed.

        Raises at the end as `complete`.
        """
        turn = Turn(self.mediator, goal)
        with turn.here():
            yield turn
        await self.complete(turn.turn_id)

    async def complete(self, turn_id: str) -> None:
        """End a turn after a successful response; the same turn again changes nothing.

        Raises:
            RefusedError: the sidecar refused, or the id holds a secret.
            BusError, HostError: nobody answered, or there is no lease.
        """
        check_turn_id(turn_id)
        config, keeper = self._session.config, self._session.keeper
        timeout_s = config.deadline_ms / 1000
        binding = await keeper.wait(timeout_s)
        if binding is None:
            named = f"{config.credentials.scope}/{config.credentials.host}"
            raise HostError(f"{named} got no lease within {timeout_s} s")
        await ask(
            self._session.connection,
            config.subject("lease", "complete"),
            CompleteTurn(
                lease_id=binding.lease_id,
                generation=binding.generation,
                turn_id=turn_id,
                responded=True,
            ),
            LeaseState,
            watermark=(self._session.file.epoch, 0),
            timeout_s=timeout_s,
        )

    async def disable(self) -> None:
        """End the lease now; nothing can be checked or dispatched after it.

        Raises:
            RefusedError, BusError: the sidecar did not confirm; the lease runs out by itself.
        """
        await self._session.keeper.disable(self._session.config.deadline_ms / 1000)


def _lease_ended(config: HostConfig) -> str:
    """Return where this host's leases are said to have ended, after the commit."""
    subject = config.subject("event", "lease-ended")
    return subject.replace(PREFIX, STORED_PREFIX, 1)


async def _close(session: Session) -> None:
    """Close open verdicts and give the last outcomes their time."""
    with anyio.move_on_after(session.config.close_ms / 1000, shield=True):
        try:
            await session.unrecorded.record()
            await session.outstanding.close(ended_s=float("inf"))
            if session.connection.ready:
                session.delivery.wake()
                await session.delivery.sent(session.config.close_ms / 1000)
        except (BusError, LedgerError) as error:
            log.warning("host.closed_early", error=type(error).__name__)
