"""The keeper holds the host's lease: it begins or joins one, keeps it, and says when it is fenced.

A lease that has run out is begun anew, as a new generation. One that another begin has fenced is
not: two would fence each other for ever, so everything of this host raises from then on. While
the server refuses the host's key, everything raises as well: that is no outage.
It also knows how old the sidecar's last word about the lease is: an operator's stop ends every
lease, so a word that is a second old proves that there was no stop before that second.
Source: SPEC A1, A3, F7.
"""

from collections.abc import Callable
from typing import TypeVar

import anyio
import msgspec
import structlog

from pmcl.bus import Connection
from pmcl.contracts import (
    BeginLease,
    BusError,
    BusyError,
    Contract,
    DisableLease,
    Heartbeat,
    HostError,
    Lease,
    LeaseEndedError,
    LeaseNotFoundError,
    LeaseState,
    LedgerUnavailableError,
    PmclError,
    Received,
    RefusedError,
    StaleGenerationError,
)
from pmcl.hosts.asking import ask
from pmcl.hosts.clock import now_s
from pmcl.hosts.config import HostConfig
from pmcl.hosts.errors import KeyRefusedError, ReplyError
from pmcl.hosts.proposal import Binding
from pmcl.judgement import check_snapshot_names

__all__ = ["LeaseKeeper"]

A = TypeVar("A", bound=Contract)

log = structlog.get_logger()

_RETRY_S = 0.25
_RETRIED = (BusError, BusyError, LedgerUnavailableError, ReplyError)
_OVER = (LeaseEndedError, LeaseNotFoundError)


class _Held(msgspec.Struct, frozen=True, kw_only=True):
    binding: Binding
    ends_s: float
    heartbeat_s: float
    confirmed_s: float


class LeaseKeeper:
    """Keeps the lease of one host; `run` must run beside it."""

    def __init__(
        self,
        connection: Connection,
        config: HostConfig,
        watermark: Callable[[], tuple[str, int]],
        on_received: Callable[[Received], None],
    ) -> None:
        self._connection = connection
        self._config = config
        self._watermark = watermark
        self._on_received = on_received
        self._held: _Held | None = None
        self._error: PmclError | None = None
        self._changed = anyio.Event()
        self._wanted = anyio.Event()
        connection.on_ready(self.wake)
        connection.on_refused(self._notify)

    @property
    def binding(self) -> Binding | None:
        """The living lease, or `None` while there is none.

        Raises:
            StaleGenerationError: a newer begin has fenced this host.
            HostError: the host has disabled its lease.
            RefusedError: the begin was refused.
            KeyRefusedError: its key is not accepted, for as long as it is not.
        """
        if self._error is not None:
            raise self._error
        if self._connection.refused:
            credentials = self._config.credentials
            raise KeyRefusedError(credentials.scope, credentials.host)
        return self._living

    @property
    def _living(self) -> Binding | None:
        held = self._held
        return held.binding if held is not None and now_s() < held.ends_s else None

    def word_age_s(self, binding: Binding) -> float:
        """Return how long ago something was asked whose answer shows that this lease lived."""
        held = self._held
        if held is None or held.binding != binding:
            return float("inf")
        return now_s() - held.confirmed_s

    def confirmed(self, binding: Binding, asked_s: float) -> None:
        """Take in that the lease lived when this was asked, from a reply that shows it."""
        held = self._held
        if held is not None and held.binding == binding and asked_s > held.confirmed_s:
            self._held = msgspec.structs.replace(held, confirmed_s=asked_s)

    async def confirm(self, timeout_s: float) -> None:
        """Ask whether the lease lives; what cannot be learned changes nothing."""
        held = self._held
        if held is None:
            return
        try:
            await self._renew(held.binding, timeout_s)
        except RefusedError as error:
            self.told(error, held.binding)
        except (BusError, ReplyError) as error:
            log.debug("lease.unanswered", error=type(error).__name__)

    async def wait(self, timeout_s: float) -> Binding | None:
        """Return the living lease, `None` if there is none in time. Raises as `binding`."""
        with anyio.move_on_after(timeout_s):
            while self.binding is None:
                self.wake()
                await self._changed.wait()
        return self.binding

    def wake(self) -> None:
        """Look after the lease now."""
        self._wanted.set()

    def told(self, error: PmclError, binding: Binding) -> None:
        """Take in what a reply said of the lease under which something was asked."""
        held = self._held
        if held is None or held.binding != binding:
            return
        if isinstance(error, StaleGenerationError) and now_s() < held.ends_s:
            self._stop(error)
        elif isinstance(error, (*_OVER, StaleGenerationError)):
            log.info("lease.ended", lease=binding.lease_id, generation=binding.generation)
            self._set(None)
            self.wake()

    async def run(self) -> None:
        """Keep the lease until it is fenced, refused or disabled."""
        while self._error is None:
            pause_s = await self._look()
            with anyio.move_on_after(pause_s):
                await self._wanted.wait()
            self._wanted = anyio.Event()

    async def disable(self, timeout_s: float) -> None:
        """End the lease now; the host can do nothing more.

        Raises:
            RefusedError, BusError: the sidecar did not say that it ended; here it did.
        """
        binding = self.binding
        self._stop(HostError("the lease was disabled"))
        if binding is not None:
            question = DisableLease(lease_id=binding.lease_id, generation=binding.generation)
            await self._ask("disable", question, LeaseState, timeout_s)

    async def _look(self) -> float:
        """Begin or renew, and return after how many seconds to look again."""
        binding = self._living
        try:
            timeout_s = self._config.deadline_ms / 1000
            await (self._begin(timeout_s) if binding is None else self._renew(binding, timeout_s))
        except _RETRIED as error:
            log.debug("lease.unanswered", error=type(error).__name__)
            return _RETRY_S
        except RefusedError as error:
            if binding is None:
                self._stop(error)
            else:
                self.told(error, binding)
        return self._held.heartbeat_s if self._held is not None else 0.0

    async def _begin(self, timeout_s: float) -> None:
        question = BeginLease(
            host_epoch=self._watermark()[0],
            authority=self._config.authority,
            provider_locality=self._config.provider_locality,
        )
        check_snapshot_names(self._config.authority)
        asked_s = now_s()
        lease = await self._ask("begin", question, Lease, timeout_s)
        binding = Binding(
            scope=self._config.credentials.scope,
            host=self._config.credentials.host,
            lease_id=lease.lease_id,
            generation=lease.generation,
            salt=lease.salt,
        )
        self._set(
            _Held(
                binding=binding,
                ends_s=asked_s + lease.valid_for_ms / 1000,
                heartbeat_s=lease.heartbeat_ms / 1000,
                confirmed_s=asked_s,
            )
        )
        log.info("lease.held", generation=lease.generation, joined=lease.joined)

    async def _renew(self, binding: Binding, timeout_s: float) -> None:
        question = Heartbeat(lease_id=binding.lease_id, generation=binding.generation)
        asked_s = now_s()
        state = await self._ask("heartbeat", question, LeaseState, timeout_s)
        if (state.lease_id, state.generation) != (binding.lease_id, binding.generation):
            raise ReplyError("heartbeat", "another lease")
        if not state.live:
            raise LeaseEndedError("$.lease_id", binding.lease_id, "a living lease")
        if state.received is not None:
            self._on_received(state.received)
        if self._held is not None and self._held.binding == binding:
            ends_s = asked_s + state.valid_for_ms / 1000
            self._set(msgspec.structs.replace(self._held, ends_s=ends_s))
            self.confirmed(binding, asked_s)

    async def _ask(self, verb: str, question: Contract, answer: type[A], timeout_s: float) -> A:
        return await ask(
            self._connection,
            self._config.subject("lease", verb),
            question,
            answer,
            watermark=self._watermark(),
            timeout_s=timeout_s,
        )

    def _set(self, held: _Held | None) -> None:
        self._held = held
        self._notify()

    def _stop(self, error: PmclError) -> None:
        log.warning("lease.stopped", error=type(error).__name__)
        self._error = error
        self._held = None
        self._notify()
        self.wake()

    def _notify(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()
