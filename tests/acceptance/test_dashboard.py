"""The dashboard in a real browser, over a real sidecar: keys alone, in the light and the dark."""

import http.server
import re
import signal
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anyio
import msgspec
import pytest
from ulid_transform import ulid_at_time

from pmcl.contracts import AuthoritySnapshot, Evaluated, Premortem
from pmcl.hosts import Host, Proposal
from pmcl.ledger import evaluations, ledger_config
from pmcl.ops.asking import operator_label
from pmcl.store import Transaction, open_writer
from tests.acceptance.browser import ENTER, ESCAPE, Browser, browser
from tests.acceptance.facts import rows, until
from tests.acceptance.processes import PMCL, child
from tests.acceptance.world import AUTHORITY, READY_S, World, about, deleting, reading

pytestmark = pytest.mark.anyio

SEEN_S = 1.0
NOTICED_S = 60.0
BURST = 200
BY = f"operator/{operator_label()}"
PAGES = (
    "", "verdicts", "holds", "approvals", "queues", "deadletters", "calibration", "work", "stop",
)  # fmt: skip
POISONED = (sys.executable, str(Path(__file__).with_name("gameday") / "poisoned.py"))
HOSTILE = '<img src=x onerror="document.title=\'owned\'"><script>document.title="owned"</script>'
MUST_ASK = msgspec.structs.replace(AUTHORITY, tools={"*": "grant", "files/rename_file": "approve"})


@asynccontextmanager
async def dashboard(world: World) -> AsyncIterator[str]:
    """The link of a dashboard, as the command prints it."""
    command = [*PMCL, "dashboard", "--json", "--state-dir", str(world.state_dir)]
    environment = world.environment | {
        "PMCL_SERVER_URL": world.server.url,
        "PMCL_SERVER_MONITOR_URL": world.server.monitor_url,
    }
    errors = world.directory / "dashboard.err"
    async with child(command, errors, environment) as running:
        with anyio.fail_after(READY_S):
            line = await running.line()
        assert line is not None, running.errors
        link = str(msgspec.json.decode(line)["link"])
        yield link
        assert link.rpartition("=")[2] not in running.errors


@pytest.fixture(scope="module")
async def window(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Browser]:
    async with browser(tmp_path_factory.mktemp("profile")) as window:
        yield window


@asynccontextmanager
async def opened(world: World, window: Browser) -> AsyncIterator[str]:
    """A sidecar, and its dashboard in the browser, which has followed the link."""
    await window.as_new()
    async with world.sidecar(), dashboard(world) as link:
        await window.open(link)
        yield (await window.address()).removesuffix("/")
        assert await window.complaints() == []


@asynccontextmanager
async def asking(world: World, authority: AuthoritySnapshot = AUTHORITY) -> AsyncIterator[Host]:
    async with Host.connect(world.host(authority=authority)) as host:
        yield host


async def evaluation_id(host: Host, proposal: Proposal) -> str:
    verdict = await host.check(proposal)
    assert verdict.evaluation is not None
    return verdict.evaluation.evaluation_id


async def test_live_verdict_is_seen_within_a_second_and_moves_nothing(
    world: World, window: Browser
) -> None:
    async with opened(world, window), asking(world) as host:
        await window.width(1280)
        await window.until("document.getElementById('live').textContent === 'live'")
        await window.evaluate("""
            window.shifts = [];
            new PerformanceObserver((list) => window.shifts.push(...list.getEntries()))
              .observe({type: "layout-shift", buffered: false});
        """)
        passed = await evaluation_id(host, reading("/srv/a"))
        await window.until(f"document.querySelector('[data-id=\"{passed}\"]')", within_s=SEEN_S)
        held = await evaluation_id(host, deleting("/srv/b"))
        await window.until(f"document.querySelector('[data-id=\"{held}\"]')", within_s=SEEN_S)
        shown = await window.evaluate("""
            const row = document.querySelector("#live-list tbody tr");
            const figure = (name) => document.querySelector(`[data-counts="${name}"]`).textContent;
            const painted = (next) => requestAnimationFrame(() => setTimeout(next));
            return new Promise(painted).then(() => new Promise(painted)).then(() => [
              row.dataset.id, row.innerText, figure("passed"), figure("held"),
              figure("open_holds"), window.shifts.map((shift) => shift.value),
            ]);
        """)
        assert shown[0] == held
        for word in ("held", "files/delete_file", "mutation", "s/a", "plan.unmitigated", "ms"):
            assert word in shown[1]
        assert re.search(r"\b\d\d-\d\d \d\d:\d\d:\d\d\b", shown[1])
        assert shown[2:] == ["1", "1", "1", []]


async def test_pause_keeps_the_list_still_and_going_on_shows_what_came(
    world: World, window: Browser
) -> None:
    async with opened(world, window), asking(world) as host:
        await window.sees("live")
        await window.keys("p")
        await window.sees("paused")
        came = await evaluation_id(host, reading("/srv/a"))
        await window.sees("Go on (1)")
        row = f"document.querySelector('[data-id=\"{came}\"]')"
        assert await window.evaluate(f"return {row}") is None
        await window.keys("p")
        await window.until(row)


async def renaming(host: Host) -> Proposal:
    """A proposal that nothing holds but the approval that it must have; it was asked for."""
    seen = await host.observe(source="ls", summary="it is there", resources=(about("/srv/a"),))
    shown = Premortem(
        failure_mode="wrong_target", likelihood=0.1, mitigation="seen", evidence_ids=(seen,)
    )
    plain = deleting("/srv/a")
    tool = msgspec.structs.replace(plain.tool, name="rename_file")
    proposal = msgspec.structs.replace(plain, tool=tool, premortem=shown)
    assert (await host.check(proposal)).approval_id is not None
    return proposal


async def walk(window: Browser, *steps: str) -> None:
    """Go to one thing after another by the tab key, and press Enter on it."""
    for step in steps:
        address = await window.address()
        await window.tab_to(step)
        await window.keys(ENTER)
        await window.until(f"location.href !== '{address}' && document.readyState === 'complete'")


async def test_whole_approval_by_the_keyboard_alone(world: World, window: Browser) -> None:
    async with opened(world, window), asking(world, MUST_ASK) as host:
        proposed = await renaming(host)
        await window.until("document.querySelector('#pending:not([hidden])')")
        await window.keys("4")
        await window.sees("1 approval, pending, or granted and not used yet")
        await window.tab_to("Skip to content")
        await window.keys(ENTER)
        await window.until("document.activeElement.id === 'main'")
        await walk(window, "files/rename_file", "Grant…", "Grant it once")
        await window.sees(f"files/rename_file may pass once, granted by {BY}.")
        [row] = await rows(world.ledger, "SELECT state, approver FROM approvals")
        assert tuple(row) == ("granted", BY)
        retried = msgspec.structs.replace(proposed, call_id="again")
        assert (await host.check(retried)).status == "passed"


async def test_denial_by_the_keyboard_alone_and_escape_leaves_the_question(
    world: World, window: Browser
) -> None:
    async with opened(world, window), asking(world, MUST_ASK) as host:
        await renaming(host)
        await window.keys("4")
        await window.sees("1 approval, pending")
        await walk(window, "files/rename_file", "Deny…")
        await window.sees("Deny this approval?")
        await window.keys(ESCAPE)
        await window.until("document.querySelector('h1')?.textContent === 'Approval'")
        state = "SELECT state, approver FROM approvals"
        assert [tuple(row) for row in await rows(world.ledger, state)] == [("pending", None)]
        await walk(window, "Deny…", "Deny it")
        told = f"files/rename_file is held for good, denied by {BY}."
        await window.until(f"document.activeElement.textContent === '{told}'")
        assert [tuple(row) for row in await rows(world.ledger, state)] == [("denied", BY)]


async def test_redrive_of_one_letter_and_of_a_reason_by_the_keyboard_alone(
    world: World, window: Browser
) -> None:
    async with world.sidecar(POISONED), asking(world) as host:
        for number in range(3):
            await host.observe(source="poison", summary=f"number {number}")
        await until(lambda: has_events(world, "refused", 3))
    async with opened(world, window):
        await window.keys("6")
        await window.sees("3 dead letters, oldest first")
        await walk(window, "dead letter 1", "Redrive…")
        await window.sees("This was a dry run: nothing was changed.")
        await window.keys(ESCAPE)
        await window.sees("3 dead letters, oldest first")
        assert await redriven(world) == []
        await walk(window, "dead letter 1", "Redrive…", "Redrive 1")
        await window.sees("1 dead letter dealt with, 0 had been before.")
        await walk(window, "Redrive those of observe, ZeroDivisionError", "Redrive 2")
        await window.sees("2 dead letters dealt with, 0 had been before.")
        await window.sees("There are no dead letters.")
        assert await redriven(world) == [(1, BY), (2, BY), (3, BY)]


async def has_events(world: World, name: str, count: int) -> bool:
    found = await rows(world.ledger, f"SELECT 1 FROM journal WHERE subject LIKE '%.{name}'")
    return len(found) == count


async def redriven(world: World) -> list[tuple[int, str]]:
    """Which dead letters the journal says were redriven, and by whom."""
    letters = "SELECT body FROM journal WHERE subject LIKE '%.letter-redriven'"
    events = [msgspec.json.decode(row["body"]) for row in await rows(world.ledger, letters)]
    return sorted((event["sequence"], event["by"]) for event in events)


async def test_tab_key_goes_through_each_page_in_its_order_and_is_always_seen(
    world: World, window: Browser
) -> None:
    async with opened(world, window) as base, asking(world, MUST_ASK) as host:
        await fill(host)
        await renaming(host)
        [waiting] = await rows(world.ledger, "SELECT max(approval_id) AS id FROM approvals")
        await window.width(1280)
        for page in (*PAGES, f"approvals/{waiting['id']}/grant"):
            await window.open(f"{base}/{page}")
            stops = await window.stops()
            assert stops[0]["text"] == "Skip to content"
            places = [stop["place"] for stop in stops]
            assert places == sorted(set(places)), page
            unseen = [stop["text"] for stop in stops if not (stop["outlined"] and stop["seen"])]
            assert unseen == [], page


async def test_open_overview_says_within_a_minute_what_happened_what_waits_and_what_to_do(
    world: World, window: Browser
) -> None:
    async with world.sidecar(POISONED), asking(world) as host:
        await host.observe(source="poison", summary="it divides by zero")
        await until(lambda: has_events(world, "refused", 1))
    async with opened(world, window), asking(world, MUST_ASK) as host:
        await host.check(deleting("/srv/a"))
        await renaming(host)
        for words in ("1 dead letter", "1 open hold", "Your word on 1 call"):
            await window.sees(words)
        assert await window.evaluate("return document.getElementById('needs').role") == "status"
        world.server.kill()
        for words in (
            "The nats-server does not answer: everything but local inspections is held.",
            f"Start the server of {world.server.url} again.",
            "1 dead letter when the server answered last",
            "pmcl deadletters redrive --dry-run",
            "1 open hold",
            "Your word on 1 call",
        ):
            await window.sees(words, within_s=NOTICED_S)
        dead = "document.querySelector('[data-looked=dead]').textContent"
        await window.until(f"{dead} === '?'")
        wrong = "document.querySelector('#wrong:not([hidden])')"
        await window.until(wrong)
        await window.keys("6")
        await window.sees("no answer from the nats-server")
        await window.until(wrong)  # on every page
        await walk(window, "Overview")
        await world.restart_server()
        await window.until(
            "!document.getElementById('needs').innerText.includes('does not answer')",
            within_s=NOTICED_S,
        )
        await window.sees("1 open hold")
        await window.until(f"{dead} === '1'", within_s=NOTICED_S)
        await window.complaints()  # the page that could not be shown


async def test_what_comes_is_told_to_who_hears_the_page(world: World, window: Browser) -> None:
    async with opened(world, window), asking(world) as host:
        await window.sees("live")
        heard = "document.querySelector('#news[role=status]').textContent"
        await host.check(deleting("/srv/a"))
        await window.until(f"{heard} === 'New: 1 held'")


async def test_stop_and_resume_by_the_keyboard_alone(world: World, window: Browser) -> None:
    async with opened(world, window), asking(world) as host:
        assert (await host.check(reading("/srv/a"))).status == "passed"
        await window.keys("9")
        await window.sees("1 lease ends, with all that it passed")
        await window.tab_to("Stop everything")
        await window.keys(ENTER)
        await window.sees(f"Stopped by {BY}: 1 lease ended.")
        await window.until("document.activeElement.textContent.startsWith('Stopped by')")
        [row] = await rows(world.ledger, "SELECT stopped_by, resumed_by FROM stops")
        assert tuple(row) == (BY, None)
        held = await host.check(deleting("/srv/a"))
        assert "authority.stopped" in held.reasons
        await window.tab_to("Resume")
        await window.keys(ENTER)
        await window.sees(f"Resumed by {BY}")
        [row] = await rows(world.ledger, "SELECT stopped_by, resumed_by FROM stops")
        assert tuple(row) == (BY, BY)


# Every text beside the colour that is painted behind it. Source: WCAG 2.2, contrast ratio.
_CONTRASTS = """
const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
const rgba = (colour) => {
  canvas.clearRect(0, 0, 1, 1);
  canvas.fillStyle = colour;
  canvas.fillRect(0, 0, 1, 1);
  return [...canvas.getImageData(0, 0, 1, 1).data];
};
const light = ([r, g, b]) => {
  const [x, y, z] = [r, g, b].map((c) => c / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * x + 0.7152 * y + 0.0722 * z;
};
const behind = (element) => {
  for (; element; element = element.parentElement) {
    const colour = rgba(getComputedStyle(element).backgroundColor);
    if (colour[3] === 255) return colour;
  }
  return [255, 255, 255, 255];
};
document.querySelectorAll("details").forEach((each) => { each.open = true; });
const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
const found = [];
while (texts.nextNode()) {
  const element = texts.currentNode.parentElement;
  const style = getComputedStyle(element);
  if (!texts.currentNode.data.trim() || style.visibility !== "visible") continue;
  if (!element.checkVisibility() || element.closest("script, .unseen, noscript")) continue;
  const colour = rgba(element.closest("svg") ? style.fill : style.color);
  const [one, other] = [light(colour), light(behind(element))];
  const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
  found.push([Math.round(ratio * 100) / 100, texts.currentNode.data.trim().slice(0, 40)]);
}
return {texts: found, page: light(behind(document.body))};
"""


async def test_every_text_is_readable_in_the_light_and_in_the_dark(
    world: World, window: Browser
) -> None:
    async with opened(world, window) as base, asking(world, MUST_ASK) as host:
        await fill(host)
        for scheme in ("light", "dark"):
            await window.scheme(scheme)
            for page in (*PAGES, "nowhere"):
                await window.open(f"{base}/{page}")
                found = await window.evaluate(_CONTRASTS)
                assert (found["page"] > 0.5) == (scheme == "light")
                assert len(found["texts"]) > (1 if page == "nowhere" else 20)
                faint = [(ratio, text) for ratio, text in found["texts"] if ratio < 4.5]
                assert faint == [], (scheme, page)
        await window.complaints()  # the page that is not there


# How many lines the words of each tool's name take: one, where a name breaks between its words.
_WORD_LINES = """
const lines = (text) => {
  const range = document.createRange();
  range.selectNodeContents(text);
  return range.getClientRects().length;
};
return [...document.querySelectorAll("td.tool a")]
  .flatMap((name) => [...name.childNodes].filter((node) => node.data).map(lines));
"""


async def test_every_page_fits_its_window_and_breaks_no_name_inside_a_word(
    world: World, window: Browser
) -> None:
    async with opened(world, window) as base, asking(world, MUST_ASK) as host:
        await fill(host)
        await host.check(deleting(f"/srv/{'long' * 60}"))
        long = reading("/srv/a").tool
        long = msgspec.structs.replace(
            long, server="github-enterprise", name="list_all_repositories"
        )
        await host.check(reading("/srv/a", tool=long))
        for width in (360, 768, 1024, 1280):
            await window.width(width)
            for page in PAGES:
                await window.open(f"{base}/{page}")
                over = "return document.documentElement.scrollWidth - innerWidth"
                assert await window.evaluate(over) <= 0, (width, page)
                if page == "verdicts":
                    words = await window.evaluate(_WORD_LINES)
                    assert set(words) == {1}, (width, words)
                    assert len(words) > 2 * await window.evaluate(
                        "return document.querySelectorAll('td.tool').length"
                    )


async def fill(host: Host) -> None:
    """Something for every page: a pass with its outcome, a failure, a hold, an approval."""
    for path in ("/srv/a", "/srv/b"):
        proposal = reading(path)
        async with host.dispatch(await host.check(proposal), proposal):
            pass
    await host.check(deleting("/srv/a"))
    tool = msgspec.structs.replace(reading("/srv/a").tool, name="rename_file")
    await host.check(reading("/srv/a", tool=tool))


def evaluated(number: int, **changes: Any) -> Evaluated:
    at_ms = 1_780_000_000_000 + number
    fields: dict[str, Any] = {
        "scope": "s", "host": "a", "at_ms": at_ms, "evaluation_id": ulid_at_time(at_ms / 1000),
        "call_id": f"call-{number}", "kind": "tool", "proposal_hash": "0" * 64,
        "lease_id": "0" * 26, "generation": 1, "status": "held" if number % 4 == 0 else "passed",
        "effect": "mutation", "reversibility": "reversible", "server": "files",
        "tool": f"tool-{number}", "fingerprint": "0" * 64, "resource_keys": (), "cited": (),
        "reasons": (), "failure_mode": "none", "failure_probability": 0.1, "material": False,
        "mitigated": False, "expected_receipt_kind": None, "expected_receipt_digest": None,
        "expires_at": at_ms, "commitment": "0" * 64,
    }  # fmt: skip
    return Evaluated(**fields | changes)


async def seed(world: World, *events: Evaluated) -> None:
    """The ledger has these evaluations before the sidecar starts."""

    def work(tx: Transaction) -> None:
        for event in events:
            evaluations.apply_evaluated(tx, event)

    async with open_writer(ledger_config(world.ledger)) as writer:
        await writer.run(work)


# Every task of a page that takes longer than 50 ms, from its first on. Source: W3C Long Tasks.
_WATCH_TASKS = """
window.tasks = [];
new PerformanceObserver((list) => window.tasks.push(...list.getEntries()))
  .observe({type: "longtask", buffered: true});
"""
# What a reader would call frozen. Ten times what is measured (docs/ops/dashboard.md), since the
# machine that runs the tests does more than this.
FROZEN_MS = 1_000
PAGE_ROWS = 100


async def longest_task_ms(window: Browser) -> float:
    """Of the page that is open; 0 where none was long."""
    return float(
        await window.evaluate("return Math.max(0, ...window.tasks.map((task) => task.duration))")
    )


async def pages_through(window: Browser, address: str) -> list[str]:
    """The tools of every row, page by page; each page is small, and usable at once."""
    await window.open(address)
    seen: list[str] = []
    while True:
        page = await window.evaluate("""
            return {
              tools: [...document.querySelectorAll("td.tool")].map((cell) => cell.textContent),
              elements: document.querySelectorAll("*").length,
              next: document.querySelector("[rel=next]")?.href ?? null,
            };
        """)
        assert len(page["tools"]) <= PAGE_ROWS
        assert page["elements"] < 40 * PAGE_ROWS
        assert await longest_task_ms(window) < FROZEN_MS
        seen += page["tools"]
        if page["next"] is None:
            return seen
        await window.evaluate("document.querySelector('[rel=next]').click()")
        await window.until(
            f"location.href === '{page['next']}' && document.readyState === 'complete'"
        )


async def test_ten_thousand_verdicts_are_paged_and_chosen_without_freezing(
    world: World, window: Browser
) -> None:
    async with world.sidecar():
        pass  # the ledger is made
    await seed(world, *(evaluated(number) for number in range(10_000)))
    async with opened(world, window) as base, window.before_pages(_WATCH_TASKS):
        every = await pages_through(window, f"{base}/verdicts")
        assert every == [f"files/tool-{number}" for number in range(9_999, -1, -1)]
        held = await pages_through(window, f"{base}/verdicts?status=held")
        assert held == [tool for tool in every if int(tool.rpartition("-")[2]) % 4 == 0]
        assert await pages_through(window, f"{base}/verdicts?status=degraded") == []


async def test_overview_of_ten_thousand_stays_usable_while_verdicts_come(
    world: World, window: Browser
) -> None:
    async with world.sidecar():
        pass
    await seed(world, *(evaluated(number) for number in range(10_000)))
    async with (
        opened(world, window) as base,
        window.before_pages(_WATCH_TASKS),
        asking(world) as host,
    ):
        await window.open(f"{base}/")
        await window.sees("7,500")
        await window.sees("live")
        listed = "return document.querySelectorAll('#live-list tr').length"
        before = await window.evaluate(listed)
        for _ in range(BURST):
            await host.check(reading("/srv/a"))

        async def counts_all() -> bool:
            figure = "return document.querySelector('[data-counts=passed]').textContent"
            found = await rows(world.ledger, "SELECT 1 FROM evaluations WHERE status = 'passed'")
            return len(found) > 7_500 and await window.evaluate(figure) == f"{len(found):,}"

        await until(counts_all)
        assert await window.evaluate(listed) == before  # rows are written over, none is added
        assert await longest_task_ms(window) < FROZEN_MS
        await window.keys("2")
        await window.sees("100 verdicts, newest first")


async def test_hostile_names_are_shown_as_text_and_do_nothing(
    world: World, window: Browser
) -> None:
    async with world.sidecar():
        pass
    names = {"host": f"h{HOSTILE}", "tool": f"t{HOSTILE}", "reasons": (f"r{HOSTILE}",)}
    await seed(world, evaluated(1, **names))
    async with opened(world, window) as base, asking(world, MUST_ASK) as host:
        await window.sees(f"t{HOSTILE}")
        tool = msgspec.structs.replace(reading("/a").tool, name=f"live{HOSTILE}")
        came = await evaluation_id(host, reading("/a", tool=tool))
        await window.until(f"document.querySelector('[data-id=\"{came}\"]')")
        await window.sees(f"live{HOSTILE}")
        await host.check(deleting(f"/srv/{HOSTILE}", goal=f"goal{HOSTILE}"))
        renamed = msgspec.structs.replace(tool, name="rename_file")
        asked = await host.check(reading(f"/srv/{HOSTILE}", tool=renamed))
        shown = {
            "": (f"t{HOSTILE}", f"live{HOSTILE}", f"h{HOSTILE}", f"r{HOSTILE}"),
            "verdicts": (f"t{HOSTILE}", f"s/h{HOSTILE}", f"r{HOSTILE}"),
            f"verdicts/{came}": (f"live{HOSTILE}",),
            "holds": (f"path /srv/{HOSTILE}",),
            f"approvals/{asked.approval_id}": (f"/srv/{HOSTILE}",),
        }
        for page, texts in shown.items():
            await window.open(f"{base}/{page}")
            for text in texts:
                await window.sees(text)
            foreign = "return document.querySelectorAll('img, script:not([src])').length"
            assert await window.evaluate(foreign) == 0
            assert "owned" not in await window.evaluate("return document.title")


class Stranger:
    """A page on another port of this machine, and what a browser shows to it."""

    def __init__(self) -> None:
        self.body = ""
        self.cookies: list[str | None] = []

    def handler(self) -> type[http.server.BaseHTTPRequestHandler]:
        stranger = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                stranger.cookies.append(self.headers.get("Cookie"))
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write(stranger.body.encode())

            def log_message(self, *_: Any) -> None:
                pass

        return Handler


@pytest.fixture
def stranger() -> Iterator[tuple[str, Stranger]]:
    page = Stranger()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), page.handler())
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/", page
    server.shutdown()
    thread.join()
    server.server_close()


async def test_page_on_another_port_sees_no_cookie_and_stops_nothing(
    world: World, window: Browser, stranger: tuple[str, Stranger]
) -> None:
    address, page = stranger
    async with opened(world, window) as base:
        await window.open(f"{base}/stop")
        token = await window.evaluate("return document.querySelector('[name=form_token]').value")
        page.body = (
            f'<form method="post" action="{base}/stop"><input name="form_token" value="{token}">'
            f'<button>Go</button></form><a href="{base}/">Look</a>'
        )
        for step in ("button", "a"):
            await window.open(address)
            await window.evaluate(f"document.querySelector('{step}').click()")
            await window.sees("Not shown")
        assert page.cookies
        assert not any(page.cookies)
        assert await rows(world.ledger, "SELECT * FROM stops") == []
        await window.open(f"{base}/")
        await window.sees("Verdicts, live")
        await window.complaints()  # what was refused


async def test_wrong_link_opens_nothing(world: World, window: Browser) -> None:
    await window.as_new()
    async with world.sidecar(), dashboard(world) as link:
        await window.open(link[:-3])
        await window.sees("This link is not of this dashboard.")
        await window.open(f"{link.partition('/enter')[0]}/")
        await window.sees("Open the link that the command printed.")


async def refused(port: int) -> bool | None:
    try:
        await (await anyio.connect_tcp("127.0.0.1", port)).aclose()
    except OSError:
        return True
    return None


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
async def test_up_starts_it_beside_the_sidecar_and_it_ends_with_that(
    world: World, window: Browser, number: signal.Signals
) -> None:
    await window.as_new()
    async with world.open_sidecar(PMCL_DASHBOARD="on") as running:
        with anyio.fail_after(READY_S):
            line = await running.line()
        assert line is not None, running.errors
        await window.open(msgspec.json.decode(line)["dashboard"])
        await window.sees("Verdicts, live")
        port = urlsplit(await window.address()).port
        assert port is not None
        running.send(number)
        await running.ends()
        await until(lambda: refused(port))
