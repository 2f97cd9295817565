from pathlib import Path

import msgspec
import pytest

from pmcl.contracts import LedgerError, OutcomeLinked, PmclError
from pmcl.hosts import Host
from pmcl.judgement import Score
from pmcl.ops.calibration import read_calibration, show_calibration
from pmcl.ops.console import console
from pmcl.ops.reliability_plot import save_plot
from pmcl.ops.settings import Settings
from pmcl.ops.simulated_host import evaluate_calibration
from tests.integration.sidecar.room import Room, proposal

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
    assert list(report["effects"]) == ["inspect_local"]
    assert report["scopes"] == {credentials.scope: pooled}
    assert report["holds"] == {"mutation": {"placed": 1, "released": 0, "run": 0, "failed": 0}}
    mutations = await read_calibration(room.settings, credentials.scope, "mutation")
    assert mutations["pooled"]["count"] == 0
    with console.capture() as printed:
        show_calibration(report)
        show_calibration(mutations)
    assert "inspect_local" in printed.get()
    assert "No call has a known outcome yet" in printed.get()


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


async def test_a_plot_is_a_picture_or_a_clear_error(tmp_path: Path) -> None:
    report = await evaluate_calibration(10, seed=1)
    found = msgspec.convert(report["score"], Score)
    save_plot(found, tmp_path / "plot.png")
    assert (tmp_path / "plot.png").read_bytes().startswith(PNG)
    with pytest.raises(PmclError, match="nowhere"):
        save_plot(found, tmp_path / "nowhere" / "plot.png")
