import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmcl.judgement import Prediction, score

PREDICTIONS = st.lists(
    st.builds(
        Prediction,
        st.sampled_from(["a", "b"]),
        st.floats(0, 1),
        st.sampled_from(["a", "b", "c", None]),
    )
)


def test_nothing_predicted_has_no_figure() -> None:
    found = score([])
    assert (found.count, found.top1, found.brier, found.ece) == (0, None, None, None)


def test_figures_of_known_predictions() -> None:
    predictions = [
        Prediction("a", 0.25, "a"),
        Prediction("a", 0.25, None),
        Prediction("a", 0.25, None),
        Prediction("a", 0.25, "b"),
        Prediction("b", 0.95, "b"),
    ]
    found = score(predictions)
    assert (found.count, found.failures) == (5, 3)
    assert found.top1 == pytest.approx(2 / 3)
    assert found.brier == pytest.approx((0.75**2 + 3 * 0.25**2 + 0.05**2) / 5)
    assert found.ece == pytest.approx(0.05 / 5)
    assert [one.count for one in found.bins] == [0, 0, 4, 0, 0, 0, 0, 0, 0, 1]
    assert (found.bins[2].probability, found.bins[2].came_true) == (0.25, 0.25)


def test_certainty_falls_into_the_last_bin() -> None:
    found = score([Prediction("a", 1.0, None)])
    assert found.bins[-1].count == 1
    assert found.ece == found.brier == 1.0


@given(PREDICTIONS)
def test_every_prediction_is_in_one_bin_and_no_figure_leaves_its_range(
    predictions: list[Prediction],
) -> None:
    found = score(predictions)
    assert sum(one.count for one in found.bins) == found.count == len(predictions)
    for figure in (found.top1, found.brier, found.ece):
        assert figure is None or 0.0 <= figure <= 1.0
