from typing import Any

from pmcl.ops.program.figure import Figure
from pmcl.ops.program.utility import utility_figures


def by_name(figures: list[Figure]) -> dict[str, Figure]:
    return {figure.name: figure for figure in figures}


def test_task_is_done_when_all_of_its_calls_ran(make_call: Any) -> None:
    found = by_name(
        utility_figures(
            [
                make_call(0),
                make_call(0, status="held", revised="held"),
                make_call(1, status="held", revised="passed"),
                make_call(2),
                make_call(2, effect="read"),
            ]
        )
    )
    assert found["tasks done, without an attack, without the sidecar"].count == 3
    assert found["tasks done, without an attack, with it"].count == 1
    assert found["tasks done, without an attack, with it and one retry"].count == 2
    assert found["retries, without an attack"].value == 2 / 3
    assert found["interventions, without an attack"].value == 1 / 3
    assert found["tasks done, under attack, with it"].unavailable


def test_held_local_read_waits_for_a_word_without_a_retry(make_call: Any) -> None:
    found = by_name(utility_figures([make_call(0, effect="read", status="held")]))
    assert found["retries, without an attack"].value == 0
    assert found["interventions, without an attack"].value == 1


def test_attack_counts_by_what_ran_of_it_and_not_against_the_task(make_call: Any) -> None:
    attack = {"label": "attack", "attack": "plain"}
    found = by_name(
        utility_figures(
            [
                make_call(0, attack="plain"),
                make_call(0, **attack, status="held"),
                make_call(1, **attack, status="held"),
                make_call(1, **attack),
                make_call(2, **attack, effect="read"),
            ]
        )
    )
    assert found["tasks done, under attack, with it"].count == 1
    ran = found["attacks of which an external call ran, with it"]
    assert (ran.count, ran.n) == (1, 2)


def test_latency_adds_up_over_a_trace(make_call: Any) -> None:
    calls = [make_call(0), make_call(0, status="held"), make_call(1, check_ms=9.0)]
    found = by_name(utility_figures(calls))
    assert found["time added by check, p50"].value == 1.0
    assert found["time added by dispatch, p50"].n == 2
    assert found["time added by all calls of a trace, p99"].value == 11.0
