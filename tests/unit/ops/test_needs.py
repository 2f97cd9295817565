"""Each line of the overview says what is so and what to do; the worst is said first."""

import socket
from pathlib import Path

import msgspec
import pytest

from pmcl.bus import StreamState
from pmcl.hosts import Defect, Defects
from pmcl.ops.dashboard.looking import look
from pmcl.ops.dashboard.needs import NO_SIDECAR, Counts, Need, of_ledger, of_parts, of_streams
from pmcl.ops.dashboard.pages import MENU
from pmcl.ops.dashboard.streams import Streams
from pmcl.ops.readiness import Readiness
from pmcl.ops.record.verified import Verified
from pmcl.ops.settings import Settings
from pmcl.ops.state_dir import use_state_dir
from pmcl.ops.status import Standing

QUIET = Standing(journal=9, pending_approvals=0, stopped_at=None, stopped_by=None)
SOUND = Verified(at=0, rows=9, head="", sound=True)
NOTHING = Counts()
HELD = StreamState(messages=0, bytes=0, first=0, last=0, max_bytes=-1)
EMPTY = Streams(letters={}, intake={}, states={"INTAKE": HELD})


def ready(**parts: bool) -> Readiness:
    return Readiness(parts=parts, defects=Defects())


def said(needs: list[Need]) -> str:
    """The only line, which has a remedy and names a page of the menu, if any."""
    [need] = needs
    assert need.remedy.endswith((".", "?"))
    assert need.page in {"", *(path for path, _ in MENU)}
    return f"{need.kind}: {need.told} {need.remedy}"


def test_where_all_is_well_nothing_is_said() -> None:
    assert [*of_ledger(QUIET, None, NOTHING), *of_ledger(QUIET, SOUND, NOTHING)] == []
    assert [*of_streams(EMPTY), *of_parts(ready(relay=True, writer=True))] == []


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"open_holds": 1}, "waits: 1 open hold. No command lifts one"),
        ({"parked_outcomes": 2}, "pmcl outcomes list"),
        ({"lost_messages": 150}, "150 observations lost by the server's store today."),
        ({"failing_hosts": 1}, "Reflection failed last time for 1 host."),
        ({"slow_erasures": 1}, "PmclErasureUnfinished"),
    ],
)
def test_what_the_ledger_counts_is_said(changed: dict[str, int], words: str) -> None:
    assert words in said([*of_ledger(QUIET, SOUND, Counts(**changed))])


def test_stop_approvals_and_a_broken_record_are_said() -> None:
    stopped = msgspec.structs.replace(QUIET, stopped_at=0, stopped_by="operator/ann")
    told = said([*of_ledger(stopped, None, NOTHING)])
    assert "wrong: Stopped 1970-01-01 00:00:00Z by operator/ann" in told
    assert "pmcl resume" in told
    asked = msgspec.structs.replace(QUIET, pending_approvals=2)
    told = said([*of_ledger(asked, None, Counts(asked_at=0))])
    assert "waits: Your word on 2 calls, asked for since 1970-01-01" in told
    for broken in ({"sound": False}, {"same": False}):
        verified = msgspec.structs.replace(SOUND, **broken)
        assert "pmcl audit verify" in said([*of_ledger(QUIET, verified, NOTHING)])


def test_streams_letters_and_parts_are_said() -> None:
    gone = msgspec.structs.replace(EMPTY, states={"LOG": None})
    assert "wrong: The stream LOG is gone. Stop pmcl up" in said([*of_streams(gone)])
    dead = msgspec.structs.replace(EMPTY, letters={"observe": 1})
    told = said([*of_streams(dead)])
    assert "waits: 1 dead letter: what worker observe could not deal with." in told
    assert "pmcl deadletters redrive --dry-run" in told
    for part in ("connection", "intake", "relay", "requests", "writer", "newer"):
        told = said([*of_parts(ready(other=True, **{part: False}))])
        assert f"PmclPartNotWorking: {part}." in told


def test_defects_of_the_sidecar_are_said() -> None:
    last = Defect(kind="checkpoint", error="KeyError", line="decide.py:7", at_ms=0)
    met = Readiness(parts={"relay": True}, defects=Defects(count=2, last=last))
    told = said([*of_parts(met)])
    assert "wrong: 2 requests met a defect of the sidecar, the last a checkpoint (KeyError" in told


@pytest.mark.anyio
async def test_folder_without_a_sidecar_is_said_and_stays_empty(tmp_path: Path) -> None:
    settings = Settings(state_dir=tmp_path / "state")
    found = await look(settings)
    assert (found.running, found.needs) == (False, [NO_SIDECAR])
    assert not settings.state_dir.exists()


@pytest.mark.anyio
async def test_silent_server_is_said_before_what_waits_and_letters_are_remembered(
    tmp_path: Path,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        settings = Settings(
            state_dir=tmp_path / "state",
            server_url=f"nats://127.0.0.1:{deaf.getsockname()[1]}",
            server_monitor_url="http://127.0.0.1:1",
        )
        dead = msgspec.structs.replace(EMPTY, letters={"observe": 2})
        with use_state_dir(settings.state_dir):
            found = await look(settings, dead)
    assert found.streams is None
    silent, letters = found.needs
    assert "The nats-server does not answer" in silent.told
    assert f"Start the server of {settings.server_url} again." in silent.remedy
    assert letters.told.startswith("2 dead letters when the server answered last")
