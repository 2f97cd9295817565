"""The reflect worker: takes jobs one by one, asks the reflector, and hands over what it said.

It reads values and writes through units alone: it holds no connection, and there is nothing here
that could run, send or approve. Source: SPEC E1, E2.
"""

import time
from collections.abc import Callable
from functools import partial
from typing import Final

import anyio
import msgspec
import structlog

from pmcl.contracts import Spending
from pmcl.judgement import Retrospect
from pmcl.store import StoreBusyError, StoreUnavailableError
from pmcl.workers.reflecting import (
    Admit,
    ReflectionConfig,
    abandon_all,
    claim,
    finish,
    is_void,
    tend,
)
from pmcl.workers.reflector import Reflected, Reflector, ReflectorError
from pmcl.workers.requests import where
from pmcl.workers.units import Units

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

    async def run(self) -> None:
        """Work for ever; a ledger that does not answer is asked again in a second."""
        begun = False
        while True:
            try:
                begun = begun or await self.begin()
                await self.tend()
                while await self.step():
                    pass
            except (StoreBusyError, StoreUnavailableError) as error:
                log.warning("reflection.postponed", error=type(error).__name__)
            except Exception as error:  # noqa: BLE001 - its claim runs out, and others go on
                log.error("reflection.defect", **where(error))
            await anyio.sleep(_LOOK_S)

    async def begin(self) -> bool:
        """End what an earlier process left open; its jobs wait again. Return `True`."""
        while await self._units.tell(partial(abandon_all, limits=self._config.limits)):
            pass
        return True

    async def tend(self) -> None:
        """Queue the idle jobs that are due, and end the cycles whose claim ran out."""
        reserved_ms = self._reflector.traits.reservation.ms
        await self._units.tell(partial(tend, config=self._config, reserved_ms=reserved_ms))

    async def step(self) -> bool:
        """Return whether a job was taken; its cycle is over, or its claim was lost."""
        retrospect = await self.claim()
        if isinstance(retrospect, Retrospect):
            await self.finish(retrospect, await self.ask(retrospect))
        return retrospect is not None

    async def claim(self) -> Retrospect | bool | None:
        """Return what to reflect on, `True` where the gate ended the job, `None` without one."""
        traits = self._reflector.traits
        decision = await self._units.record(partial(claim, config=self._config, traits=traits))
        if not decision.events:
            return None
        assert decision.reply is None or isinstance(decision.reply, Retrospect)
        return decision.reply or True

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
        """Cut the reflector off once nothing of the cycle can be kept: a stop must not wait."""
        while True:
            await anyio.sleep(_LOOK_S)
            if await self._units.look(partial(is_void, retrospect=retrospect)):
                scope.cancel()

    async def finish(self, retrospect: Retrospect, outcome: Reflected | ReflectorError) -> None:
        """Record the end of the cycle; nothing, if its claim is not open any more."""
        decision = await self._units.record(
            partial(
                finish,
                retrospect=retrospect,
                outcome=outcome,
                admit=self._admit,
                limits=self._config.limits,
            )
        )
        if not decision.events:
            log.warning("reflection.fenced", cycle=retrospect.cycle_id)
        elif isinstance(outcome, ReflectorError):
            log.warning("reflection.failed", cycle=retrospect.cycle_id, reason=outcome.reason)
