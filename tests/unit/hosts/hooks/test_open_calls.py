from typing import cast

import pytest

from pmcl.contracts import LedgerError
from pmcl.hosts.adapter import Mediated, ToolCall
from pmcl.hosts.dispatch import Dispatch, Run
from pmcl.hosts.hooks.open_calls import OpenCall, OpenCalls

KEY = ("session", "tool", "hash")


class Block:
    """A dispatch whose host's file refuses to be written."""

    async def __aexit__(self, *_: object) -> None:
        raise LedgerError("no room")


def opened(began_s: float) -> OpenCall:
    return OpenCall(
        session="session",
        mediated=Mediated(call=ToolCall(server="s", name="n", arguments={})),
        dispatch=cast("Dispatch", Block()),
        run=Run(),
        began_s=began_s,
        subagent=False,
    )


def test_the_oldest_call_of_a_key_ends_first() -> None:
    calls = OpenCalls()
    for began_s in (1.0, 2.0, 3.0):
        calls.add(KEY, opened(began_s))
    calls.add(("session", "other"), opened(0.0))
    taken = [calls.take(KEY) for _ in range(4)]
    assert [call and call.began_s for call in taken] == [1.0, 2.0, 3.0, None]
    assert len(calls) == 1


@pytest.mark.anyio
async def test_an_outcome_that_cannot_be_written_keeps_no_other_open() -> None:
    calls = OpenCalls()
    both = [opened(0.0), opened(1.0)]
    for call in both:
        calls.add(KEY, call)
    await calls.lose_all()
    assert [call.run.status for call in both] == ["unknown", "unknown"]
    assert len(calls) == 0
