"""A host's desk: its messages go through the real workers into a real ledger, without a bus."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast, get_args

import msgspec
from ulid_transform import ulid_now

from pmcl.bus import Connection, Delivery, Message
from pmcl.contracts import (
    EVENTS,
    Approval,
    AuditReceipt,
    AuthoritySnapshot,
    BeginLease,
    BusError,
    CheckpointRequest,
    Contract,
    DenyApproval,
    Effect,
    Evaluation,
    Event,
    GrantApproval,
    Lease,
    LeaseState,
    Observation,
    Outcome,
    Premortem,
    Proposed,
    Reflection,
    Resource,
    Subject,
    Tool,
    TrustLabel,
    arguments_commitment,
    decode,
    encode,
    headers,
    proposal_hash,
)
from pmcl.ledger import LedgerKey, ledger_config
from pmcl.outbox import UnitOfWork
from pmcl.store import Writer, open_writer
from pmcl.workers import (
    Admission,
    ApprovalWorker,
    CheckpointWorker,
    Cycle,
    Decision,
    IdentityWorker,
    Incoming,
    LeaseTimes,
    LeaseWorker,
    ObserveWorker,
    OperatorWorker,
    OutcomeWorker,
    RecordWorker,
    RequestWorker,
    RetractionWorker,
    StopWorker,
    StreamHandler,
    StreamWorker,
    Units,
    admit_all,
)

TTL_MS = 60_000
START_MS = 1_700_000_000_000
NOTES = Resource(kind="path", value="/project/notes.txt", argument="path")
PLANS = Resource(kind="path", value="/project/plans.txt", argument="path")
TRUST: frozenset[TrustLabel] = frozenset({"user", "tool_output", "web", "model", "environment"})
AUTHORITY = AuthoritySnapshot(
    tools={"*": "grant", "files/format_disk": "prohibit", "files/rename_file": "approve"},
    effects=dict.fromkeys([e for e in get_args(Effect) if e != "sensing"], "grant"),
    writable_roots=("/project",),
    network_hosts=("api.example.com",),
)

Row = dict[str, Any]
Tables = dict[str, list[Row]]


class Clock:
    def __init__(self) -> None:
        self.now_ms = START_MS

    def __call__(self) -> int:
        return self.now_ms


class Wire:
    """Stands for the connection: keeps what would be sent, or fails."""

    def __init__(self) -> None:
        self.published: list[tuple[str, bytes]] = []
        self.requested: list[tuple[str, bytes]] = []
        self.error: BusError | None = None

    async def publish(self, subject: str, data: bytes, **_: Any) -> None:
        self.published.append((subject, data))

    async def request(self, subject: str, data: bytes, **_: Any) -> Message:
        if self.error is not None:
            raise self.error
        self.requested.append((subject, data))
        return Message(subject=subject, data=b"{}")

    @property
    def connection(self) -> Connection:
        return cast("Connection", self)


class Ledger:
    """A real ledger in a temporary file, with a clock that a test sets."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self.clock = Clock()
        self.units = Units(writer, now_ms=self.clock)
        self.key = LedgerKey(bytes(32))
        self.wire = Wire()
        self._sequence = 0

    async def rows(self, sql: str, **params: Any) -> list[Row]:
        found = await self.writer.run(lambda tx: tx.all(sql, **params))
        return [{name: row[name] for name in row.keys()} for row in found]  # noqa: SIM118

    async def tables(self) -> Tables:
        """Every table but SQLite's own and the index of words, whole."""
        names = await self.rows(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'payload_words%'"
        )
        return {row["name"]: await self.rows(f"SELECT * FROM {row['name']}") for row in names}

    async def journal(self) -> list[tuple[str, bytes]]:
        rows = await self.rows("SELECT subject, body FROM journal ORDER BY sequence")
        return [(row["subject"], row["body"]) for row in rows]

    async def events(self, *kinds: type[Event]) -> list[Any]:
        """The journal's events, of some kinds or all."""
        decoded = [decode(body, *EVENTS) for _, body in await self.journal()]
        return [event for event in decoded if not kinds or isinstance(event, kinds)]

    def handler(self, worker: StreamWorker[Any]) -> StreamHandler:
        return StreamHandler(self.wire.connection, self.units, worker)

    def delivery(self, message: Message) -> tuple[Delivery, Wire]:
        """A delivery, and the wire on which its end will be said."""
        self._sequence += 1
        wire = Wire()
        reply = f"$JS.ACK.INTAKE.observe.1.{self._sequence}.1.0.0"
        heard = msgspec.structs.replace(message, reply=reply)
        return Delivery(wire.connection, heard), wire

    async def sweep(self) -> int:
        return await self.units.sweep()


class Desk:
    """One host with its lease and its numbered messages."""

    def __init__(self, ledger: Ledger, scope: str = "team", host: str = "desk") -> None:
        self.ledger = ledger
        self.scope = scope
        self.host = host
        self.epoch = ulid_now()
        self.number = 0
        self.sent: list[tuple[StreamHandler, Message]] = []
        self.checkpoint = CheckpointWorker(ledger.key)
        self.leases = LeaseWorker(ledger.key, LeaseTimes(ttl_ms=TTL_MS, heartbeat_ms=20_000))
        self.observer = ledger.handler(ObserveWorker(ledger.key, lambda *_: TRUST))
        self.outcomes = ledger.handler(OutcomeWorker())
        self._lease: Lease | None = None

    @property
    def lease(self) -> Lease:
        assert self._lease is not None
        return self._lease

    # --- requests

    async def ask(
        self, worker: RequestWorker[Any], leaf: str | None, body: Contract, number: int = 0
    ) -> Any:
        """The committed reply, or the error that the worker raised."""
        subject = Subject(worker.kind, self.scope, self.host, leaf)
        incoming = Incoming(subject=subject, body=body, epoch=self.epoch, number=number)
        prepared = await worker.prepare(incoming)
        return await self.ledger.units.answer(worker, incoming, prepared)

    async def begin(self, kind: type[Any] = BeginLease, **changes: Any) -> Lease:
        leaf = "begin" if kind is BeginLease else "resume"
        fields = {"host_epoch": self.epoch, "authority": AUTHORITY, **changes}
        self._lease = await self.ask(self.leases, leaf, kind(**fields))
        return self.lease

    async def say(self, leaf: str, kind: type[Any], **changes: Any) -> LeaseState:
        """Heartbeat, complete or disable under the desk's lease."""
        fields = {"lease_id": self.lease.lease_id, "generation": self.lease.generation, **changes}
        state = await self.ask(self.leases, leaf, kind(**fields))
        assert isinstance(state, LeaseState)
        return state

    def request(self, tool: str = "write_file", **changes: Any) -> CheckpointRequest:
        """A proposal under the desk's lease, its hash right."""
        return request_of(self.scope, self.host, self.lease, tool, **changes)

    async def check(self, request: CheckpointRequest, number: int = 0) -> Evaluation:
        evaluation = await self.ask(self.checkpoint, request.kind, request, number)
        assert isinstance(evaluation, Evaluation)
        return evaluation

    async def say_as_operator(self, verb: str, body: Contract) -> Any:
        """The committed reply to an operator."""
        subject = Subject("ops", "", "", verb)
        incoming = Incoming(subject=subject, body=body)
        identity = IdentityWorker(self.ledger.key)
        worker = OperatorWorker(
            ApprovalWorker(), identity, RecordWorker(), RetractionWorker(), StopWorker()
        )
        prepared = await worker.prepare(incoming)
        return await self.ledger.units.answer(worker, incoming, prepared)

    async def asked(self, **changes: Any) -> Evaluation:
        """A rename that only an operator's word is missing for."""
        seen = await self.observe(resources=(NOTES,))
        request = self.request("rename_file", premortem=premortem(seen), **changes)
        return await self.check(request)

    async def grant(self, evaluation: Evaluation, **changes: Any) -> Approval:
        assert evaluation.approval_id is not None
        grant = GrantApproval(approval_id=evaluation.approval_id, label="ann", **changes)
        approval = await self.say_as_operator("approve", grant)
        assert isinstance(approval, Approval)
        return approval

    async def deny(self, evaluation: Evaluation) -> Approval:
        assert evaluation.approval_id is not None
        deny = DenyApproval(approval_id=evaluation.approval_id, label="ann")
        approval = await self.say_as_operator("deny", deny)
        assert isinstance(approval, Approval)
        return approval

    async def passed(self, **changes: Any) -> Evaluation:
        """A write that passes, since fresh evidence about its target is cited."""
        seen = await self.observe(resources=(NOTES,))
        evaluation = await self.check(self.request(premortem=premortem(seen), **changes))
        assert evaluation.checkpoint_status == "passed", evaluation.reasons
        return evaluation

    async def reflect(self, *proposals: Proposed) -> Admission:
        """What became of the proposals of one reflection."""
        cycle = Cycle(scope=self.scope, host=self.host, cycle_id=ulid_now())
        made: list[Admission] = []

        def decide(unit: UnitOfWork) -> Decision:
            reflection = Reflection(proposals=proposals)
            made.append(admit_all(unit, self.ledger.key, cycle, reflection))
            return Decision(events=made[-1].events, payloads=made[-1].payloads)

        await self.ledger.units.record(decide)
        return made[-1]

    # --- stream messages

    async def tell(self, handler: StreamHandler, body: Contract | bytes, **fields: str) -> bytes:
        """Send the next numbered message; return the word by which it was settled."""
        self.number += 1
        fields = {headers.EPOCH: self.epoch, headers.NUMBER: str(self.number), **fields}
        message = Message(
            subject=str(Subject(handler.worker.kind, self.scope, self.host)),
            data=body if isinstance(body, bytes) else encode(body),
            headers={name: value for name, value in fields.items() if value},
        )
        self.sent.append((handler, message))
        return await self.deliver(handler, message)

    async def deliver(self, handler: StreamHandler, message: Message) -> bytes:
        delivery, wire = self.ledger.delivery(message)
        await handler.handle(delivery)
        ((_, word),) = wire.published
        return word.split()[0]

    def observation(self, **changes: Any) -> Observation:
        fields: dict[str, Any] = {
            "key": ulid_now(),
            "evidence_id": ulid_now(),
            "generation": self._lease.generation if self._lease else 1,
            "source": "read_file",
            "trust": "tool_output",
            "summary": "the notes were read",
            "observed_at": self.ledger.clock.now_ms,
        }
        return Observation(**(fields | changes))

    async def observe(self, **changes: Any) -> str:
        observation = self.observation(**changes)
        assert await self.tell(self.observer, observation) == b"+ACK"
        return observation.evidence_id

    def outcome(self, evaluation: Evaluation, **changes: Any) -> Outcome:
        fields: dict[str, Any] = {
            "outcome_id": ulid_now(),
            "evaluation_id": evaluation.evaluation_id,
            "proposal_hash": evaluation.proposal_hash,
            "status": "succeeded",
            "finished_at": self.ledger.clock.now_ms,
        }
        return Outcome(**(fields | changes))

    async def report(self, outcome: Outcome | AuditReceipt) -> None:
        assert await self.tell(self.outcomes, outcome) == b"+ACK"


def request_of(
    scope: str, host: str, lease: Lease, tool: str = "write_file", **changes: Any
) -> CheckpointRequest:
    """A proposal of a host under a lease, its hash right."""
    arguments = changes.get("arguments", {"path": NOTES.value, "text": "done"})
    fields: dict[str, Any] = {
        "call_id": ulid_now(),
        "lease_id": lease.lease_id,
        "generation": lease.generation,
        "goal": "keep the notes in order",
        "kind": "tool",
        "tool": Tool(server="files", name=tool, definition_hash="d" * 64),
        "arguments": arguments,
        "arguments_commitment": arguments_commitment(lease.salt, arguments),
        "proposal_hash": "0" * 64,
        "resources": (NOTES,),
    }
    request = CheckpointRequest(**(fields | changes))
    if "proposal_hash" in changes:
        return request
    return msgspec.structs.replace(request, proposal_hash=proposal_hash(scope, host, request))


def premortem(*evidence_ids: str) -> Premortem:
    return Premortem(
        failure_mode="wrong_target",
        likelihood=0.2,
        mitigation="the target was read first",
        evidence_ids=evidence_ids,
    )


def without(tables: Tables, *names: str) -> Tables:
    return {name: rows for name, rows in tables.items() if name not in names}


@asynccontextmanager
async def open_ledger(path: Path) -> AsyncIterator[Ledger]:
    async with open_writer(ledger_config(path)) as writer:
        yield Ledger(writer)
