"""The table of routes: what each asks, answers and refuses. Serving and OpenAPI both read it.

Source: SPEC G4.
"""

from collections.abc import Awaitable, Callable
from typing import Any, Final

import msgspec

from pmcl.contracts import Context, limits
from pmcl.hosts.desk import (
    BeginAsked,
    CheckAnswer,
    ContextAsked,
    DispatchAnswer,
    DispatchAsked,
    LeaseAnswer,
    ManyObserved,
    ManyStored,
    ObserveAsked,
    OutcomeAnswer,
    OutcomeAsked,
    PlanCheckAsked,
    RecommendationCheckAsked,
    Stored,
    ToolCheckAsked,
    TurnAnswer,
    TurnAsked,
)
from pmcl.hosts.gateway import handlers
from pmcl.hosts.hooks import HookAnswer, client

__all__ = ["OPERATIONS", "Operation"]

_MESSAGE_BYTES: Final = limits.MESSAGE_MAX_BYTES
_MANY_BYTES: Final = 1024 * 1024


class Operation(msgspec.Struct, frozen=True, kw_only=True):
    """One method of one path.

    Attributes:
        asks: the request's body; `bytes` for one that is read elsewhere, `None` for none.
        status: of the answer.
        refuses: statuses of refusals that not every operation has.
    """

    method: str
    path: str
    summary: str
    handle: Callable[[handlers.Call, Any], Awaitable[msgspec.Struct]]
    asks: type[msgspec.Struct] | type[bytes] | None
    answers: type[msgspec.Struct]
    status: int = 200
    refuses: tuple[int, ...] = ()
    max_bytes: int = _MESSAGE_BYTES


_LEASE: Final = (409,)
_CHECK: Final = (409, 422)

OPERATIONS: Final[tuple[Operation, ...]] = (
    Operation(
        method="POST",
        path="/v1/lease",
        summary="Begin a lease, or join the living one of the same snapshot",
        handle=handlers.begin,
        asks=BeginAsked,
        answers=LeaseAnswer,
        refuses=_LEASE,
    ),
    Operation(
        method="GET",
        path="/v1/lease",
        summary="Show the lease that was begun last",
        handle=handlers.state,
        asks=None,
        answers=LeaseAnswer,
        refuses=_LEASE,
    ),
    Operation(
        method="DELETE",
        path="/v1/lease",
        summary="End the lease now, for every process of this host",
        handle=handlers.disable,
        asks=None,
        answers=LeaseAnswer,
        refuses=_LEASE,
    ),
    Operation(
        method="POST",
        path="/v1/observations",
        summary="Store one observation",
        handle=handlers.observe,
        asks=ObserveAsked,
        answers=Stored,
        status=201,
        refuses=_LEASE,
    ),
    Operation(
        method="POST",
        path="/v1/observations/batch",
        summary="Store many observations, in order",
        handle=handlers.observe_many,
        asks=ManyObserved,
        answers=ManyStored,
        status=201,
        refuses=_LEASE,
        max_bytes=_MANY_BYTES,
    ),
    Operation(
        method="POST",
        path="/v1/checks/tool",
        summary="Ask for a verdict on a tool call",
        handle=handlers.check,
        asks=ToolCheckAsked,
        answers=CheckAnswer,
        refuses=_CHECK,
    ),
    Operation(
        method="POST",
        path="/v1/checks/plan",
        summary="Ask for a verdict on a plan",
        handle=handlers.check,
        asks=PlanCheckAsked,
        answers=CheckAnswer,
        refuses=_CHECK,
    ),
    Operation(
        method="POST",
        path="/v1/checks/recommendation",
        summary="Ask for a verdict on a text, before somebody reads it",
        handle=handlers.check,
        asks=RecommendationCheckAsked,
        answers=CheckAnswer,
        refuses=_CHECK,
    ),
    Operation(
        method="POST",
        path="/v1/dispatches",
        summary="Claim a verdict; only then may the tool run, once",
        handle=handlers.dispatch,
        asks=DispatchAsked,
        answers=DispatchAnswer,
        status=201,
        refuses=(404, 409),
    ),
    Operation(
        method="POST",
        path="/v1/dispatches/{verdict_id}/outcome",
        summary="Say what came of a dispatch, once",
        handle=handlers.outcome,
        asks=OutcomeAsked,
        answers=OutcomeAnswer,
        refuses=(404, 409),
    ),
    Operation(
        method="POST",
        path="/v1/context",
        summary="Ask what a turn should know, within a budget",
        handle=handlers.context,
        asks=ContextAsked,
        answers=Context,
        refuses=_CHECK,
    ),
    Operation(
        method="POST",
        path="/v1/turns",
        summary="End a turn, after a successful response",
        handle=handlers.complete,
        asks=TurnAsked,
        answers=TurnAnswer,
        refuses=_LEASE,
    ),
    Operation(
        method="POST",
        path="/v1/hooks/{agent}",
        summary="Answer an event of a coding agent's hook",
        handle=handlers.hook,
        asks=bytes,
        answers=HookAnswer,
        refuses=(404, 409),
        max_bytes=client.EVENT_MAX_BYTES,
    ),
)
