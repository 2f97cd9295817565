"""Evaluations: one verdict for one call id, open until its outcome is linked."""

from typing import Final

import msgspec

from pmcl.contracts import (
    CallIdConflictError,
    Contract,
    Evaluated,
    Evaluation,
    LedgerError,
    NotAvailableError,
    UnknownPlanError,
)
from pmcl.judgement import Inputs
from pmcl.ledger.payloads import content_of
from pmcl.store import Reader, Row, Transaction, load_queries

__all__ = [
    "Judged",
    "abandoned",
    "apply_closed",
    "apply_evaluated",
    "find",
    "judged",
    "judged_before",
    "pending",
    "plan_held",
    "stored",
]

_queries = load_queries("pmcl.ledger", "evaluations")
SCHEMA: Final = _queries.schema


class Judged(Contract, frozen=True, kw_only=True, tag="pmcl/judged/1"):
    """The payload of an evaluation: what was judged and what was said, to be judged again."""

    inputs: Inputs
    evaluation: Evaluation


_judged = msgspec.json.Decoder(Judged)
_ids = msgspec.json.Decoder(tuple[str, ...])


def judged_before(
    tx: Transaction, scope: str, host: str, call_id: str, proposal_hash: str
) -> Evaluation | None:
    """Return the evaluation of a call that was asked before, exactly as it was answered.

    Raises:
        CallIdConflictError: the call id was used for another proposal.
        NotAvailableError: the evaluation's payload is not there any more.
    """
    row = tx.one(_queries.by_call, scope=scope, host=host, call_id=call_id)
    if row is None:
        return None
    if row["proposal_hash"] != proposal_hash:
        raise CallIdConflictError("$.call_id", call_id, "one proposal for each call id")
    before = judged(tx, scope, row["evaluation_id"])
    if before is None:
        raise NotAvailableError("$.call_id", call_id, "a call whose evaluation is still there")
    return before.evaluation


def judged(tx: Transaction, scope: str, evaluation_id: str) -> Judged | None:
    """Return what an evaluation read and said; `None` when it is not there."""
    content = content_of(tx, scope, evaluation_id)
    return None if content is None else _judged.decode(content)


def find(tx: Transaction, scope: str, host: str, evaluation_id: str) -> Row | None:
    """Return an evaluation of this host."""
    return tx.one(_queries.find, evaluation_id=evaluation_id, scope=scope, host=host)


def plan_held(tx: Transaction, scope: str, host: str, call_id: str) -> bool:
    """Return whether the plan of this host is held.

    Raises:
        UnknownPlanError: no plan was judged under this call id.
    """
    row = tx.one(_queries.plan, scope=scope, host=host, call_id=call_id)
    if row is None:
        raise UnknownPlanError("$.plan_call_id", call_id, "the call id of a judged plan")
    return bool(row["status"] == "held")


def pending(tx: Transaction, scope: str, host: str) -> tuple[str, ...]:
    """Return at most 16 passed evaluations without an outcome, newest first."""
    row = tx.one(_queries.pending, scope=scope, host=host)
    assert row is not None
    return _ids.decode(row["evaluation_ids"])


def abandoned(tx: Transaction, now_ms: int) -> list[Row]:
    """Return at most 64 open evaluations whose lease and whose verdict are both over."""
    return tx.all(_queries.abandoned, now_ms=now_ms)


async def stored(reader: Reader, evaluation_id: str | None) -> Judged:
    """Return what an evaluation read and said; of the newest one when no id is given.

    Raises:
        LedgerError: it is not in the ledger, or its payload is not there any more.
    """
    row = await reader.one(_queries.stored, evaluation_id=evaluation_id)
    if row is None:
        if evaluation_id is None:
            raise LedgerError("there is no evaluation in this ledger yet")
        raise LedgerError(f"evaluation {evaluation_id!r} is not in this ledger")
    if row["content"] is None:
        raise LedgerError(f"evaluation {row['evaluation_id']}: its payload is gone")
    return _judged.decode(row["content"])


def apply_evaluated(tx: Transaction, event: Evaluated) -> None:
    """Record an evaluation; that of a passed call is open."""
    columns = msgspec.structs.asdict(event)
    columns["cited"] = msgspec.json.encode(event.cited).decode()
    columns["reasons"] = msgspec.json.encode(event.reasons).decode()
    columns["open"] = int(event.status == "passed" and event.kind == "tool")
    tx.run(_queries.record, **columns)


def apply_closed(tx: Transaction, evaluation_id: str) -> None:
    """Record that the evaluation has its outcome."""
    tx.run(_queries.close, evaluation_id=evaluation_id)
