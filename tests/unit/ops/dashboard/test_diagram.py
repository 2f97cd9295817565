import pytest

from pmcl.judgement import Prediction, score
from pmcl.ops.dashboard.calibration import diagram


def predictions(probability: float, count: int, failed: int) -> list[Prediction]:
    return [
        Prediction("lost", probability, "lost" if number < failed else None)
        for number in range(count)
    ]


def test_forecasts_that_come_true_as_often_as_they_say_stand_on_the_line() -> None:
    drawn = diagram(score([*predictions(0.25, 4, 1), *predictions(0.75, 4, 3)]))
    for point in drawn.points:
        across = (point.x - drawn.left) / (drawn.right - drawn.left)
        up = (drawn.bottom - point.y) / (drawn.bottom - drawn.top)
        assert across == up == point.probability == point.came_true


def test_bars_stand_for_their_tenth_and_grow_with_the_root() -> None:
    drawn = diagram(score([*predictions(0.0, 100, 0), *predictions(1.0, 25, 25)]))
    low, high = drawn.points
    assert (low.count, high.count) == (100, 25)
    assert low.bar_height == 2 * high.bar_height
    assert low.bar_x - drawn.left == pytest.approx(drawn.right - high.bar_x - drawn.bar_width)


def test_nothing_is_drawn_without_forecasts() -> None:
    drawn = diagram(score([]))
    assert drawn.points == ()
    assert [name for name, _, _ in drawn.ticks] == ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]
