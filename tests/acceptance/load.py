"""One host in this process that keeps the whole path busy, and knows what was acknowledged."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

from pmcl.contracts import LedgerError, Resource
from pmcl.hosts import (
    DispatchRefusedError,
    Host,
    HostConfig,
    ObservationFields,
    ObservationLostError,
)
from tests.acceptance.facts import until
from tests.acceptance.world import reading

__all__ = ["Load", "loading"]

_WIDE = tuple(Resource(kind="path", value=f"/work/wide-{number}") for number in range(64))
_BATCH = 50


class Load:
    """Goes on until it is stopped; `acked` and `used` only grow."""

    def __init__(self, host: Host, *, observes: bool) -> None:
        self.acked: list[str] = []
        self.used: list[str] = []
        self.stopped = False
        self._host = host
        self._observes = observes

    async def run(self) -> None:
        number = 0
        while not self.stopped:
            number += 1
            if self._observes:
                await self._observe(number)
            await self._act(number)

    async def grows(self, acked: int = 0, used: int = 0) -> None:
        """Return when so many more were acknowledged and used."""
        acked, used = len(self.acked) + acked, len(self.used) + used

        async def grown() -> bool:
            return len(self.acked) >= acked and len(self.used) >= used

        await until(grown, within_s=40)

    async def _observe(self, number: int) -> None:
        # Many resources make large events: LOG needs several blocks.
        fields: list[ObservationFields] = [
            {"source": "load", "summary": f"{number}.{each}", "resources": _WIDE}
            for each in range(_BATCH)
        ]
        try:
            self.acked += await self._host.observe_many(fields)
        except ObservationLostError as lost:
            self.acked += lost.stored
        except LedgerError:
            return  # sent, perhaps stored, never acknowledged

    async def _act(self, number: int) -> None:
        proposal = reading(f"/work/{number}")
        verdict = await self._host.check(proposal)
        if verdict.status != "passed":
            return
        try:
            async with self._host.dispatch(verdict, proposal):
                self.used.append(verdict.claim_id)
        except (DispatchRefusedError, LedgerError):
            return  # the lease or the verdict was over, or the host's file is not to be written


@asynccontextmanager
async def loading(config: HostConfig, *, observes: bool = True) -> AsyncIterator[Load]:
    """Load runs within the block and is stopped, not cut, at its end."""
    async with Host.connect(config) as host, anyio.create_task_group() as tasks:
        load = Load(host, observes=observes)
        tasks.start_soon(load.run)
        yield load
        load.stopped = True
