"""Sessions: one for each key and snapshot, opened at the first use and closed when idle.

What a key may do is remembered while the gateway runs, so that an idle session comes back as the
same one. After a start nothing is remembered: a lease must be begun before anything else.
Source: SPEC A1, G4.
"""

from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final

import anyio
import anyio.to_thread
import structlog
from anyio.abc import TaskGroup

from pmcl.bus import Credentials
from pmcl.contracts import BusyError, LeaseNotFoundError, PmclError
from pmcl.hosts.config import HostConfig
from pmcl.hosts.desk import Desk
from pmcl.hosts.gateway.access import Caller
from pmcl.hosts.gateway.config import GatewayConfig
from pmcl.hosts.gateway.refusals import GatewayRefusedError
from pmcl.hosts.gateway.session import Session, Terms

__all__ = ["Sessions"]

log = structlog.get_logger()

_TICK_S: Final = 0.5


class Sessions:
    """All sessions of one gateway; `run` must run beside it."""

    def __init__(self, config: GatewayConfig, tasks: TaskGroup) -> None:
        self._config = config
        self._tasks = tasks
        self._of: dict[str, list[Session]] = {}
        self._terms: dict[str, Terms] = {}
        self._beginning: defaultdict[str, anyio.Lock] = defaultdict(anyio.Lock)

    @asynccontextmanager
    async def begin(self, caller: Caller, terms: Terms) -> AsyncIterator[Desk]:
        """Yield the desk of these terms; it is the key's current one from now on.

        Raises:
            RefusedError, HostError, LedgerError: the lease was refused; the current one stays.
            BusyError: too many sessions are in use.
        """
        async with AsyncExitStack() as stack:
            async with self._beginning[caller.nkey]:
                session = self._usable(caller, terms)
                if session is None or session.fenced:
                    session = self._start(caller, terms)
                desk = await stack.enter_async_context(session.use())
                self._terms[caller.nkey] = terms
                for other in self._of.get(caller.nkey, []):
                    if other is not session:
                        other.retire()
            yield desk

    @asynccontextmanager
    async def current(self, caller: Caller) -> AsyncIterator[Desk]:
        """Yield the desk that was begun last; that of an idle session is opened again.

        Raises:
            LeaseNotFoundError: none was begun.
            RefusedError, HostError, LedgerError, BusyError: as `begin`.
        """
        terms = self._terms.get(caller.nkey)
        if terms is None:
            raise LeaseNotFoundError("$", "", "a lease that was begun through this gateway")
        session = self._usable(caller, terms)
        async with self.begin(caller, terms) if session is None else session.use() as desk:
            yield desk

    @asynccontextmanager
    async def holding(self, caller: Caller, verdict_id: str) -> AsyncIterator[Desk]:
        """Yield the desk that gave a verdict, else the current one. Raises as `current`."""
        mine = self._of.get(caller.nkey, [])
        found = next((s for s in mine if s.desk is not None and s.desk.knows(verdict_id)), None)
        async with self.current(caller) if found is None else found.use() as desk:
            yield desk

    async def profile(self, caller: Caller) -> Terms:
        """Return what the host's operator wrote down for it.

        Raises:
            GatewayRefusedError: there is no profile here that can be used.
        """
        try:
            found = await anyio.to_thread.run_sync(self._config.load_profile, caller.known)
        except PmclError as error:
            log.warning("gateway.no_profile", error=type(error).__name__)
            limit = "a snapshot, since there is no profile that can be used"
            raise GatewayRefusedError(409, "no_profile", "$.authority", limit=limit) from error
        return Terms(authority=found.authority, provider_locality=found.provider_locality)

    def forget(self, caller: Caller) -> None:
        """The key has no lease any more; what is open is closed in its own time."""
        self._terms.pop(caller.nkey, None)
        for session in self._of.get(caller.nkey, []):
            session.retire()

    async def run(self) -> None:
        """Close what is over, for ever."""
        while True:
            await anyio.sleep(_TICK_S)
            for nkey, mine in list(self._of.items()):
                for session in list(mine):
                    await self._look(session)
                    if session.ended:
                        mine.remove(session)
                if not mine:
                    del self._of[nkey]

    async def close(self) -> None:
        """Close every session, each dispatch without an outcome as `unknown`."""
        everyone = [session for mine in self._of.values() for session in mine]
        for session in everyone:
            session.end()
        for session in everyone:
            await session.wait_ended()

    async def _look(self, session: Session) -> None:
        if session.desk is not None:
            await session.desk.expire()
        idle_s = session.idle_s()
        if idle_s is not None and (session.retired or idle_s >= self._config.idle_s):
            session.end()

    def _start(self, caller: Caller, terms: Terms) -> Session:
        self._make_room()
        known = caller.known
        config = HostConfig(
            credentials=Credentials(
                url=self._config.url, scope=known.scope, host=known.host, seed=caller.seed
            ),
            authority=terms.authority,
            provider_locality=terms.provider_locality,
            rules=self._config.rules,
            state_dir=self._config.hosts_dir,
        )
        session = Session(config, terms)
        self._of.setdefault(caller.nkey, []).append(session)
        self._tasks.start_soon(session.run)
        return session

    def _usable(self, caller: Caller, terms: Terms) -> Session | None:
        mine = self._of.get(caller.nkey, [])
        return next((s for s in reversed(mine) if s.terms == terms and s.usable), None)

    def _make_room(self) -> None:
        """End the session that was idle longest, if there are too many."""
        everyone = [s for mine in self._of.values() for s in mine if not s.ended]
        if len(everyone) < self._config.sessions_max:
            return
        idle = [(s.idle_s() or -1.0, s) for s in everyone if s.idle_s() is not None]
        if not idle:
            raise BusyError("$", "sessions", f"{self._config.sessions_max} sessions open")
        max(idle, key=lambda each: each[0])[1].end()
