"""The reflect worker: takes jobs one by one, asks the reflector, and hands over what it said.

It reads values and writes through units alone: it holds no connection, and there is nothing here
that could run, send or approve. Source: SPEC E1, E2.
"""

import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

import anyio
import msgspec
import structlog

from pmcl.contracts import Spending
from pmcl.judgement import Retrospect
from pmcl.ledger.reflections import ReflectionHost
from pmcl.store import StoreBusyError, StoreUnavailableError
from pmcl.workers.reflecting import (
    Admit,
    ReflectionConfig,
    abandon,
    claim,
    finish,
    give_up,
    is_void,
    left_open,
)
from pmcl.workers.reflection_jobs import queue_idle
from pmcl.workers.reflector import Reflected, Reflector, ReflectorError
from pmcl.workers.requests import where
from pmcl.workers.units import Units
from pmcl.workers.worker import Decision

__all__ = ["ReflectWorker"]

log = structlog.get_logger()

_LOOK_S: Final = 1.0


def _monotonic_ms() -> int:
    return time.monotonic_ns() // 1_000_000


class ReflectWorker:
    """Runs the reflection of one cell; what it leaves open, the next process ends."""

    def __init__(
        self,
        units: Units,
        reflector: Reflector,
        config: ReflectionConfig,
        admit: Admit,
        monotonic_ms: Callable[[], int] = _monotonic_ms,
    ) -> None:
        self._units = units
        self._reflector = reflector
        self._config = config
        self._admit = admit
        self._monotonic_ms = monotonic_ms
        self._passed_over: dict[str, int] = {}

    async def run(self) -> None:
        """Work for ever; a ledger that does not answer is asked again in a second."""
        begun = False
        while True:
            begun = begun or await self._survives(self.begin)
            await self._survives(self.tend)
            await self._survives(self._work)
            await anyio.sleep(_LOOK_S)

    async def _work(self) -> None:
        while await self.step():
            pass

    async def _survives(self, work: Callable[[], Awaitable[object]]) -> bool:
        """Return whether it ended well; what it raised is told, and all else goes on."""
        try:
            await work()
        except (StoreBusyError, StoreUnavailableError) as error:
            log.warning("reflection.postponed", error=type(error).__name__)
            return False
        except Exception as error:  # noqa: BLE001 - one host's defect must not end the worker
            log.error("reflection.defect", **where(error))
            return False
        return True

    async def begin(self) -> None:
        """End what an earlier process left open; its jobs wait again."""
        while await self._abandon(None, "restarted"):
            pass

    async def tend(self) -> None:
        """Queue the idle jobs that are due, and end the cycles whose claim ran out."""
        await self._abandon(self._reflector.traits.reservation.ms, "claim_expired")
        await self._units.tell(partial(queue_idle, period_ms=self._config.period_ms))

    async def _abandon(self, reserved_ms: int | None, reason: str) -> bool:
        """End cycles, each in a unit of its own; return whether any could be ended."""
        ended = False
        for cycle in await self._units.look(partial(left_open, reserved_ms=reserved_ms)):
            told = partial(
                abandon, cycle_id=cycle.cycle_id, reason=reason, limits=self._config.limits
            )
            ended |= await self._survives(partial(self._units.tell, told))
        return ended

    async def step(self) -> bool:
        """Return whether a job was taken; its cycle is over, or its claim was lost."""
        retrospect = await self.claim()
        if isinstance(retrospect, Retrospect):
            await self.finish(retrospect, await self.ask(retrospect))
        return retrospect is not None

    async def claim(self) -> Retrospect | bool | None:
        """Return what to reflect on, `True` where the gate ended the job, `None` without one."""
        hosts: list[ReflectionHost] = []
        try:
            decision = await self._units.record(
                partial(
                    claim,
                    config=self._config,
                    traits=self._reflector.traits,
                    passed_over=self._still_passed_over(),
                    tell=hosts.append,
                )
            )
        except (StoreBusyError, StoreUnavailableError):
            raise
        except Exception as error:
            if not hosts:
                raise
            await self._give_up(hosts[-1].whose, error)
            return True
        if not decision.events:
            return None
        assert decision.reply is None or isinstance(decision.reply, Retrospect)
        return decision.reply or True

    async def _give_up(self, whose: str, error: Exception) -> None:
        """Let the host's job wait as after any failure; its defect holds up no other host."""
        log.error("reflection.defect", host=whose, **where(error))
        traits, limits = self._reflector.traits, self._config.limits
        told = partial(give_up, whose=whose, traits=traits, limits=limits)
        if not await self._survives(partial(self._units.record, told)):
            self._passed_over[whose] = self._monotonic_ms() + limits.open_ms

    def _still_passed_over(self) -> set[str]:
        """Return the hosts of which not even a failure could be recorded, for a while."""
        now_ms = self._monotonic_ms()
        self._passed_over = {name: end for name, end in self._passed_over.items() if end > now_ms}
        return set(self._passed_over)

    async def ask(self, retrospect: Retrospect) -> Reflected | ReflectorError:
        """Return what the reflector says within its reservation; its time is counted."""
        began_ms = self._monotonic_ms()
        outcome = await self._answer(retrospect)
        used = msgspec.structs.replace(outcome.used, ms=self._monotonic_ms() - began_ms)
        if isinstance(outcome, Reflected):
            return msgspec.structs.replace(outcome, used=used)
        outcome.used = used
        return outcome

    async def _answer(self, retrospect: Retrospect) -> Reflected | ReflectorError:
        outcome: Reflected | ReflectorError = self._unheard("void")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._watch, retrospect, tasks.cancel_scope)
            outcome = await self._asked(retrospect)
            tasks.cancel_scope.cancel()
        return outcome

    async def _asked(self, retrospect: Retrospect) -> Reflected | ReflectorError:
        with anyio.move_on_after(self._reflector.traits.reservation.ms / 1000):
            try:
                return await self._reflector.reflect(retrospect)
            except ReflectorError as error:
                return error
            except Exception as error:  # noqa: BLE001 - one bad answer must not end the worker
                log.error("reflection.defect", cycle=retrospect.cycle_id, **where(error))
                return self._unheard("defect")
        return self._unheard("timeout")

    def _unheard(self, reason: str) -> ReflectorError:
        """Return that nothing was heard, so that all that was reserved counts as used."""
        reserved = self._reflector.traits.reservation
        used = Spending(tokens=reserved.tokens, cost=reserved.cost)
        return ReflectorError(reason, used=used, discarded=False)

    async def _watch(self, retrospect: Retrospect, scope: anyio.CancelScope) -> None:
        """Cut the reflector off once nothing of the cycle can be kept; a stop is not waited for."""
        stops = self._units.stops
        seen = stops.count
        while not await self._units.look(partial(is_void, retrospect=retrospect)):
            with anyio.move_on_after(_LOOK_S):
                await stops.after(seen)
            seen = stops.count
        scope.cancel()

    async def finish(self, retrospect: Retrospect, outcome: Reflected | ReflectorError) -> None:
        """Record the end of the cycle; nothing, if its claim is not open any more."""
        try:
            decision = await self._record(retrospect, outcome)
        except (StoreBusyError, StoreUnavailableError):
            raise
        except Exception as error:  # noqa: BLE001 - what was said cannot be kept, its end can
            log.error("reflection.defect", cycle=retrospect.cycle_id, **where(error))
            outcome = self._unheard("defect")
            decision = await self._record(retrospect, outcome)
        if not decision.events:
            log.warning("reflection.fenced", cycle=retrospect.cycle_id)
        elif isinstance(outcome, ReflectorError):
            log.warning("reflection.failed", cycle=retrospect.cycle_id, reason=outcome.reason)

    async def _record(
        self, retrospect: Retrospect, outcome: Reflected | ReflectorError
    ) -> Decision:
        return await self._units.record(
            partial(
                finish,
                retrospect=retrospect,
                outcome=outcome,
                admit=self._admit,
                limits=self._config.limits,
            )
        )
