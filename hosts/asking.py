"""A request gets the answer to itself, a typed refusal, or an error within its time.

Source: DESIGN section 2; SPEC A8, C9.
"""

from functools import cache
from typing import TypeVar, cast

import msgspec

from pmcl.bus import BusClosedError, Connection, NoRespondersError, traceparent
from pmcl.contracts import (
    BusError,
    BusyError,
    Contract,
    ErrorReply,
    EvidencePendingError,
    LedgerUnavailableError,
    PmclError,
    TooLargeError,
    encode,
    headers,
    limits,
    refusal,
)
from pmcl.hosts.errors import ReplyError

__all__ = ["ask", "degraded_cause"]

C = TypeVar("C", bound=Contract)

_CAUSES: tuple[tuple[type[PmclError], str], ...] = (
    (NoRespondersError, "no_responders"),
    (BusClosedError, "disconnected"),
    (BusyError, BusyError.code),
    (EvidencePendingError, EvidencePendingError.code),
    (LedgerUnavailableError, LedgerUnavailableError.code),
    (ReplyError, "timeout"),
    (BusError, "timeout"),
)


def degraded_cause(error: PmclError) -> str | None:
    """Return the code of an error that means "nobody judged it", `None` for any other."""
    return next((cause for kind, cause in _CAUSES if isinstance(error, kind)), None)


@cache
def _decoder(answer: type[C]) -> msgspec.json.Decoder[C | ErrorReply]:
    return msgspec.json.Decoder(answer | ErrorReply)


async def ask(
    connection: Connection,
    subject: str,
    question: Contract,
    answer: type[C],
    *,
    watermark: tuple[str, int],
    timeout_s: float,
) -> C:
    """Return the reply to `question`.

    `watermark` is the epoch of the host's file and its highest acknowledged number.

    Raises:
        RefusedError: the sidecar refused, by the class that its code names.
        ReplyError: what came back is no `answer`.
        BusError: nothing came back.
    """
    body = encode(question)
    if len(body) > limits.MESSAGE_MAX_BYTES:
        raise TooLargeError("$", f"{len(body)} bytes", f"{limits.MESSAGE_MAX_BYTES} bytes")
    fields = {
        headers.EPOCH: watermark[0],
        headers.NUMBER: str(watermark[1]),
        headers.BUDGET_MS: str(max(1, int(timeout_s * 1000))),
    }
    if trace := traceparent():
        fields[headers.TRACEPARENT] = trace
    reply = await connection.request(subject, body, headers=fields, timeout_s=timeout_s)
    try:
        decoded = _decoder(answer).decode(reply.data)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ReplyError(subject, type(error).__name__) from error
    if isinstance(decoded, ErrorReply):
        raise refusal(decoded.code, decoded.field, decoded.value, decoded.limit)
    return cast("C", decoded)
