"""A scripted stand-in for the sidecar: it answers as it is told, and keeps what it was asked."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import anyio
import msgspec
from ulid_transform import ulid_now

from pmcl.bus import INTAKE, Connection, Message, stored_message, stream_state
from pmcl.contracts import (
    ArbitrationTicket,
    BeginLease,
    CheckpointRequest,
    CompleteTurn,
    Contract,
    DisableLease,
    ErrorReply,
    Evaluation,
    ExecutionCheck,
    FailureForecast,
    Heartbeat,
    Lease,
    LeaseState,
    PlanCheck,
    Received,
    StateCheck,
    decode,
    encode,
)

TTL_MS = 60_000

T = TypeVar("T")


async def until(ask: Callable[[], Awaitable[T | None]], *, within_s: float = 10.0) -> T:
    """Return the first true answer."""
    with anyio.fail_after(within_s):
        while not (answer := await ask()):  # noqa: ASYNC110 - facts of other processes
            await anyio.sleep(0.01)
    return answer


def evaluation_of(request: CheckpointRequest, **changes: Any) -> Evaluation:
    fields: dict[str, Any] = {
        "evaluation_id": ulid_now(),
        "call_id": request.call_id,
        "generation": request.generation,
        "checkpoint_status": "passed",
        "state_check": StateCheck(items=()),
        "plan_check": PlanCheck(
            intended_outcome=None,
            forecast=FailureForecast(mode="m", probability=0.1, failures=0, runs=0),
            material=False,
            mitigation=None,
            mitigated=False,
        ),
        "execution_check": ExecutionCheck(
            effect=request.effect or "mutation",
            reversibility="reversible",
            necessity=None,
            lower_risk_alternatives=(),
            least_privilege=True,
            expected_receipt=None,
            residual_risks=(),
        ),
        "evidence_ids": (),
        "self_model_version_id": "self-model/0",
        "proposal_hash": request.proposal_hash,
        "expires_at": 2**50,
        "valid_for_ms": TTL_MS,
        "reasons": (),
        "revision_request": None,
        "ticket": ArbitrationTicket(decision="passed", effect="mutation", generation=1),
    }
    return Evaluation(**fields | changes)


def error_of(code: str) -> ErrorReply:
    return ErrorReply(code=code, field="$", value="", limit="", message="")


class Sidecar:
    def __init__(self, connection: Connection, admin: Connection) -> None:
        self.connection = connection
        self.admin = admin
        self.generation = 1
        self.lease_id = ulid_now()
        self.ledger_epoch = ulid_now()
        self.through = 0
        self.asked: list[tuple[Message, Contract]] = []
        self.answer: Callable[[CheckpointRequest], Contract | None] = evaluation_of
        self.lease_answer: Contract | None = None
        self.ttl_ms = TTL_MS
        self.heartbeat_ms = 20_000
        self.lease_serial = 0

    async def serve(self) -> None:
        await self.connection.subscribe("pmcl.v1.lease.*.*.*", self._lease)
        await self.connection.subscribe("pmcl.v1.checkpoint.*.*.*", self._checkpoint)

    def received(self) -> Received:
        return Received(ledger_epoch=self.ledger_epoch, through=self.through)

    def requests(self, kind: type[Any]) -> list[Any]:
        return [asked for _, asked in self.asked if isinstance(asked, kind)]

    async def stored(self) -> list[Message]:
        """Everything in INTAKE, in order."""
        state = await stream_state(self.admin, INTAKE)
        assert state is not None
        found = [
            await stored_message(self.admin, INTAKE, sequence)
            for sequence in range(state.first or 1, state.last + 1)
        ]
        return [message for message in found if message is not None]

    async def _lease(self, message: Message) -> None:
        kinds = (BeginLease, Heartbeat, CompleteTurn, DisableLease)
        asked = decode(message.data, *kinds)
        self.asked.append((message, asked))
        if self.lease_answer is not None and not isinstance(asked, BeginLease):
            await self.connection.publish(message.reply, encode(self.lease_answer))
            return
        common: dict[str, Any] = {
            "lease_id": self.lease_id,
            "generation": self.generation,
            "expires_at": 2**50,
            "valid_for_ms": self.ttl_ms,
            "received": self.received(),
        }
        reply: Contract
        if isinstance(asked, BeginLease):
            salt = (b"%032d" % self.generation).hex()
            reply = Lease(**common, heartbeat_ms=self.heartbeat_ms, salt=salt)
        else:
            reply = LeaseState(**common, live=True)
        await self.connection.publish(message.reply, encode(reply))

    async def _checkpoint(self, message: Message) -> None:
        request = decode(message.data, CheckpointRequest)
        self.asked.append((message, request))
        reply = self.answer(request)
        if reply is None:
            return
        if isinstance(reply, Evaluation):
            reply = msgspec.structs.replace(reply, received=self.received())
        await self.connection.publish(message.reply, encode(reply))
