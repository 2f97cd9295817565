"""A sidecar without its detector runs, and takes nothing that it cannot redact."""

import importlib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from pmcl.bus import Credentials
from pmcl.judgement.secret_detector import _loaded
from pmcl.ops.cell import run_cell
from pmcl.ops.host_add import register_hosts
from pmcl.ops.settings import Settings
from pmcl.store import Reader, open_reader
from tests.acceptance.facts import until
from tests.integration.sidecar.plain import PlainHost, open_plain

pytestmark = pytest.mark.anyio

_EVENT = "cell.detector_missing"
_MAY_BE_ONE = "the key begins with SG."


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    load = importlib.import_module

    def fail(name: str) -> object:
        if name.startswith("detect_secrets"):
            raise ImportError(name)
        return load(name)

    _loaded.cache_clear()
    monkeypatch.setattr(importlib, "import_module", fail)
    yield monkeypatch
    _loaded.cache_clear()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(state_dir=tmp_path / "state")


@pytest.fixture
def credentials(settings: Settings) -> Credentials:
    (own,) = register_hosts(settings, ["s"], "agent")
    return own


@pytest.fixture
async def plain(
    broken: pytest.MonkeyPatch, settings: Settings, credentials: Credentials
) -> AsyncIterator[PlainHost]:
    """A client that redacts nothing, before a sidecar that cannot."""
    async with run_cell(settings), open_plain(credentials) as opened:
        await opened.begin()
        yield opened


async def _evidence(reader: Reader) -> int:
    (row,) = await reader.all("SELECT count(*) AS n FROM evidence")
    return int(row["n"])


async def test_cell_without_its_detector_says_so_and_runs(
    broken: pytest.MonkeyPatch, settings: Settings, credentials: Credentials
) -> None:
    with capture_logs() as logs:
        async with run_cell(settings), open_plain(credentials) as plain:
            await plain.begin()

            async def told_of() -> bool:
                return any(entry["event"] == _EVENT for entry in logs)

            await until(told_of)
            assert (await plain.check(plain.request()))["checkpoint_status"] == "passed"
    (told,) = [entry for entry in logs if entry["event"] == _EVENT]
    assert (told["log_level"], told["error"]) == ("error", "ImportError")


async def test_request_that_may_hold_a_secret_is_refused_and_not_stored(
    settings: Settings, plain: PlainHost
) -> None:
    for request in (
        plain.request(goal=_MAY_BE_ONE),
        plain.request(arguments={"path": "/project/a", "note": _MAY_BE_ONE}),
    ):
        reply = await plain.check(request)
        assert (reply["code"], reply["value"]) == ("detector_missing", "ImportError")
    async with open_reader(settings.ledger_path) as reader:
        assert await reader.all("SELECT 1 FROM evaluations") == []


async def test_observation_that_may_hold_a_secret_waits_for_the_repair(
    broken: pytest.MonkeyPatch, settings: Settings, credentials: Credentials
) -> None:
    async with run_cell(settings), open_plain(credentials) as plain:
        await plain.begin()
        assert (await plain.tell("observation", plain.observation(summary=_MAY_BE_ONE)))["seq"]
        fields = {"Pmcl-Epoch": plain.epoch, "Pmcl-Number": str(plain.number)}
        reply = await plain.check(plain.request(), fields | {"Pmcl-Budget-Ms": "400"})
        assert reply["code"] == "evidence_pending"
        async with open_reader(settings.ledger_path) as reader:
            assert await _evidence(reader) == 0
    broken.undo()
    _loaded.cache_clear()
    async with run_cell(settings), open_reader(settings.ledger_path) as reader:
        assert await until(lambda: _evidence(reader)) == 1
