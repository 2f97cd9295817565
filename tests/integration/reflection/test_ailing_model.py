"""A model that is away, slow, cut off, talks nonsense or refuses: how its cycle ends, over the bus.

Nothing of what it said is kept, the host goes on as if there were none, and a model that is well
again is asked as before.
"""

import asyncio
import socket
from contextlib import closing

import pytest

from pmcl.contracts import Premortem
from pmcl.hosts import Host
from pmcl.ops.reflections import CycleView, HostView, list_reflections
from tests.integration.hosts.sidecar import until
from tests.integration.reflection.ailments import AILMENTS, RESERVED, USED, Ailment
from tests.integration.reflection.mind import Mind
from tests.integration.sidecar.room import proposal
from tests.stub_model import said
from tests.unit.workers.desk import NOTES

pytestmark = pytest.mark.anyio

PATIENT_MS, HASTY_MS = 20_000, 2_000
TWO_MINDS = f'{{"proposals": [], {said()[1:]}'
USELESS = {
    "of two minds": Ailment(
        does={"content": TWO_MINDS}, reason="schema", tokens=USED, answers=True
    ),
    "baseless": Ailment(
        does={"content": said(evidence=["e9"])}, reason="no_evidence", tokens=USED, answers=True
    ),
}


def timeout_ms(ailment: Ailment) -> int:
    return HASTY_MS if ailment.reason == "timeout" else PATIENT_MS


async def turn(host: Host, number: int) -> None:
    """Leave something new, and end a turn."""
    await host.observe(source="shell", summary=f"build {number} failed: no gcc")
    await host.complete(f"turn-{number}")


async def goes_on(host: Host) -> None:
    """What the host does is judged as ever."""
    assert (await host.check(proposal())).passed
    assert (await host.check(proposal("delete_file"))).reasons == ("plan.unmitigated",)
    seen = await host.observe(source="ls", summary="the notes are there", resources=(NOTES,))
    shown = Premortem(
        failure_mode="wrong_target", likelihood=0.1, mitigation="seen", evidence_ids=(seen,)
    )
    assert (await host.check(proposal("write_file", premortem=shown))).passed


async def host_view(mind: Mind) -> HostView:
    (found,) = (await list_reflections(mind.settings, scope="team"))["hosts"]
    assert isinstance(found, HostView)
    return found


async def until_circuit(mind: Mind, state: str) -> None:
    async def found() -> bool:
        return (await host_view(mind)).circuit == state

    await until(found)


@pytest.mark.parametrize(
    "ailment",
    [pytest.param(ailment, id=name) for name, ailment in AILMENTS.items() if not ailment.answers],
)
async def test_a_model_that_fails_is_asked_again(mind: Mind, ailment: Ailment) -> None:
    ailment.befall(mind.model, questions=1)
    sidecar = mind.sidecar(model_timeout_ms=timeout_ms(ailment), reflection_backoff_ms=1)
    async with sidecar, mind.host(deadline_ms=PATIENT_MS) as host:
        await turn(host, 0)
        await goes_on(host)
        failed, again = await mind.ended(2)
    assert (failed.result, failed.reason, failed.requeued) == ("failed", ailment.reason, True)
    assert (failed.tokens, failed.admitted + failed.rejected) == (ailment.tokens, 0)
    assert (again.result, again.tokens, again.attempt, again.turns) == ("proposed", USED, 2, 1)
    after = await host_view(mind)
    assert (after.failures, after.circuit, after.turns_waiting) == (0, "closed", 0)
    assert len(mind.model.asked) == 2


@pytest.mark.parametrize("status", ["400 Bad Request", "401 Unauthorized", "404 Not Found"])
async def test_a_question_that_is_refused_is_not_asked_again(mind: Mind, status: str) -> None:
    reason = f"status_{status[:3]}"
    Ailment(does={"status": status}, reason=reason).befall(mind.model, questions=1)
    async with mind.sidecar(reflection_backoff_ms=1), mind.host(deadline_ms=PATIENT_MS) as host:
        await turn(host, 0)
        (refused,) = await mind.ended(1)
        view = await host_view(mind)
        assert (view.failures, view.turns_waiting) == (1, 0)
        await turn(host, 1)
        _, next_turn = await mind.ended(2)
    assert (refused.result, refused.reason, refused.requeued) == ("failed", reason, False)
    assert (refused.tokens, next_turn.result, next_turn.attempt) == (0, "proposed", 1)


@pytest.mark.parametrize(
    "ailment",
    [
        pytest.param(ailment, id=name)
        for name, ailment in (AILMENTS | USELESS).items()
        if ailment.answers
    ],
)
async def test_an_answer_of_no_use_ends_the_job(mind: Mind, ailment: Ailment) -> None:
    ailment.befall(mind.model, questions=1)
    async with mind.sidecar(reflection_backoff_ms=1), mind.host(deadline_ms=PATIENT_MS) as host:
        await turn(host, 0)
        await goes_on(host)
        (useless,) = await mind.ended(1)
        view = await host_view(mind)
        assert (view.failures, view.turns_waiting) == (1, 0)
        assert await mind.tables(("items", "rejections")) == {"items": [], "rejections": []}
        await turn(host, 1)
        _, next_turn = await mind.ended(2)
    assert (useless.result, useless.reason) == ("discarded", ailment.reason)
    assert (useless.requeued, useless.tokens, useless.turns) == (False, ailment.tokens, 1)
    assert (next_turn.result, next_turn.attempt, next_turn.turns) == ("proposed", 1, 1)
    assert (await host_view(mind)).failures == 0
    assert len(mind.model.asked) == 2


async def test_answers_of_no_use_open_the_circuit(mind: Mind) -> None:
    AILMENTS["chatting"].befall(mind.model, questions=3)
    async with mind.sidecar(reflection_backoff_ms=1), mind.host(deadline_ms=PATIENT_MS) as host:
        for number in range(3):
            await turn(host, number)
            await mind.ended(number + 1)
        await until_circuit(mind, "open")
        await turn(host, 3)
        await goes_on(host)
        assert (await host_view(mind)).turns_waiting == 1
    assert len(mind.model.asked) == 3


async def test_a_model_that_is_not_there_opens_the_circuit_and_costs_nothing(mind: Mind) -> None:
    open_ms = 3_000
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        sidecar = mind.sidecar(
            model_url=f"http://127.0.0.1:{taken.getsockname()[1]}/v1",
            reflection_backoff_ms=1,
            reflection_open_ms=open_ms,
        )
        async with sidecar, mind.host(deadline_ms=PATIENT_MS) as host:
            await turn(host, 0)
            await until_circuit(mind, "open")
            await goes_on(host)
            async with await asyncio.start_server(mind.model.serve, sock=taken):
                await until_circuit(mind, "closed")
    *away, well = await mind.ended(4)
    ends = {(cycle.result, cycle.reason, cycle.tokens) for cycle in away}
    assert ends == {("failed", "unreachable", 0)}
    assert (well.result, well.tokens, well.turns) == ("proposed", USED, 1)
    assert_waited(away[-1], well, open_ms)


def assert_waited(before: CycleView, after: CycleView, wait_ms: int) -> None:
    assert before.ended_at is not None
    assert after.claimed_at >= before.ended_at + wait_ms


@pytest.mark.parametrize(
    ("wanted_s", "waits_ms"), [(2, 2_000), (86_400, 4_000)], ids=["kept", "bounded"]
)
async def test_a_model_is_left_alone_for_as_long_as_it_wants_in_bounds(
    mind: Mind, wanted_s: int, waits_ms: int
) -> None:
    status = f"429 Too Many Requests\r\nRetry-After: {wanted_s}"
    Ailment(does={"status": status}, reason="status_429").befall(mind.model, questions=1)
    sidecar = mind.sidecar(reflection_backoff_ms=1, reflection_open_ms=4_000)
    async with sidecar, mind.host(deadline_ms=PATIENT_MS) as host:
        await turn(host, 0)
        refused, again = await mind.ended(2)
    assert (refused.reason, again.result) == ("status_429", "proposed")
    assert_waited(refused, again, waits_ms)
    assert len(mind.model.asked) == 2


async def test_a_model_that_ails_on_is_asked_five_times_about_a_turn(mind: Mind) -> None:
    AILMENTS["broken"].befall(mind.model, questions=5)
    sidecar = mind.sidecar(
        reflection_backoff_ms=1, reflection_open_ms=1, reflection_tokens=6 * RESERVED
    )
    async with sidecar, mind.host(deadline_ms=PATIENT_MS) as host:
        await turn(host, 0)
        cycles = await mind.ended(5)
        await goes_on(host)
        await turn(host, 1)
        (*_, last) = await mind.ended(6)
    assert [cycle.attempt for cycle in cycles] == [1, 2, 3, 4, 5]
    assert [cycle.requeued for cycle in cycles] == [True] * 4 + [False]
    assert (last.result, last.attempt, last.turns) == ("proposed", 1, 1)
    assert len(mind.model.asked) == 6
