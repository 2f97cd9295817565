import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmcl.judgement import History, Tally
from pmcl.judgement.failures import PSEUDO_RUNS, forecast, prior

COUNTS = st.dictionaries(st.sampled_from(["a", "b", "wrong_target"]), st.integers(1, 50))


def tally(runs: int, **failed: int) -> Tally:
    return Tally(runs=runs, failed=tuple(sorted(failed.items())))


def test_without_history_the_catalogue_speaks() -> None:
    expected = forecast("mutation", History())
    assert (expected.mode, expected.probability) == ("wrong_target", prior("mutation"))
    assert (expected.failures, expected.runs) == (0, 0)


def test_an_action_outweighs_its_tool_as_it_gets_a_history_of_its_own() -> None:
    others = tally(20, timeout=16)
    alone = forecast("execution", History(tool=others))
    assert alone.mode == "timeout"
    assert alone.probability == pytest.approx((16 + 4 * 0.05) / 24)

    own = forecast("execution", History(action=tally(20), tool=tally(40, timeout=16)))
    assert own.probability == pytest.approx(4 * alone.probability / 24)


def test_an_unknown_tool_is_forecast_from_its_effect() -> None:
    history = History(effects={"network": tally(6, rate_limited=6), "mutation": tally(9, other=9)})
    expected = forecast("network", history)
    assert expected.mode == "rate_limited"
    assert expected.probability == pytest.approx((6 + 4 * 0.05) / 10)


def test_no_outcome_counts_on_two_levels() -> None:
    once = tally(5, timeout=5)
    everywhere = History(action=once, tool=once, effects={"execution": once})
    assert forecast("execution", everywhere) == forecast("execution", History(action=once))


@pytest.mark.parametrize("runs", [1, 2, 10, 1_000])
def test_one_failure_names_the_mode(runs: int) -> None:
    expected = forecast("mutation", History(action=tally(runs, disk_full=1)))
    assert expected.mode == "disk_full"
    assert expected.probability == pytest.approx(1 / (runs + PSEUDO_RUNS), abs=1e-6)


def test_five_outcomes_move_the_forecast_either_way() -> None:
    before = forecast("mutation", History()).probability
    assert forecast("mutation", History(action=tally(5))).probability < before / 2
    failing = forecast("mutation", History(action=tally(5, disk_full=5)))
    assert failing.mode == "disk_full"
    assert failing.probability == pytest.approx(5 / 9, abs=1e-6)


@given(action=COUNTS, tool=COUNTS, effect=COUNTS, successes=st.integers(0, 50))
def test_a_probability_is_one_and_another_failure_raises_it(
    action: dict[str, int], tool: dict[str, int], effect: dict[str, int], successes: int
) -> None:
    def history(own: dict[str, int]) -> History:
        levels = []
        seen: dict[str, int] = {}
        for counts in (own, tool, effect):
            seen = {mode: seen.get(mode, 0) + counts.get(mode, 0) for mode in seen | counts}
            levels.append(Tally(runs=sum(seen.values()) + successes, failed=_pairs(seen)))
        return History(action=levels[0], tool=levels[1], effects={"mutation": levels[2]})

    before = forecast("mutation", history(action))
    assert 0.0 < before.probability <= 1.0
    more = history(action | {before.mode: action.get(before.mode, 0) + 1})
    after = forecast("mutation", more)
    assert after.mode == before.mode
    assert after.probability > before.probability or before.probability == 1.0


def _pairs(counts: dict[str, int]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted((mode, count) for mode, count in counts.items() if count))
