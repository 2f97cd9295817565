"""What the pages show is what the commands show; what they do goes the way of the commands."""

import html
import re
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import anyio
import msgspec
import pytest
from starlette.types import Message

from pmcl.bus import DEADLETTERS
from pmcl.contracts import (
    CELL_SCOPE,
    ApprovalDenied,
    ApprovalGranted,
    CellStopped,
    OutcomeLinked,
    ReflectionEnded,
)
from pmcl.hosts import Host, HostConfig
from pmcl.ops.approvals import read_approval
from pmcl.ops.asking import operator_label
from pmcl.ops.calibration import read_calibration
from pmcl.ops.dashboard import run_dashboard
from pmcl.ops.dashboard.feed import Feed
from pmcl.ops.dashboard.live import EventStream
from pmcl.ops.dashboard.looking import Lookout
from pmcl.ops.dashboard.pages import MENU
from pmcl.ops.settings import Settings
from pmcl.ops.stopping import resume
from tests.integration.dashboard.browsing import Browsing, browsing
from tests.integration.sidecar.room import WITHIN_S, Room, proposal
from tests.integration.sidecar.test_approvals import again, renaming
from tests.integration.sidecar.test_dead_letters import cure, dead
from tests.unit.workers.desk import NOTES

__all__ = ["cure"]

pytestmark = pytest.mark.anyio

HOSTILE = "<img src=x onerror=alert(1)>"
SHOWN = "&lt;img src=x onerror=alert(1)&gt;"
BY = f"operator/{operator_label()}"


@pytest.fixture
def config(room: Room) -> HostConfig:
    return room.config()


@pytest.fixture
def scope(config: HostConfig) -> str:
    return config.credentials.scope


@pytest.fixture
async def host(config: HostConfig) -> AsyncIterator[Host]:
    async with Host.connect(config) as host:
        yield host


def lines(text: str) -> str:
    """A page as it is read: without its marks' spaces."""
    return " ".join(html.unescape(text).split())


@pytest.mark.parametrize("path", [path for path, _ in MENU])
async def test_every_page_of_the_menu_is_there(page: Browsing, host: Host, path: str) -> None:
    await host.check(proposal())
    found = await page.get(path)
    assert found.status_code == 200, found.text
    assert found.text.count("<h1>") == 1
    assert found.text.count('aria-current="page"') == 1
    assert found.text.count("<table") == found.text.count("<caption>")
    assert found.text.count("<th ") == found.text.count('scope="col"')


async def test_verdict_is_listed_and_told_line_by_line(page: Browsing, host: Host) -> None:
    verdict = await host.check(proposal("delete_file", goal=f"tidy up {HOSTILE}"))
    listed = await page.get("/verdicts?status=held")
    assert f"/verdicts/{verdict.claim_id}" not in listed.text  # a held one has another claim
    assert verdict.evaluation is not None
    evaluation_id = verdict.evaluation.evaluation_id
    assert f'href="{page.base}/verdicts/{evaluation_id}"' in listed.text
    assert f"/verdicts/{evaluation_id}" not in (await page.get("/verdicts?status=passed")).text
    told = await page.get(f"/verdicts/{evaluation_id}")
    assert "the same, field for field" in told.text
    assert all(reason in told.text for reason in verdict.reasons)
    assert SHOWN in told.text
    assert HOSTILE not in told.text


async def test_hold_says_on_what_and_what_would_lift_it(page: Browsing, host: Host) -> None:
    path = f"/project/{HOSTILE}"
    resource = msgspec.structs.replace(NOTES, value=path)
    held = proposal("delete_file", arguments={"path": path}, resources=(resource,))
    verdict = await host.check(held)
    assert verdict.status == "held"
    listed = (await page.get("/holds")).text
    assert f"path /project/{SHOWN}" in listed
    assert HOSTILE not in listed
    assert "evidence about one of the resources that no model wrote" in lines(listed)
    hold_id = listed.partition(f"{page.base}/holds/")[2].partition('"')[0]
    told = (await page.get(f"/holds/{hold_id}")).text
    assert f"path /project/{SHOWN}" in told
    assert (await page.get("/holds/none")).status_code == 404


async def test_grant_is_asked_first_and_lets_the_call_pass_once(
    page: Browsing, host: Host, scope: str, room: Room
) -> None:
    proposed = await renaming(host, goal=f"keep order {HOSTILE}")
    verdict = await host.check(proposed)
    approval_id = verdict.approval_id
    assert approval_id is not None
    assert f'href="{page.base}/approvals/{approval_id}"' in (await page.get("/approvals")).text
    asked = (await page.get(f"/approvals/{approval_id}/grant")).text
    assert SHOWN in asked
    assert HOSTILE not in asked
    assert BY in asked
    assert (await read_approval(room.settings, approval_id)).approval.state == "pending"
    done = await page.submit(f"/approvals/{approval_id}/grant", minutes="10")
    assert f"files/rename_file may pass once, granted by {BY}." in lines(done.text)
    assert "may pass once" not in (await page.get("/approvals")).text
    granted = await room.event(scope, ApprovalGranted)
    assert (granted.approver, granted.expires_at - granted.at_ms) == (BY, 600_000)
    assert (await host.check(again(proposed))).status == "passed"


async def test_denied_call_stays_held_and_is_decided_once(
    page: Browsing, host: Host, scope: str, room: Room
) -> None:
    proposed = await renaming(host)
    approval_id = (await host.check(proposed)).approval_id
    path = f"/approvals/{approval_id}/deny"
    action, fields = await page.form(path)
    done = await page.submit(path)
    assert f"held for good, denied by {BY}." in lines(done.text)
    assert (await room.event(scope, ApprovalDenied)).approver == BY
    assert (await host.check(again(proposed))).status == "held"
    repeated = await page.post(action, fields)
    assert (repeated.status_code, "Not done" in repeated.text) == (409, True)
    unfit = await page.post(f"/approvals/{approval_id}/grant", {**fields, "minutes": "99999"})
    assert (unfit.status_code, "minutes is one of" in unfit.text) == (400, True)


async def test_stop_and_resume_are_asked_first(page: Browsing, host: Host, room: Room) -> None:
    asked = (await page.get("/stop")).text
    assert re.search(r"\b(1 lease ends|([02-9]|\d\d+) leases end)\b", lines(asked))
    assert (await room.rows("SELECT count(*) AS n FROM stops WHERE resumed_at IS NULL"))[0] == {
        "n": 0
    }
    try:
        done = await page.submit("/stop")
        assert f"Stopped by {BY}" in lines(done.text)
        assert (await room.event(CELL_SCOPE, CellStopped)).by == BY
        assert f"by {BY}: only local inspections go on." in lines((await page.get("/")).text)
        done = await page.submit("/stop")
        assert f"Resumed by {BY}" in lines(done.text)
    finally:
        await resume(room.settings)
    assert "Nothing is stopped." in (await page.get("/stop")).text


async def test_dead_letters_are_counted_and_redriven_after_a_dry_run(
    page: Browsing, room: Room, cure: Callable[[], None]
) -> None:
    _, numbers = await dead(room, 2)
    listed = lines((await page.get("/deadletters")).text)
    assert "ZeroDivisionError" in listed
    choice = "worker=observe&reason=ZeroDivisionError"
    assert all(f">{number}</a>" in listed for number in numbers)
    shown = await page.get(f"/deadletters?{choice}&after={numbers[0]}")
    assert [f">{number}</a>" in shown.text for number in numbers] == [False, True]
    assert "number 0" in (await page.get(f"/deadletters/{numbers[0]}")).text
    stays = lines((await page.get(f"/deadletters/redrive?sequence={numbers[0]}")).text)
    assert "would stay" in stays
    cure()
    before = await room.stream(DEADLETTERS)
    asked = lines((await page.get(f"/deadletters/redrive?{choice}")).text)
    assert "This was a dry run: nothing was changed." in asked
    assert (await room.stream(DEADLETTERS)).messages == before.messages
    done = await page.submit(f"/deadletters/redrive?{choice}")
    assert f"{before.messages} dead letters dealt with, 0 had been before." in lines(done.text)
    assert (await room.stream(DEADLETTERS)).messages == 0
    assert "There are no dead letters." in done.text


async def test_calibration_page_has_the_figures_of_the_command(
    page: Browsing, host: Host, scope: str, room: Room
) -> None:
    proposed = proposal()
    async with host.dispatch(await host.check(proposed), proposed):
        pass
    await room.event(scope, OutcomeLinked)
    report = await read_calibration(room.settings)
    text = (await page.get("/calibration")).text
    filled = [one for one in report["pooled"]["bins"] if one["count"]]
    assert filled
    assert text.count('class="mark-point"') == len(filled)
    assert f"Reliability diagram of {report['pooled']['count']} calls" in text


async def test_job_of_a_turn_and_its_reflection_are_shown(
    page: Browsing, host: Host, scope: str, room: Room
) -> None:
    await host.complete("turn-1")
    ended = await room.event(scope, ReflectionEnded)
    text = lines((await page.get("/work")).text)
    jobs, cycles = text.split("<h2>Reflection</h2>")
    assert f"{scope}/agent" in jobs
    [cycle] = [row for row in cycles.split("<tr") if f"{scope}/agent" in row]
    assert f"{ended.result}: {ended.reason}" in cycle
    assert "1 turn<" in cycle


async def test_what_is_not_there_yet_is_said(page: Browsing) -> None:
    text = (await page.get("/work")).text
    assert "Not available yet: this version has no rhythm." in text


async def test_live_verdict_comes_with_its_counts_and_its_time(
    page: Browsing, host: Host, scope: str, room: Room
) -> None:
    [head] = await room.rows("SELECT max(sequence) AS n FROM journal")
    async with page.events(head["n"]) as events:
        verdict = await host.check(proposal())
        batch = await events.next()
        while not batch["rows"]:
            batch = await events.next()
    [row] = batch["rows"]
    assert (row["id"], row["status"], row["tool"]) == (
        verdict.claim_id, "passed", "files/read_file",
    )  # fmt: skip
    assert row["host"] == f"{scope}/agent"
    assert batch["counts"] == {"passed": 1}
    assert batch["standing"]["stopped_at"] is None
    assert 0 <= row["took_ms"] < 10_000


async def test_browser_that_comes_back_misses_nothing_and_sees_nothing_twice(
    page: Browsing, host: Host, room: Room
) -> None:
    [head] = await room.rows("SELECT max(sequence) AS n FROM journal")
    async with page.events(head["n"]) as events:
        first = await host.check(proposal())
        await events.verdict(first.claim_id)
        last = events.last_id
    missed = [await host.check(proposal()) for _ in range(40)]
    async with page.events(last) as events:
        seen, counted = [], 0
        while counted < len(missed):
            batch = await events.next()
            seen += [row["id"] for row in batch["rows"]]
            counted += batch["counts"].get("passed", 0)
    wanted = [verdict.claim_id for verdict in missed]
    assert counted == len(wanted)
    assert seen == wanted[-len(seen) :]
    assert len(seen) >= 30


async def test_row_comes_when_log_has_told_of_it_and_not_before(host: Host, room: Room) -> None:
    [head] = await room.rows("SELECT max(sequence) AS n FROM journal")
    await host.check(proposal())
    await host.check(proposal())
    feed = Feed(room.settings)
    feed.told = head["n"] + 1
    sent: list[bytes] = []

    async def receive() -> Message:
        await anyio.sleep_forever()
        raise AssertionError

    async def send(message: Message) -> None:
        sent.append(message.get("body", b""))
        if sent[-1]:
            feed.close()

    with anyio.fail_after(WITHIN_S):
        stream = EventStream(room.settings, feed, Lookout(room.settings, feed), head["n"])
        await stream({"type": "http"}, receive, send)
    [batch] = [body for body in sent if body]
    assert batch.startswith(b"id: %d\n" % (head["n"] + 1))
    assert batch.count(b'"took_ms"') == 1


async def test_without_a_sidecar_pages_say_so_and_start_nothing(tmp_path: Path) -> None:
    settings = Settings(state_dir=tmp_path / "state")
    async with run_dashboard(settings) as link, browsing(link) as page:
        await page.enter()
        assert "There is no ledger" in (await page.get("/")).text
        found = {path: (await page.get(path)).status_code for path, _ in MENU}
    assert found == {
        "/": 200, "/verdicts": 404, "/holds": 404, "/approvals": 503, "/queues": 503,
        "/deadletters": 503, "/calibration": 404, "/work": 404, "/stop": 503,
    }  # fmt: skip
    assert not (tmp_path / "state").exists()
