"""One connected host: it stays as long as somebody uses it or something of it is open.

Source: SPEC A1, G4.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Literal

import anyio
import msgspec
import structlog

from pmcl.contracts import AuthoritySnapshot, HostError, PmclError
from pmcl.hosts.client import Host
from pmcl.hosts.clock import now_s
from pmcl.hosts.config import HostConfig
from pmcl.hosts.desk import Desk
from pmcl.hosts.gateway.defects import where

__all__ = ["Session", "Terms"]

log = structlog.get_logger()


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """Under what a lease is begun; equal terms share a session."""

    authority: AuthoritySnapshot
    provider_locality: Literal["local", "nonlocal"]


class Session:
    """One connected host; `run` must run beside it."""

    def __init__(self, config: HostConfig, terms: Terms) -> None:
        self.terms = terms
        self._config = config
        self._desk: Desk | None = None
        self._error: PmclError = HostError("the session has ended")
        self._opened = anyio.Event()
        self._ending = anyio.Event()
        self._ended = anyio.Event()
        self._users = 0
        self._used_s = now_s()
        self._retired = False

    @property
    def retired(self) -> bool:
        """Whether another one took its place."""
        return self._retired

    @property
    def ended(self) -> bool:
        """Whether it can never be used again."""
        return self._ended.is_set()

    @property
    def desk(self) -> Desk | None:
        """What it has open; `None` before it is connected and after its end."""
        return None if self.ended else self._desk

    @property
    def usable(self) -> bool:
        """Whether it takes new requests: it is neither closing nor replaced."""
        return not (self._retired or self._ending.is_set() or self.ended)

    @property
    def fenced(self) -> bool:
        """Whether a newer begin, or a disable, has made its lease useless."""
        if self.desk is None:
            return self.ended
        try:
            _ = self.desk.host.generation
        except PmclError:
            return True
        return False

    def idle_s(self) -> float | None:
        """Return for how long nobody used it; `None` while it is in use or has something open."""
        desk = self.desk
        busy = desk is not None and desk.verdicts + desk.dispatches > 0
        return None if self._users or busy else now_s() - self._used_s

    @asynccontextmanager
    async def use(self) -> AsyncIterator[Desk]:
        """Yield the desk once the host is connected; the session stays open as long.

        Raises:
            PmclError: why it could not be opened.
        """
        self._users += 1
        try:
            await self._opened.wait()
            desk = self.desk
            if desk is None:
                raise self._error
            yield desk
        finally:
            self._users -= 1
            self._used_s = now_s()

    def retire(self) -> None:
        """Another lease is begun, or none: it only waits for outcomes, and then ends."""
        self._retired = True
        if self._desk is not None:
            self._desk.fence()

    def end(self) -> None:
        """Have it closed now, whatever is open."""
        self._ending.set()

    async def wait_ended(self) -> None:
        """Return once everything is closed."""
        await self._ended.wait()

    async def run(self) -> None:
        """Keep the host connected until the end is asked for."""
        try:
            async with Host.connect(self._config) as host:
                self._desk = Desk(host)
                if self._retired:
                    self._desk.fence()
                self._opened.set()
                await self._ending.wait()
                await self._desk.close()
        except PmclError as error:
            self._error = error
            log.info("gateway.session_refused", error=type(error).__name__)
        except Exception as error:  # noqa: BLE001 - one host's defect must not end the others
            log.error("gateway.session_failed", **where(error))
        finally:
            self._ended.set()
            self._opened.set()
