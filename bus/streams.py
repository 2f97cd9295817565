"""The streams are as the guarantees need them, or the start is refused.

INTAKE is written by hosts and erasable. LOG is the relay's alone, append-only, and its
configuration is never updated once it exists: an update of its first sequence would empty it at
the next restart. No stream captures a request subject, for a captured request is answered by the
stream and not by a worker.

Source: DESIGN section 2; facts/reliability, sections 2 and 3; facts/relay, sections 1 and 5.
"""

from collections.abc import Iterable
from typing import Any, Final

import msgspec
import structlog

from pmcl.bus.accounts import DURABLES, REQUESTS
from pmcl.bus.connection import Connection
from pmcl.bus.errors import StreamConfigError, StreamMissingError
from pmcl.bus.jetstream import API_TIMEOUT_S, call, consumer_state, stream_state
from pmcl.contracts import PREFIX, STORED_PREFIX

__all__ = [
    "ACK_WAIT_S",
    "DEADLETTERS",
    "INTAKE",
    "LOG",
    "StreamLimits",
    "dead_letter_counts",
    "ensure_streams",
    "intake_progress",
    "observed_through",
    "recreate_log",
    "replay_intake",
    "rewind_consumers",
    "stream_configuration",
]

log = structlog.get_logger()

INTAKE: Final = "INTAKE"
LOG: Final = "LOG"
DEADLETTERS: Final = "DEADLETTERS"
ACK_WAIT_S: Final = 30
"""How long a delivered message may stay without an ack or a sign of progress."""

_MAX_ACK_PENDING: Final = 1024
_REQUESTS: Final = tuple(f"{PREFIX}.{kind}.>" for kind in REQUESTS)
_DEAD_LETTERS: Final = f"{PREFIX}.deadletter.>"
_NS: Final = 1_000_000_000


class StreamLimits(msgspec.Struct, frozen=True, kw_only=True):
    """How much a stream may hold; a full one refuses, it never drops. -1 is no limit.

    Attributes:
        ack_wait_s: of the two consumers; the pull loop must be told the same.
    """

    intake_bytes: int = 4 * 1024**3
    log_bytes: int = -1
    deadletters_bytes: int = 256 * 1024**2
    ack_wait_s: float = ACK_WAIT_S


async def ensure_streams(admin: Connection, limits: StreamLimits | None = None) -> None:
    """The three streams and the consumers `observe` and `outcome` exist as they must be.

    Raises:
        StreamConfigError: a stream captures request subjects, LOG exists in another form, or a
            stream exists in a form that cannot be updated.
        BusError: no answer.
    """
    limits = limits or StreamLimits()
    await _check_requests_free(admin)
    await _ensure_stream(admin, _intake(limits))
    await _ensure_stream(admin, _deadletters(limits))
    await _ensure_log(admin, _log(limits))
    for durable in DURABLES:
        config = _consumer(durable, limits)
        body = {"stream_name": INTAKE, "config": config}
        await call(admin, f"CONSUMER.DURABLE.CREATE.{INTAKE}.{durable}", body)


async def recreate_log(
    admin: Connection, first_sequence: int, limits: StreamLimits | None = None
) -> None:
    """LOG is empty and its next message gets `first_sequence`; its consumers are gone."""
    try:
        await call(admin, f"STREAM.DELETE.{LOG}")
    except StreamMissingError:
        log.info("bus.log_was_missing")
    config = _log(limits or StreamLimits()) | {"first_seq": first_sequence}
    await call(admin, f"STREAM.CREATE.{LOG}", config)


async def rewind_consumers(admin: Connection) -> None:
    """What the last worker took and did not acknowledge is delivered again at once.

    For the start of the one process that consumes INTAKE: otherwise what it held when it was
    killed would stay out for `ACK_WAIT_S`. Some messages come again; the inbox knows them.
    """
    for durable in DURABLES:
        await call(admin, f"CONSUMER.RESET.{INTAKE}.{durable}")


async def replay_intake(admin: Connection) -> None:
    """All that INTAKE holds is delivered again, from its first message; the inbox knows most."""
    for durable in DURABLES:
        await call(admin, f"CONSUMER.RESET.{INTAKE}.{durable}", {"seq": 1})


async def intake_progress(connection: Connection) -> tuple[int, int]:
    """Return the last sequence of INTAKE, and the one up to which every message is dealt with.

    Raises:
        BusError: no answer.
    """
    state = await stream_state(connection, INTAKE)
    last = 0 if state is None else state.last
    try:
        return last, min([await _done_through(connection, durable, last) for durable in DURABLES])
    except StreamMissingError:
        return last, 0  # a consumer that is made again begins at the first message


async def observed_through(admin: Connection) -> int:
    """Return the sequence of INTAKE up to which every observation is dealt with."""
    state = await stream_state(admin, INTAKE)
    return 0 if state is None else await _done_through(admin, "observe", state.last)


async def dead_letter_counts(
    connection: Connection, *, timeout_s: float = API_TIMEOUT_S
) -> dict[str, int]:
    """Return how many dead letters there are of each worker that has some, by its name.

    Raises:
        StreamMissingError: the stream is gone.
        BusError: no answer.
    """
    asked = {"subjects_filter": _DEAD_LETTERS}
    info = await call(connection, f"STREAM.INFO.{DEADLETTERS}", asked, timeout_s=timeout_s)
    counts: dict[str, int] = info["state"].get("subjects") or {}
    return {subject.rpartition(".")[2]: count for subject, count in sorted(counts.items())}


async def stream_configuration(admin: Connection, name: str) -> dict[str, Any] | None:
    """Return how the server keeps a stream, None if there is no such stream.

    Raises:
        BusError: no answer.
    """
    try:
        config: dict[str, Any] = (await call(admin, f"STREAM.INFO.{name}"))["config"]
    except StreamMissingError:
        return None
    return config


async def _done_through(admin: Connection, durable: str, last: int) -> int:
    """Return the sequence up to which a consumer has nothing left to do, `last` at the most."""
    state = await consumer_state(admin, INTAKE, durable)
    return last if state.pending == state.unacked == 0 else state.floor


async def _check_requests_free(admin: Connection) -> None:
    for subject in _REQUESTS:
        found = await call(admin, "STREAM.NAMES", {"subject": subject})
        if found["streams"]:
            name = ", ".join(found["streams"])
            raise StreamConfigError(f"stream {name}", f"subjects within {subject}", "none of them")


async def _ensure_stream(admin: Connection, wanted: dict[str, Any]) -> None:
    name = wanted["name"]
    found = await stream_configuration(admin, name)
    if found is None:
        await call(admin, f"STREAM.CREATE.{name}", wanted)
        return
    _check(name, found, wanted, ("storage", "retention"))
    _check_durable(name, found)
    if _differing(found, wanted):
        await call(admin, f"STREAM.UPDATE.{name}", found | wanted)


async def _ensure_log(admin: Connection, wanted: dict[str, Any]) -> None:
    found = await stream_configuration(admin, LOG)
    if found is None:
        await call(admin, f"STREAM.CREATE.{LOG}", wanted)
        return
    _check(LOG, found, wanted, wanted.keys() - {"max_bytes"})
    _check_durable(LOG, found)


def _differing(found: dict[str, Any], wanted: dict[str, Any]) -> list[str]:
    """Return the fields that are not as wanted; the server leaves out what is false or empty."""
    return sorted(name for name, value in wanted.items() if (found.get(name) or 0) != value)


def _check(
    stream: str, found: dict[str, Any], wanted: dict[str, Any], names: Iterable[str]
) -> None:
    for name in set(_differing(found, wanted)) & set(names):
        raise StreamConfigError(
            f"stream {stream}, {name}", repr(found.get(name)), repr(wanted[name])
        )


def _check_durable(stream: str, found: dict[str, Any]) -> None:
    """An asynchronous stream acknowledges before the disk has it, whatever the server syncs."""
    if found.get("persist_mode", "default") not in ("", "default"):
        raise StreamConfigError(f"stream {stream}, persist_mode", found["persist_mode"], "default")


def _stream(name: str, subjects: list[str], max_bytes: int) -> dict[str, Any]:
    return {
        "name": name,
        "subjects": subjects,
        "storage": "file",
        "retention": "limits",
        "discard": "new",
        "max_bytes": max_bytes,
        "max_age": 0,
        "allow_direct": False,
    }


def _intake(limits: StreamLimits) -> dict[str, Any]:
    stream = _stream(INTAKE, list(DURABLES.values()), limits.intake_bytes)
    return stream | {"allow_atomic": True}


def _deadletters(limits: StreamLimits) -> dict[str, Any]:
    return _stream(DEADLETTERS, [_DEAD_LETTERS], limits.deadletters_bytes)


def _log(limits: StreamLimits) -> dict[str, Any]:
    subjects = [f"{PREFIX}.event.>", f"{PREFIX}.reflection.>"]
    return _stream(LOG, subjects, limits.log_bytes) | {
        "allow_atomic": True,
        "deny_delete": True,
        "republish": {"src": f"{PREFIX}.>", "dest": f"{STORED_PREFIX}.>"},
    }


def _consumer(durable: str, limits: StreamLimits) -> dict[str, Any]:
    return {
        "durable_name": durable,
        "name": durable,
        "filter_subject": DURABLES[durable],
        "deliver_policy": "all",
        "ack_policy": "explicit",
        "ack_wait": int(limits.ack_wait_s * _NS),
        "max_deliver": -1,
        "max_ack_pending": _MAX_ACK_PENDING,
        "max_waiting": 512,
        "replay_policy": "instant",
    }
