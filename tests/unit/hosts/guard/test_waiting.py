import math

import pytest

from pmcl.hosts.guard.lanes import Place
from pmcl.hosts.guard.waiting import Answer, OpenRequests, Request, WaitingCall

pytestmark = pytest.mark.anyio

REQUEST = Request("ping", {})


def forwarded() -> WaitingCall:
    call = WaitingCall("t", None)
    call.is_forwarded = True
    return call


async def test_an_answer_to_a_cancelled_call_gets_all_the_time_that_it_needs() -> None:
    call = forwarded()
    assert call.cancel()
    assert call.scope.deadline < math.inf
    call.resolve(Answer({}, b"", Place()))
    assert call.scope.deadline == math.inf


async def test_a_cancelled_call_without_an_answer_ends_with_its_server() -> None:
    call = forwarded()
    call.cancel()
    call.lose()
    assert call.scope.cancel_called


async def test_an_answer_that_was_there_before_the_end_counts() -> None:
    call = forwarded()
    answer = Answer({}, b"", Place())
    call.resolve(answer)
    call.lose()
    assert await call.answer() is answer
    assert await call.answer() is None


async def test_places_of_answers_that_nobody_took_stay_empty() -> None:
    call = forwarded()
    place = Place()
    call.resolve(Answer({}, b"", place))
    call.close()
    assert place.is_filled


def test_text_and_numbers_are_different_ids_and_each_is_answered_once() -> None:
    requests = OpenRequests()
    requests.add(1, REQUEST)
    assert 1 in requests
    assert "1" not in requests
    for other in ("1", 1.0, True, None, [1]):
        assert requests.take(other) is None
    assert requests.take(1) is REQUEST
    assert requests.take(1) is None


def test_a_cancelled_request_may_still_be_answered_and_its_id_is_not_free() -> None:
    requests = OpenRequests()
    requests.add(1, REQUEST)
    assert requests.cancel(1)
    assert 1 in requests
    assert requests.take(1) is REQUEST
    assert 1 not in requests


def test_cancelled_requests_are_not_kept_for_ever() -> None:
    requests = OpenRequests()
    for id in range(1000):
        requests.add(id, REQUEST)
        requests.cancel(id)
    assert 0 not in requests
    assert 999 in requests
    assert not requests.is_full
