"""An observation is stored when `observe` returns; when it raises, its number is closed by a void.

Nothing of it touches the host's disk but its number; memory keeps it until the ledger has it.
Source: SPEC B1, G1; DESIGN section 2, a host's watermark.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple, Required, TypedDict

import anyio
import structlog
from ulid_transform import bytes_to_ulid, ulid_now

from pmcl.bus import INTAKE, Outgoing, publish_batch
from pmcl.contracts import (
    BusError,
    LedgerError,
    Observation,
    Resource,
    TrustLabel,
    decode,
    encode,
    sha256,
)
from pmcl.hosts.clock import now_s, wall_ms
from pmcl.hosts.dispatch import Dispatch
from pmcl.hosts.errors import ObservationLostError
from pmcl.hosts.intake import Numbered, headers_of, store_each
from pmcl.hosts.redacting import ready_to_redact
from pmcl.hosts.session import Session
from pmcl.judgement import redact_observation

__all__ = ["ObservationFields", "Observer"]

log = structlog.get_logger()

_AT_ONCE = 100
_TRY_S = 1.0
_PAUSE_S = 0.05
_SHORTEST_S = 0.01
_GRACE_MS = 5_000
_CLEANUP_S = 2.0


class ObservationFields(TypedDict, total=False):
    """What a host says of one observation; see `pmcl.contracts.Observation`.

    `key` is made when it is not given; `trust` is `tool_output` unless said otherwise.
    """

    source: Required[str]
    summary: Required[str]
    key: str
    trust: TrustLabel
    detail: str | None
    resources: tuple[Resource, ...]
    domain: Literal["inner", "outer"]
    modality: str
    provenance: str
    confidence: float
    evidence_ids: tuple[str, ...]
    visibility: Literal["local_only", "shareable"]
    observed_at: int


class _Lost(NamedTuple):
    keys: Sequence[str]
    reason: str


class Observer:
    """Sends observations of one host."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def observe(
        self, observed: Sequence[ObservationFields], ends: Dispatch | None = None
    ) -> list[str]:
        """Return the evidence ids once all observations are stored.

        Args:
            observed: what was seen.
            ends: the block of a call that ended with it; its result is recorded as well.

        Raises:
            ContractError: an observation does not have its shape; none was sent.
            DetectorMissingError: one may hold a secret that nothing here would find; none was sent.
            ObservationLostError: some, or all, were not stored in time.
            HostError: the host's file is full.
            LedgerError: the host's file could not be written after some had been sent.
        """
        ends_s = now_s() + self._session.config.observe_ms / 1000
        generation = await self._generation(observed, ends_s)
        await ready_to_redact(observed)
        made = [self._made(fields, generation) for fields in observed]
        evidence_ids: list[str] = []
        for start in range(0, len(made), _AT_ONCE):
            part = made[start : start + _AT_ONCE]
            lost = await self._store(part, ends_s, ends)
            ends = None
            evidence_ids += [each.evidence_id for each, _ in part if each.key not in lost.keys]
            if lost.keys:
                keys = (*lost.keys, *(each.key for each, _ in made[start + _AT_ONCE :]))
                raise ObservationLostError(keys, tuple(evidence_ids), lost.reason)
        return evidence_ids

    async def _generation(self, observed: Sequence[ObservationFields], ends_s: float) -> int:
        try:
            binding = await self._session.keeper.wait(ends_s - now_s())
            await self._session.connection.wait_ready(max(0.0, ends_s - now_s()))
        except BusError as error:
            raise _all_lost(observed, str(error)) from error
        if binding is None:
            raise _all_lost(observed, "no lease")
        return binding.generation

    def _made(self, fields: ObservationFields, generation: int) -> tuple[Observation, bytes]:
        given: dict[str, Any] = {"trust": "tool_output", "observed_at": wall_ms(), **fields}
        key = given.setdefault("key", ulid_now())
        raw = Observation(**given, evidence_id=self._evidence_id(key), generation=generation)
        body = encode(redact_observation(raw, self._session.redaction_key))
        return decode(body, Observation), body

    def _evidence_id(self, key: str) -> str:
        """Return the id that every observation of this key has, so that a repeat can be cited."""
        credentials = self._session.config.credentials
        named = f"{credentials.scope}/{credentials.host}/{key}"
        return bytes_to_ulid(bytes.fromhex(sha256(named.encode()))[:16])

    async def _store(
        self, part: Sequence[tuple[Observation, bytes]], ends_s: float, ends: Dispatch | None
    ) -> _Lost:
        """Store a part and return what was lost."""
        deadline_ms = wall_ms() + int(max(0.0, ends_s - now_s()) * 1000) + _GRACE_MS
        try:
            first = None if ends is None else await ends.finish_reserving(len(part), deadline_ms)
            if first is None:
                first = await self._session.file.reserve(len(part), deadline_ms)
        except LedgerError as error:  # nothing was sent without a number
            return _Lost([observation.key for observation, _ in part], str(error))
        subject, epoch = self._session.config.subject("observation"), self._session.file.epoch
        messages = [
            Numbered(subject, epoch, number, body)
            for number, (_, body) in enumerate(part, start=first)
        ]
        kept: frozenset[int] = frozenset()
        try:
            stored = await self._send(messages, ends_s)
            kept = await self._session.file.acknowledged(stored)
            self._session.kept.keep(m for m in messages if m.number in kept)
        finally:
            if len(kept) < len(part):
                await self._void([m.number for m in messages if m.number not in kept])
        lost = [
            observation.key
            for number, (observation, _) in enumerate(part, start=first)
            if number not in kept
        ]
        return _Lost(lost, "not acknowledged in time")

    async def _send(self, messages: Sequence[Numbered], ends_s: float) -> list[int]:
        """Send until all are stored or the time is over; return the numbers of what is stored."""
        if len(messages) > 1 and await self._send_batch(messages, ends_s):
            return [message.number for message in messages]
        stored: list[int] = []
        waiting = list(messages)
        while waiting and (left_s := ends_s - now_s()) > 0:
            done = await store_each(self._session.connection, waiting, min(left_s, _TRY_S))
            stored += done
            waiting = [message for message in waiting if message.number not in set(done)]
            if waiting:
                await self._pause(ends_s)
        return stored

    async def _send_batch(self, messages: Sequence[Numbered], ends_s: float) -> bool:
        """Return whether all were stored as one; if not, each is sent again by itself."""
        batch = [Outgoing(m.subject, m.body, headers_of(m)) for m in messages]
        left_s = max(_SHORTEST_S, (ends_s - now_s()) / 2)
        try:
            await publish_batch(self._session.connection, INTAKE, batch, left_s)
        except BusError as error:
            log.info("observe.batch_refused", size=len(batch), error=type(error).__name__)
            return False
        return True

    async def _pause(self, ends_s: float) -> None:
        """Wait for the connection, and a little longer against a stream that refuses."""
        await anyio.sleep(_PAUSE_S)
        try:
            await self._session.connection.wait_ready(max(0.0, ends_s - now_s()))
        except BusError:
            return  # the time is over

    async def _void(self, numbers: Iterable[int]) -> None:
        with anyio.move_on_after(_CLEANUP_S, shield=True):
            await self._session.file.void(list(numbers))
        self._session.delivery.wake()


def _all_lost(observed: Sequence[ObservationFields], reason: str) -> ObservationLostError:
    keys = tuple(fields.get("key", "") for fields in observed)
    return ObservationLostError(keys, (), reason)
