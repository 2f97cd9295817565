"""The gate before a reflection, as a pure function. Source: SPEC E2."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmcl.contracts import Spending
from pmcl.judgement import (
    GateInputs,
    GateLimits,
    Go,
    Over,
    breaker,
    gate,
    next_slot,
    retry_at,
)

NOW = 1_700_000_000_000
LIMITS = GateLimits(
    window_ms=3_600_000,
    budget=Spending(tokens=100, ms=100, cost=100),
    backoff_ms=1_000,
    failures_open=3,
    open_ms=60_000,
    attempts_max=5,
)
INPUTS = GateInputs(
    now_ms=NOW,
    lease_lives=True,
    stopped=False,
    mark="b",
    last_mark="a",
    spent=Spending(),
    reservation=Spending(tokens=40, ms=40, cost=40),
)


def decided(**changes: Any) -> Go | Over:
    return gate(msgspec.structs.replace(INPUTS, **changes), LIMITS)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, Go()),
        ({"last_mark": None}, Go()),
        ({"stopped": True}, Over("skipped", "stopped")),
        ({"lease_lives": False}, Over("skipped", "lease_over")),
        ({"last_mark": "b"}, Over("noop", "unchanged")),
        ({"last_mark": "b", "spent": Spending(tokens=100)}, Over("noop", "unchanged")),
        ({"spent": Spending(tokens=60, ms=60, cost=60)}, Go()),
        ({"spent": Spending(tokens=61)}, Over("skipped", "budget.tokens")),
        ({"spent": Spending(ms=61)}, Over("skipped", "budget.ms")),
        ({"spent": Spending(cost=61)}, Over("skipped", "budget.cost")),
    ],
)
def test_gate_decides(changes: dict[str, Any], expected: Go | Over) -> None:
    assert decided(**changes) == expected


def test_waits_double_until_the_circuit_opens() -> None:
    waits = [retry_at(NOW, failures, LIMITS) - NOW for failures in (1, 2, 3, 4, 1_000)]
    assert waits == [1_000, 2_000, 60_000, 60_000, 60_000]


@pytest.mark.parametrize(
    ("failures", "wanted_ms", "waits_ms"),
    [(1, 0, 1_000), (1, 999, 1_000), (1, 7_000, 7_000), (2, 86_400_000, 60_000), (3, 1, 60_000)],
)
def test_a_wanted_wait_is_kept_in_bounds(failures: int, wanted_ms: int, waits_ms: int) -> None:
    assert retry_at(NOW, failures, LIMITS, wanted_ms) == NOW + waits_ms


def test_circuit_opens_and_half_opens() -> None:
    until = retry_at(NOW, 3, LIMITS)
    assert breaker(2, until, NOW, LIMITS) == "closed"
    assert breaker(3, until, until - 1, LIMITS) == "open"
    assert breaker(3, until, until, LIMITS) == "half_open"
    assert breaker(3, until, until - LIMITS.open_ms - 1, LIMITS) == "half_open"  # set back
    assert breaker(0, None, NOW, LIMITS) == "closed"


@given(st.integers(0, 2**45), st.integers(0, 2**45), st.integers(1, 10**9))
def test_a_slot_is_on_the_grid_and_never_far_from_now(last: int, now: int, period: int) -> None:
    slot = next_slot(last, now, period)
    if slot is None:
        assert abs(now - last) < period
    elif now < last:
        assert slot == now
    else:
        assert now - period < slot <= now
        assert (slot - last) % period == 0
