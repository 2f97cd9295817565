"""Requests: each one gets exactly one reply within its budget, or none; the queues are bounded."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

import anyio
import anyio.lowlevel
import msgspec
import structlog
from anyio.abc import TaskGroup

from pmcl.bus import Connection, Message, SpanKind, Subscription, light_tasks, span
from pmcl.contracts import (
    PREFIX,
    BusError,
    BusyError,
    Contract,
    ContractError,
    ErrorReply,
    Evaluation,
    EvidencePendingError,
    LeaseState,
    LedgerUnavailableError,
    RefusedError,
    Subject,
    Ulid,
    decode,
    encode,
    headers,
    limits,
    parse_subject,
)
from pmcl.store import StoreBusyError, StoreUnavailableError
from pmcl.workers.commits import CommitSignal
from pmcl.workers.missing import MissingNumbers
from pmcl.workers.signals import RuntimeSignals
from pmcl.workers.units import Behind, Units
from pmcl.workers.worker import Incoming, RequestWorker

__all__ = ["RequestLimits", "RequestLoop"]

log = structlog.get_logger()

_REPLY_SUBJECTS: Final = ("_R_.", "_INBOX.")
_DIGITS_MAX: Final = 15


class RequestLimits(msgspec.Struct, frozen=True, kw_only=True):
    """How many requests may be under way, and how long one may take that names no budget."""

    cell: int = limits.CELL_QUEUE
    host: int = limits.HOST_QUEUE
    budget_ms: int = limits.CLIENT_DEADLINE_MS


class RequestLoop:
    """Serves request workers on one connection."""

    def __init__(
        self,
        connection: Connection,
        units: Units,
        commits: CommitSignal,
        workers: Sequence[RequestWorker[Any]],
        limits: RequestLimits,
        signals: RuntimeSignals | None = None,
    ) -> None:
        self._connection = connection
        self._units = units
        self._commits = commits
        self._missing = MissingNumbers(connection, units)
        self._workers = {worker.kind: worker for worker in workers}
        self._limits = limits
        self._signals = signals or RuntimeSignals()
        self._under_way: Counter[tuple[str, str]] = Counter()
        self._idle = anyio.Event()
        self._taking: list[Subscription] = []

    async def serve(self, tasks: TaskGroup) -> None:
        """Subscribe; from now on each request is answered by a task of `tasks`."""
        requests = await tasks.start(light_tasks)

        def receive(message: Message) -> None:
            requests.create_task(self._serve(message))

        for kind in self._workers:
            subject = f"{PREFIX}.{kind}.>"
            self._taking.append(await self._connection.subscribe(subject, receive, queue="cell"))

    async def drain(self) -> None:
        """Take no more; return when what was taken has its reply."""
        for subscription in self._taking:
            await subscription.unsubscribe()
        await anyio.lowlevel.checkpoint()  # what was just taken counts itself first
        while self._under_way:
            self._idle = anyio.Event()
            await self._idle.wait()

    async def _serve(self, message: Message) -> None:
        if not message.reply.startswith(_REPLY_SUBJECTS):
            log.warning("request.unanswerable", subject=message.subject)
            return
        kind, began_s = message.subject.split(".")[2], time.perf_counter()
        self._signals.taken(kind)
        with span(f"pmcl.{kind}", parent=message.headers, kind=SpanKind.SERVER) as receiving:
            reply = await self._reply(message)
            receiving.set_attributes(_attributes(reply))
            if reply is not None:
                await self._settle(message, reply)
        self._signals.answered(kind, _answer_of(reply), time.perf_counter() - began_s)

    async def _settle(self, message: Message, reply: Contract) -> None:
        with span("pmcl.settle"):
            try:
                await self._connection.publish(message.reply, encode(reply))
            except BusError as error:
                lost = type(error).__name__
                log.warning("request.reply_lost", subject=message.subject, error=lost)

    async def _reply(self, message: Message) -> Contract | None:
        try:
            return await self._bounded(message)
        except RefusedError as refused:
            return _error_reply(refused)
        except StoreBusyError as error:
            return _error_reply(BusyError("$", "writer", error))
        except StoreUnavailableError as error:
            return _error_reply(LedgerUnavailableError("$", "ledger", error))
        except Exception as error:  # noqa: BLE001 - one bad request must not end the others
            log.error("request.failed", subject=message.subject, **where(error))
            self._signals.defective(message.subject.split(".")[2], **where(error))
            return _error_reply(LedgerUnavailableError("$", type(error).__name__, "no defect"))

    async def _bounded(self, message: Message) -> Contract | None:
        subject = parse_subject(message.subject)
        sender = (subject.scope, subject.host)
        if self._under_way.total() >= self._limits.cell:
            raise BusyError("$", "cell", f"{self._limits.cell} requests under way")
        if self._under_way[sender] >= self._limits.host:
            raise BusyError("$", "host", f"{self._limits.host} requests under way")
        budget_s = _budget_ms(message.headers, self._limits.budget_ms) / 1000
        self._under_way[sender] += 1
        try:
            with anyio.move_on_after(budget_s):
                return await self._answer(message, subject, budget_s)
            log.warning("request.late", subject=message.subject)
            return None
        finally:
            self._under_way[sender] -= 1
            if not self._under_way[sender]:
                del self._under_way[sender]
                self._idle.set()

    async def _answer(self, message: Message, subject: Subject, budget_s: float) -> Contract:
        worker = self._workers[subject.kind]
        incoming = Incoming(
            subject=subject,
            body=decode(message.data, worker.accepts[subject.leaf]),
            epoch=epoch_of(message.headers) if headers.EPOCH in message.headers else "",
            number=whole_number(message.headers, headers.NUMBER, 0),
        )
        with span("pmcl.prepare"):
            prepared = await worker.prepare(incoming)
        with span("pmcl.decide"):
            return await self._decided(worker, incoming, prepared, budget_s / 2)

    async def _decided(
        self, worker: RequestWorker[Any], incoming: Incoming, prepared: Any, wait_s: float
    ) -> Contract:
        """Return the committed reply; the sender's watermark is waited for, `wait_s` at most."""
        ends = anyio.current_time() + wait_s
        while True:
            count = self._commits.count
            try:
                reply = await self._units.answer(worker, incoming, prepared)
                return await self._told(incoming, reply)
            except Behind as behind:
                # Only this wait is cut: a unit that is under way may be committed.
                if not await self._committed_since(count, ends):
                    place = headers.NUMBER
                    raise EvidencePendingError(place, incoming.number, "committed") from behind

    async def _told(self, incoming: Incoming, reply: Contract) -> Contract:
        """Return the reply; that of a heartbeat with what its sender must send again."""
        if not isinstance(reply, LeaseState) or reply.received is None or not incoming.number:
            return reply
        received = await self._missing.told(incoming, reply.received)
        return msgspec.structs.replace(reply, received=received)

    async def _committed_since(self, count: int, ends: float) -> bool:
        """Return whether another commit came before the loop's clock showed `ends`."""
        with anyio.CancelScope(deadline=ends):
            await self._commits.after(count)
            return True
        return False


def epoch_of(fields: Mapping[str, str]) -> str:
    """Return the epoch of the sender's file.

    Raises:
        ContractError: missing, or no ULID.
    """
    try:
        return msgspec.convert(fields.get(headers.EPOCH), Ulid)
    except msgspec.ValidationError as error:
        raise ContractError(headers.EPOCH, "", "a ULID") from error


def whole_number(fields: Mapping[str, str], name: str, default: int | None = None) -> int:
    """Return a header as a whole number; without `default` it must be there and at least 1.

    Raises:
        ContractError: missing, or anything but digits.
    """
    text = fields.get(name)
    if text is None and default is not None:
        return default
    fits = text is not None and text.isascii() and text.isdigit() and len(text) <= _DIGITS_MAX
    if text is None or not fits or (default is None and int(text) == 0):
        raise ContractError(name, "", "a whole number below 10^15, from 1 on a stream message")
    return int(text)


def _budget_ms(fields: Mapping[str, str], longest: int) -> int:
    return min(whole_number(fields, headers.BUDGET_MS, longest), longest)


def _answer_of(reply: Contract | None) -> str:
    if reply is None:
        return "late"
    return reply.code if isinstance(reply, ErrorReply) else "answered"


def _attributes(reply: Contract | None) -> dict[str, str]:
    """Return what a span says of a reply; no content."""
    attributes = {"pmcl.answer": _answer_of(reply)}
    if isinstance(reply, Evaluation):
        attributes["pmcl.evaluation_id"] = reply.evaluation_id
        attributes["pmcl.status"] = reply.checkpoint_status
    return attributes


def _error_reply(error: RefusedError) -> ErrorReply:
    return ErrorReply(
        code=error.code,
        field=error.field,
        value=error.value,
        limit=error.limit,
        message=str(error),
    )


def where(error: BaseException) -> dict[str, str]:
    """Return the type and the last line of an error; its text may hold content."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    line = "" if trace is None else f"{trace.tb_frame.f_code.co_name}:{trace.tb_lineno}"
    return {"error": type(error).__name__, "line": line}
