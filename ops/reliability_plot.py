"""The reliability diagram as a picture; matplotlib is asked for only here."""

from pathlib import Path

from pmcl.contracts import PmclError
from pmcl.judgement import Score

__all__ = ["PlotError", "save_plot"]


class PlotError(PmclError):
    """The picture could not be made."""


def save_plot(found: Score, path: Path) -> None:
    """Write the diagram as PNG: above, what came true for each forecast; below, how many calls.

    Raises:
        PlotError: matplotlib is not installed, or the file cannot be written.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise PlotError("a plot needs matplotlib: pip install 'pmcl[plots]'") from error
    figure = Figure(figsize=(6, 7), layout="constrained", facecolor="white")
    upper, lower = figure.subplots(2, 1, height_ratios=(3, 1), sharex=True)
    filled = [one for one in found.bins if one.count]
    forecast = [one.probability for one in filled]
    upper.plot([0, 1], [0, 1], linestyle="--", color="0.6", label="perfectly calibrated")
    upper.plot(forecast, [one.came_true for one in filled], marker="o", label="forecasts")
    ece = "none" if found.ece is None else f"{found.ece:.3f}"
    upper.set(title=f"{found.count} calls, expected calibration error {ece}", ylim=(-0.02, 1.02))
    upper.set_ylabel("share that failed in the forecast mode")
    upper.legend(loc="upper left")
    width = 1 / len(found.bins)
    places = [(place + 0.5) * width for place in range(len(found.bins))]
    counts = [one.count for one in found.bins]
    bars = lower.bar(places, counts, width=0.9 * width, color="0.6")
    lower.bar_label(bars, labels=[str(count) if count else "" for count in counts], padding=2)
    lower.set(xlim=(0, 1), xlabel="forecast probability", ylabel="calls (log)", yscale="symlog")
    lower.set_ylim(0, 10 * max(*counts, 1))
    try:
        figure.savefig(path, format="png", dpi=120)
    except OSError as error:
        raise PlotError(f"{path}: {error.strerror}") from error
