"""What was done is what the endpoint tells, and no name that a host chose is in it."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families
from promql_parser import MatchOp, VectorSelector

from pmcl.bus import LOG
from pmcl.bus.jetstream import call
from pmcl.contracts import EVENTS
from pmcl.workers import Incoming, ObserveWorker, streams
from tests.integration.hosts.sidecar import until
from tests.integration.signals.conftest import House
from tests.promql import expressions, parsed, rules, selectors

pytestmark = pytest.mark.anyio

DOCS = Path(__file__).parents[3] / "docs/ops/signals.md"
EVENT_NAMES = {event.__struct_config__.tag.split("/")[1] for event in EVENTS}  # type: ignore[union-attr]
Series = dict[tuple[str, frozenset[tuple[str, str]]], float]


async def scraped(house: House) -> str:
    async with httpx.AsyncClient() as client:
        answer = await client.get(f"{house.cell.gateway_url}/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    return answer.text


def series(text: str) -> Series:
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


class Told:
    """One scrape, by name and labels."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._series = series(text)

    def __call__(self, name: str, /, **labels: str) -> float | None:
        return self._series.get((f"pmcl_{name}", frozenset(labels.items())))


async def told(house: House, holds: Callable[[Told], bool] = lambda _: True) -> Told:
    """The first scrape of which it holds."""

    async def found() -> Told | None:
        scrape = Told(await scraped(house))
        return scrape if holds(scrape) else None

    return await until(found)


async def test_verdicts_evidence_and_outcomes_are_counted(house: House) -> None:
    await house.wire.begin()
    read = await house.wire.check("read_file", "/a")
    assert (await house.wire.claim(read, "/a")).status == 201
    assert (await house.wire.outcome(read, "failed", failure_mode="gone")).status == 200
    held = await house.wire.check("delete_file", "/b", reversibility="irreversible")
    assert held["status"] == "held"
    seen = {"source": "ls", "summary": "a", "detail": "a"}
    assert (await house.wire.post("/v1/observations", seen)).status == 201
    names = ("outcome-linked", "evidence-recorded")
    after = await told(
        house, lambda scrape: all(scrape("events_total", name=name) == 1 for name in names)
    )
    assert after("verdicts_total", status="passed", effect="inspect_local") == 1
    assert after("verdicts_total", status="held", effect="mutation") == 1
    for reason in held["reasons"]:
        assert after("verdict_reasons_total", reason=reason.partition("@")[0]) == 1
    outcome = {"status": "failed", "reported_by": "host", "verified": "no"}
    assert after("outcomes_total", **outcome) == 1
    assert after("requests_total", kind="checkpoint", answer="answered") == 2
    assert after("request_seconds_count", kind="checkpoint") == 2
    assert after("requests_under_way") == 0
    assert after("live_leases") == 1
    assert after("open_holds") == 1
    assert after("open_evaluations") == 0
    settled = await told(house, lambda scrape: scrape("relay_waiting_rows") == 0)
    assert settled("journal_rows") == settled("stream_messages", stream="LOG")
    assert settled("relay_waiting_seconds") == 0
    assert settled("scrape_complete") == 1


async def test_no_name_of_a_host_is_told(house: House) -> None:
    """Labels come from fixed lists, so nobody who asks can make their number grow."""
    await house.wire.begin()
    for number in range(3):
        await house.wire.check(f"zq_tool_{number}", f"/zqpath{number}", goal="zqgoal")
    after = await told(house)
    assert "zq" not in after.text
    fixed = {
        "status": {"passed", "held", "degraded"},
        "name": EVENT_NAMES,
        "kind": {"checkpoint", "context", "lease", "ops"},
    }
    for name, labels in series(after.text):
        assert not {"scope", "host", "tool", "server"} & {label for label, _ in labels}, name
        for label, value in labels:
            assert label not in fixed or value in fixed[label], (name, label, value)


async def test_dead_letter_is_told_by_its_worker(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def poisoned(worker: ObserveWorker, incoming: Incoming) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr(ObserveWorker, "prepare", poisoned)
    monkeypatch.setattr(streams, "_RETRY_MS", 5)
    await house.wire.begin()
    before = await told(house)
    assert before("dead_letters", worker="observe") == 0
    assert before("refused_total", code="dead_lettered") == 0
    await house.wire.post("/v1/observations", {"source": "ls", "summary": "a"})
    # The letter is stored first, its number closed after that.
    after = await told(house, lambda scrape: scrape("refused_total", code="dead_lettered") == 1)
    assert after("dead_letters", worker="observe") == 1
    assert after("dead_letters", worker="outcome") == 0


async def test_row_that_waits_shows_its_age_and_a_repair_is_counted(house: House) -> None:
    async with house.cell.admin() as admin:
        await house.wire.begin()
        config = (await call(admin, f"STREAM.INFO.{LOG}"))["config"]
        await call(admin, f"STREAM.UPDATE.{LOG}", config | {"max_msgs": 1})
        await house.wire.post("/v1/turns", {"turn_id": "turn-1"})
        stuck = await told(house, lambda scrape: (scrape("relay_waiting_seconds") or 0) > 0.5)
        assert stuck("relay_waiting_rows") == 1
        assert stuck("log_repairs_total") == 0
        await call(admin, f"STREAM.DELETE.{LOG}")
        after = await told(house, lambda scrape: scrape("relay_waiting_rows") == 0)
        assert after("log_repairs_total") == 1
        assert after("stream_messages", stream="LOG") == after("journal_rows")


async def test_reconnects_are_counted_and_a_lost_server_is_told(house: House) -> None:
    assert (await told(house))("reconnects_total", identity="worker") == 0
    server = house.cell._server
    assert server is not None
    assert server.pid is not None
    process = await anyio.open_process(["kill", "-KILL", str(server.pid)])
    await process.wait()
    await told(house, lambda scrape: scrape("scrape_complete") == 0)
    again = await told(house, lambda scrape: scrape("scrape_complete") == 1)
    assert again("reconnects_total", identity="worker") == 1
    assert again("reconnects_total", identity="relay") == 1


async def test_table_of_the_docs_is_what_is_told(house: House) -> None:
    rows = re.findall(r"^\| `(pmcl_\w+)` \| (\w+) \|([^|]*)\|", DOCS.read_text(), re.M)
    documented = {name: (kind, set(re.findall(r"`(\w+)`", labels))) for name, kind, labels in rows}
    assert len(documented) == len(rows)
    await house.wire.begin()
    read = await house.wire.check("read_file", "/a")
    await house.wire.claim(read, "/a")
    await house.wire.outcome(read, "succeeded")
    await house.wire.check("delete_file", "/b", reversibility="irreversible")
    after = await told(house, lambda scrape: scrape("events_total", name="outcome-linked") == 1)
    found = {}
    for family in text_string_to_metric_families(after.text):
        if not family.name.startswith("pmcl_"):
            assert family.name.startswith("process_")
            continue
        name = f"{family.name}_total" if family.type == "counter" else family.name
        labels = {label for sample in family.samples for label in sample.labels} - {"le"}
        found[name] = (family.type, labels)
    assert found == documented


def wanted(selector: VectorSelector) -> list[dict[str, str]]:
    """The labels of each series that a selector names; what Prometheus adds is left out."""
    found: list[dict[str, str]] = [{}]
    for each in selector.matchers.matchers:
        if each.name not in ("instance", "job") and each.op in (MatchOp.Equal, MatchOp.Re):
            values = each.value.split("|") if each.op == MatchOp.Re else [each.value]
            found = [labels | {each.name: value} for labels in found for value in values]
    return found


async def test_series_that_an_alert_asks_for_are_told_before_anything_happened(
    house: House,
) -> None:
    there = series((await told(house, lambda scrape: scrape("scrape_complete") == 1)).text)
    alerts = {rule["expr"] for rule in rules()}
    for expression in expressions():
        for selector in selectors(parsed(expression)):
            named = wanted(selector)
            if selector.name == "up" or (named == [{}] and expression not in alerts):
                continue  # Prometheus' own; or drawn when it comes
            for labels in named:
                assert any(
                    name == selector.name and labels.items() <= set(given) for name, given in there
                ), (selector.name, labels)
