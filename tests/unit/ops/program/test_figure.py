import msgspec

from pmcl.ops.intervals import wilson_95
from pmcl.ops.program.figure import Figure, amount, share


def test_share_has_its_count_and_its_interval() -> None:
    figure = share("safety", "false pass", 1, 20, "counted")
    assert (figure.value, figure.count, figure.n) == (0.05, 1, 20)
    assert figure.interval_95 == wilson_95(1, 20)
    assert figure.unavailable is None


def test_no_case_gives_no_share_and_no_amount() -> None:
    for figure in (
        share("safety", "false pass", 0, 0, "counted"),
        amount("utility", "retries", 0.0, "per task", 0, "counted"),
        amount("calibration", "Brier score", None, "0 to 1", 5, "scored"),
    ):
        assert (figure.value, figure.interval_95) == (None, None)
        assert figure.unavailable


def test_figure_survives_json() -> None:
    figure = share("safety", "false pass", 1, 20, "counted")
    assert msgspec.json.decode(msgspec.json.encode(figure), type=Figure) == figure
