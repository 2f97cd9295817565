import sys
from pathlib import Path

import pytest

from pmcl.contracts import LedgerError, OutcomeLinked, PmclError
from pmcl.hosts import Host
from pmcl.judgement import Prediction, score
from pmcl.ops.calibration import read_calibration, show_calibration
from pmcl.ops.console import console
from pmcl.ops.reliability_plot import save_plot
from pmcl.ops.settings import Settings
from pmcl.ops.simulated_host import evaluate_calibration
from tests.integration.sidecar.room import Room, proposal
from tests.unit.workers.desk import NOTES, premortem

pytestmark = pytest.mark.anyio

PNG = b"\x89PNG\r\n\x1a\n"


async def test_known_ends_are_scored_and_holds_counted(room: Room) -> None:
    credentials = room.credentials()
    async with Host.connect(room.config(credentials)) as host:
        for ended, mode in enumerate(("", "not_found", "not_found"), start=1):
            verdict = await host.check(proposal())
            async with host.dispatch(verdict, proposal(call_id=verdict.call_id)) as run:
                if mode:
                    run.failed(mode)
            await room.event(credentials.scope, OutcomeLinked, ended)
        held = await host.check(proposal("write_file"))
        assert held.status == "held"

    report = await read_calibration(room.settings, scope=credentials.scope)

    pooled = report["pooled"]
    assert (pooled["count"], pooled["failures"], pooled["top1"]) == (3, 2, 1.0)
    assert report["effects"]["inspect_local"]["count"] == 3
    assert report["scopes"] == {credentials.scope: pooled}
    placed = {"placed": 1, "released": 0, "run": 0, "failed": 0}
    assert pooled["holds"] == report["effects"]["mutation"]["holds"] == placed
    with console.capture() as printed:
        show_calibration(report)
    assert "inspect_local" in printed.get()


async def test_a_hold_alone_is_shown_though_nothing_has_ended(room: Room) -> None:
    credentials = room.credentials()
    async with Host.connect(room.config(credentials)) as host:
        assert (await host.check(proposal("write_file"))).status == "held"

    report = await read_calibration(room.settings, credentials.scope, "mutation")

    with console.capture() as printed:
        show_calibration(report)
    assert "No call has a known outcome yet" in printed.get()
    assert "veto precision" in printed.get()
    inspections = await read_calibration(room.settings, credentials.scope, "inspect_local")
    with console.capture() as printed:
        show_calibration(inspections)
    assert printed.get() == "No call has a known outcome yet: nothing to compare with.\n"


@pytest.mark.parametrize(("mode", "failed"), [("", 0), ("disk_full", 1)])
async def test_a_released_hold_counts_by_the_end_of_the_call_that_released_it(
    room: Room, mode: str, failed: int
) -> None:
    credentials = room.credentials()
    async with Host.connect(room.config(credentials)) as host:
        await host.check(proposal("write_file"))
        seen = await host.observe(source="ls", summary="the notes", resources=(NOTES,))
        revised = proposal("write_file", premortem=premortem(seen))
        verdict = await host.check(revised)
        assert verdict.status == "passed", verdict.reasons
        async with host.dispatch(verdict, revised) as run:
            if mode:
                run.failed(mode)
        await room.event(credentials.scope, OutcomeLinked)

    pooled = (await read_calibration(room.settings, credentials.scope))["pooled"]

    assert pooled["holds"] == {"placed": 1, "released": 1, "run": 1, "failed": failed}
    assert pooled["mitigated"] == {"count": 1, "failures": failed}
    assert pooled["unmitigated"] == {"count": 0, "failures": 0}


async def test_the_forecast_that_was_stored_is_what_is_scored(room: Room) -> None:
    credentials = room.credentials()
    async with Host.connect(room.config(credentials)) as host:
        verdict = await host.check(proposal())
        async with host.dispatch(verdict, proposal(call_id=verdict.call_id)) as run:
            run.failed("not_found")
        await room.event(credentials.scope, OutcomeLinked)
    assert verdict.evaluation is not None
    said = verdict.evaluation.plan_check.forecast.probability

    report = await read_calibration(room.settings, scope=credentials.scope)

    assert report["pooled"]["brier"] == pytest.approx((1 - said) ** 2)


async def test_a_simulated_host_goes_through_the_whole_pipeline() -> None:
    report = await evaluate_calibration(60, seed=3)
    assert report["score"]["count"] == 60
    assert report["score"]["failures"] > 0
    assert report["moved"] == report["seen"]


async def test_without_a_ledger_the_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="no ledger yet"):
        await read_calibration(Settings(state_dir=tmp_path))


def test_a_plot_without_matplotlib_says_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(PmclError, match=r"pip install 'pmcl\[plots\]'"):
        save_plot(score([]), tmp_path / "plot.png")


def test_a_plot_is_a_picture_also_of_nothing(tmp_path: Path) -> None:
    found = score([Prediction("a", 0.25, "a"), Prediction("a", 0.95, None)])
    save_plot(score([]), tmp_path / "empty.png")
    assert (tmp_path / "empty.png").read_bytes().startswith(PNG)
    save_plot(found, tmp_path / "plot.png")
    assert (tmp_path / "plot.png").read_bytes().startswith(PNG)
    with pytest.raises(PmclError, match="nowhere"):
        save_plot(found, tmp_path / "nowhere" / "plot.png")
