"""`pmcl evaluate calibration`: a simulated host with known failure rates asks the real sidecar.

The generator: eight tools, each with a failure rate drawn from Beta(1, 3) and shares of four
failure modes from Dirichlet(0.6); six actions of each tool, whose rates of success and of every
mode are drawn from Dirichlet(12 x the tool's). A call takes a tool by chance and its n-th action
with weight 1/n, and ends as its action's own rates say. All is drawn from one seed. The calls are
local inspections, so that every one of them passes and has an outcome.
"""

import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any, Final

import anyio.to_thread
import msgspec
from rich.progress import track

from pmcl.contracts import AuthoritySnapshot, FailureForecast, PmclError, Resource, Tool
from pmcl.hosts import Host, HostConfig, Proposal
from pmcl.judgement import Prediction, Score, score
from pmcl.ops.calibration import show_score
from pmcl.ops.cell import run_cell
from pmcl.ops.console import console
from pmcl.ops.host_add import register_hosts
from pmcl.ops.settings import Settings

__all__ = [
    "Action",
    "draw_call",
    "evaluate_calibration",
    "make_actions",
    "show_trial",
    "trial_report",
]

_MODES: Final = ("denied", "not_found", "out_of_date", "timeout")
_ENDS: Final = ("", *_MODES)
"""The empty end is success."""
_TOOLS: Final = 8
_ACTIONS: Final = 6
_ALIKE: Final = 12.0
_MOVED_AFTER: Final = 5


class TrialError(PmclError):
    """A call of the simulated host was not judged as it should have been."""


class Action(msgspec.Struct, frozen=True):
    """One action of the simulated host; `rates` are those of success and of each mode."""

    tool: str
    path: str
    rates: tuple[float, ...]

    @property
    def likeliest(self) -> str:
        """The failure mode that nobody could forecast better."""
        return max(_MODES, key=lambda mode: self.rates[_ENDS.index(mode)])


def make_actions(random: Random) -> list[list[Action]]:
    """Return the actions of each tool, as the module describes them."""
    tools = []
    for number in range(_TOOLS):
        fails = random.betavariate(1, 3)
        modes = _dirichlet(random, [0.6] * len(_MODES))
        profile = [1 - fails, *(fails * share for share in modes)]
        name = f"read_source_{number}"
        tools.append(
            [
                Action(
                    name, f"/data/{number}/{n}", _dirichlet(random, [_ALIKE * p for p in profile])
                )
                for n in range(_ACTIONS)
            ]
        )
    return tools


def _dirichlet(random: Random, weights: list[float]) -> tuple[float, ...]:
    drawn = [random.gammavariate(max(weight, 1e-3), 1) for weight in weights]
    return tuple(value / sum(drawn) for value in drawn)


def draw_call(random: Random, tools: Sequence[Sequence[Action]]) -> tuple[Action, str]:
    """Return the next action and its end; the empty end is success."""
    weights = [1 / n for n in range(1, _ACTIONS + 1)]
    (action,) = random.choices(random.choice(tools), weights)
    (end,) = random.choices(_ENDS, action.rates)
    return action, end


async def evaluate_calibration(calls: int, seed: int) -> dict[str, Any]:
    """Return how well the sidecar forecast the simulated host.

    Returns:
        `{"calls", "seed", "score", "best_top1", "top1_of_best", "moved", "seen"}`: `best_top1` is
        what knowing the true rates would have reached on the same failures; of `seen` actions that
        had five outcomes and were asked for again, `moved` had another forecast than at first.
    """
    random = Random(seed)  # noqa: S311 - a trial that can be repeated
    tools = make_actions(random)
    with tempfile.TemporaryDirectory(prefix="pmcl-calibration-") as directory:
        settings = Settings(state_dir=Path(directory))
        (credentials,) = await anyio.to_thread.run_sync(
            register_hosts, settings, ["trial"], "simulated"
        )
        config = HostConfig(
            credentials=credentials,
            authority=AuthoritySnapshot(tools={"*": "grant"}, effects={"inspect_local": "grant"}),
            state_dir=settings.state_dir / "hosts",
        )
        made: list[tuple[Action, FailureForecast, str]] = []
        async with run_cell(settings), Host.connect(config) as host:
            for _ in track(range(calls), "calls", console=console, transient=True):
                action, end = draw_call(random, tools)
                made.append((action, await _call(host, action, end), end))
    return {"calls": calls, "seed": seed, **trial_report(made)}


async def _call(host: Host, action: Action, end: str) -> FailureForecast:
    proposal = Proposal(
        goal="Look at the sources",
        tool=Tool(server="simulated", name=action.tool, definition_hash="0" * 64),
        arguments={"path": action.path},
        resources=(Resource(kind="path", value=action.path),),
    )
    verdict = await host.check(proposal)
    if verdict.evaluation is None or verdict.status != "passed":
        raise TrialError(f"{action.tool}: {verdict.status} {', '.join(verdict.reasons)}")
    async with host.dispatch(verdict, proposal) as run:
        if end:
            run.failed(end)
    return verdict.evaluation.plan_check.forecast


def trial_report(made: Sequence[tuple[Action, FailureForecast, str]]) -> dict[str, Any]:
    """Return the figures of the calls made: their forecasts, their ends, the best possible."""
    predictions = [
        Prediction(forecast.mode, forecast.probability, end or None) for _, forecast, end in made
    ]
    found = score(predictions)
    failed = [(action, end) for action, _, end in made if end]
    best = sum(action.likeliest == end for action, end in failed) / len(failed) if failed else None
    forecasts: dict[Action, list[FailureForecast]] = defaultdict(list)
    for action, forecast, _ in made:
        forecasts[action].append(forecast)
    seen = [given for given in forecasts.values() if len(given) > _MOVED_AFTER]
    moved = [given for given in seen if _said(given[0]) != _said(given[_MOVED_AFTER])]
    return {
        "score": msgspec.to_builtins(found),
        "best_top1": best,
        "top1_of_best": found.top1 / best if found.top1 is not None and best else None,
        "moved": len(moved),
        "seen": len(seen),
    }


def _said(forecast: FailureForecast) -> tuple[str, float]:
    return forecast.mode, forecast.probability


def show_trial(report: dict[str, Any]) -> None:
    """Print the figures of a trial with its reliability diagram."""
    found = msgspec.convert(report["score"], Score)
    console.print(f"{report['calls']} calls, seed {report['seed']}, {found.failures} failed")
    if found.top1 is None or report["top1_of_best"] is None:
        console.print("none of them failed: nothing to compare with")
        return
    best = f"{report['best_top1']:.3f} was possible: {report['top1_of_best']:.3f} of it"
    console.print(f"top-1 failure accuracy      {found.top1:.3f}, {best}")
    console.print(f"Brier score                 {found.brier:.4f}")
    console.print(f"expected calibration error  {found.ece:.4f}")
    console.print(f"moved after five outcomes   {report['moved']} of {report['seen']} actions")
    show_score(found)
