"""Alerts and dashboard ask for metrics that there are, and every alert has its page."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.promql import (
    expressions,
    labels_of,
    name_of,
    panels,
    parsed,
    ranges,
    rules,
    selectors,
)

OPS = Path(__file__).parents[2] / "docs/ops"
ALERTS = OPS / "alerts.yml"
DASHBOARD = OPS / "grafana.json"
UNITS = {"_seconds": "s", "_bytes": "bytes"}
PROMTOOL = shutil.which("promtool")

# What makes each alert fire, from the first minute on.
FIRES = {
    "PmclDown": ['up{job="pmcl"} 0x90'],
    "PmclPartNotWorking": ['pmcl_ready{part="relay"} 0x90'],
    "PmclCommitsFail": ["pmcl_commit_failures_total 0+1x90"],
    "PmclDiskFills": ['pmcl_disk_free_bytes{place="streams"} 1000000x90'],
    "PmclRelayBehind": ["pmcl_relay_waiting_seconds 61x90"],
    "PmclIntakeBehind": [
        'pmcl_stream_bytes{stream="INTAKE"} 91x90',
        'pmcl_stream_max_bytes{stream="INTAKE"} 100x90',
    ],
    "PmclVerdictsUnanswered": ['pmcl_requests_total{kind="checkpoint",answer="late"} 0+1x90'],
    "PmclDefects": ['pmcl_defects_total{kind="checkpoint"} 0+1x90'],
    "PmclBusy": ['pmcl_requests_total{kind="checkpoint",answer="busy"} 0+1x90'],
    "PmclVerdictsSlow": [
        'pmcl_request_seconds_bucket{kind="checkpoint",le="0.5"} 0x90',
        'pmcl_request_seconds_bucket{kind="checkpoint",le="1.0"} 0+9x90',
        'pmcl_request_seconds_bucket{kind="checkpoint",le="+Inf"} 0+9x90',
    ],
    "PmclDeadLetters": ['pmcl_dead_letters{worker="observe"} 1x90'],
    "PmclLogRepaired": ["pmcl_log_repairs_total 0+0.1x90"],
    "PmclReconnectsOften": ['pmcl_reconnects_total{identity="relay"} 0+1x90'],
    "PmclWriteAheadLogGrows": ['pmcl_ledger_bytes{file="wal"} 300000000x90'],
    "PmclOutcomesParked": ["pmcl_parked_outcomes 1x90"],
    "PmclErasureUnfinished": ["pmcl_open_erasures 1x90"],
    "PmclApprovalsWait": ["pmcl_pending_approvals 1x90"],
    "PmclStopped": ["pmcl_stopped 1x90"],
}

WELL = [
    'up{job="pmcl"} 1x90',
    'pmcl_ready{part="relay"} 1x90',
    "pmcl_commit_failures_total 3x90",
    'pmcl_disk_free_bytes{place="ledger"} 9000000000x90',
    "pmcl_relay_waiting_seconds 1x90",
    'pmcl_intake_pending_messages{consumer="observe"} 20x90',
    'pmcl_stream_bytes{stream="INTAKE"} 75x90',
    'pmcl_stream_max_bytes{stream="INTAKE"} 100x90',
    'pmcl_stream_bytes{stream="LOG"} 75x90',
    'pmcl_stream_max_bytes{stream="LOG"} -1x90',
    'pmcl_requests_total{kind="checkpoint",answer="answered"} 0+9x90',
    'pmcl_requests_total{kind="checkpoint",answer="late"} 3x90',
    'pmcl_defects_total{kind="checkpoint"} 3x90',
    'pmcl_requests_total{kind="checkpoint",answer="busy"} 3x90',
    'pmcl_request_seconds_bucket{kind="checkpoint",le="0.5"} 0+9x90',
    'pmcl_request_seconds_bucket{kind="checkpoint",le="+Inf"} 0+9x90',
    'pmcl_dead_letters{worker="observe"} 0x90',
    "pmcl_log_repairs_total 1x90",
    'pmcl_reconnects_total{identity="relay"} 3x90',
    'pmcl_ledger_bytes{file="wal"} 17000000x90',
    "pmcl_parked_outcomes 0x90",
    "pmcl_open_erasures 0x90",
    "pmcl_pending_approvals 0x90",
    "pmcl_stopped 0x90",
]


class Metric(msgspec.Struct, frozen=True):
    """A series as it is documented; the endpoint is held to the same table."""

    kind: str
    labels: set[str]


def metrics() -> dict[str, Metric]:
    """Every documented series by its name; of a histogram, its parts."""
    table = re.findall(
        r"^\| `(pmcl_\w+)` \| (\w+) \|([^|]*)\|", (OPS / "signals.md").read_text(), re.M
    )
    known = {"process_resident_memory_bytes": Metric("gauge", {"instance"})}
    known["up"] = Metric("gauge", {"instance", "job"})
    for name, kind, told in table:
        labels = set(re.findall(r"`(\w+)`", told)) | {"instance"}
        known[name] = Metric(kind, labels)
        if kind == "histogram":
            known[f"{name}_bucket"] = Metric("counter", labels | {"le"})
            known |= {f"{name}_{part}": Metric("counter", labels) for part in ("sum", "count")}
    return known


def labels(expression: str) -> set[str]:
    """The labels that are left in what an expression returns."""
    known = {name: metric.labels for name, metric in metrics().items()}
    return labels_of(parsed(expression), known)


def test_every_metric_and_label_that_is_asked_for_is_there() -> None:
    known = metrics()
    asked = set()
    for expression in expressions():
        for selector in selectors(parsed(expression)):
            name = name_of(selector)
            asked.add(name)
            given = {matcher.name for matcher in selector.matchers.matchers}
            assert given <= known[name].labels, expression
    parts = {re.sub("_(bucket|sum|count)$", "", name) for name in asked}
    unseen = known.keys() - asked - {f"{n}{s}" for n in parts for s in ("", "_sum", "_count")}
    assert not unseen, f"neither drawn nor alerted on: {unseen}"


@pytest.mark.parametrize("expression", sorted(set(expressions())))
def test_what_only_grows_is_asked_for_by_its_growth(expression: str) -> None:
    over_time = ranges(parsed(expression))
    kinds = metrics()
    for selector in selectors(parsed(expression)):
        name = name_of(selector)
        assert (kinds[name].kind == "counter") == (name in over_time), name


def test_words_of_alerts_and_legends_name_labels_that_are_left() -> None:
    for rule in rules():
        named = set(re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"]))
        assert named <= labels(rule["expr"]), rule["alert"]
    for panel in panels():
        for target in panel["targets"]:
            named = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))
            left = labels(target["expr"])
            assert named <= left, panel["title"]
            # Else two lines of one sidecar have the same name.
            assert left - named - {"instance", "python"} <= set(_matched(target["expr"])), (
                panel["title"],
                left,
            )


def _matched(expression: str) -> Iterator[str]:
    for selector in selectors(parsed(expression)):
        yield from (each.name for each in selector.matchers.matchers)


@pytest.mark.parametrize("panel", panels(), ids=lambda panel: panel["title"])
def test_unit_of_a_panel_is_that_of_its_metrics(panel: dict[str, Any]) -> None:
    for target in panel["targets"]:
        [name] = {name_of(selector) for selector in selectors(parsed(target["expr"]))}
        bare = name.removesuffix("_bucket").removesuffix("_total")
        fit = {unit for ending, unit in UNITS.items() if bare.endswith(ending)}
        if not fit:
            fit = {"reqps", "ops", "short"} if "rate(" in target["expr"] else {"short"}
        assert panel["fieldConfig"]["defaults"]["unit"] in fit, name


def test_every_alert_is_whole_and_has_its_page() -> None:
    runbook = (OPS / "runbook.md").read_text()
    pages = set(re.findall(r"^### (Pmcl\w+)$", runbook, re.M))
    assert pages == {rule["alert"] for rule in rules()} == FIRES.keys()
    for rule in rules():
        assert rule.keys() <= {"alert", "expr", "for", "labels", "annotations"}
        assert rule["labels"]["severity"] in ("page", "ticket")
        assert rule["annotations"]["summary"].endswith(".")
        assert rule["annotations"]["runbook_url"] == f"runbook.md#{rule['alert'].lower()}"
    for anchor in re.findall(r"\]\(#(pmcl\w+)\)", runbook):
        assert anchor in {page.lower() for page in pages}


def test_panels_stand_beside_each_other() -> None:
    read = msgspec.json.decode(DASHBOARD.read_bytes(), type=dict[str, Any])
    taken = set()
    for panel in read["panels"]:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        for x in range(place["x"], place["x"] + place["w"]):
            for y in range(place["y"], place["y"] + place["h"]):
                assert (x, y) not in taken, panel["title"]
                taken.add((x, y))
    ids = [panel["id"] for panel in read["panels"]]
    assert len(ids) == len(set(ids))
    assert all(panel["datasource"]["uid"] == "${datasource}" for panel in panels())


@pytest.mark.skipif(PROMTOOL is None, reason="promtool is not installed")
def test_rules_are_prometheus_own() -> None:
    assert PROMTOOL is not None
    command = [PROMTOOL, "check", "rules", str(ALERTS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(PROMTOOL is None, reason="promtool is not installed")
@pytest.mark.parametrize("alert", FIRES)
def test_alert_fires(alert: str, tmp_path: Path) -> None:
    firing = f'count(ALERTS{{alertname="{alert}",alertstate="firing"}})'
    evaluate(FIRES[alert], firing, [{"labels": "{}", "value": 1}], tmp_path)


@pytest.mark.skipif(PROMTOOL is None, reason="promtool is not installed")
def test_no_alert_fires_where_all_is_well(tmp_path: Path) -> None:
    evaluate(WELL, "count(ALERTS)", [], tmp_path)


def evaluate(lines: list[str], expr: str, samples: list[dict[str, Any]], folder: Path) -> None:
    """Let Prometheus' own evaluation of the rules over these series say so, after 85 minutes."""
    assert PROMTOOL is not None
    told = [dict(zip(("series", "values"), line.rsplit(" ", 1), strict=True)) for line in lines]
    expected = [{"expr": expr, "eval_time": "85m", "exp_samples": samples}]
    test = {"interval": "1m", "input_series": told, "promql_expr_test": expected}
    file = folder / "test.yml"
    file.write_bytes(msgspec.yaml.encode({"rule_files": [str(ALERTS)], "tests": [test]}))
    command = [PROMTOOL, "test", "rules", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
