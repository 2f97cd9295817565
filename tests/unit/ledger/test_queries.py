"""Every query of the ledger finds its rows by an index, in order, however large it gets.

`tests/unit/store/test_query_plans.py` looks at all packages, and does not name what is scanned.
"""

import re
from pathlib import Path

import pytest

import pmcl.ledger
from pmcl.store import load_queries
from tests.unit.workers.desk import Ledger

pytestmark = pytest.mark.anyio

_MODULES = sorted(path.stem for path in Path(pmcl.ledger.__file__).parent.glob("*.sql"))
_QUERIES = [
    (module, name) for module in _MODULES for name in load_queries("pmcl.ledger", module).texts
]
_parameter = re.compile(r":([a-z_]+)")

# Parked outcomes are few and each is looked at: the evaluation is found by its key. The ids that
# are put into one row were found by an index, and so were the newest runs and texts of which
# lessons look at a few. An audit and a rebuild look at all payloads, an operator at the newest
# backups and erasures. Ids that were given are gone through. The index of words goes from a word's
# newest text to its older ones, as far as it is read.
_SCANS = {
    ("backups", "newest"): ["SCAN backups"],
    ("erasures", "counts"): ["SCAN CONSTANT ROW"],
    ("erasures", "gone"): ["SCAN asked VIRTUAL TABLE INDEX 1:"],
    ("erasures", "keys_of"): ["SCAN named VIRTUAL TABLE INDEX 1:"],
    ("erasures", "naming"): ["SCAN named VIRTUAL TABLE INDEX 1:"],
    ("erasures", "newest"): ["SCAN erasures"],
    ("erasures", "standing"): ["SCAN named VIRTUAL TABLE INDEX 1:"],
    ("evaluations", "pending"): ["SCAN (subquery-1)"],
    ("lessons", "cited"): ["SCAN r", "SCAN named VIRTUAL TABLE INDEX 1:"],
    ("lessons", "free_evidence"): ["SCAN p"],
    ("lessons", "unsupported_runs"): ["SCAN (subquery-1)", "SCAN (subquery-3)"],
    ("evidence", "supports"): ["SCAN named VIRTUAL TABLE INDEX 1:"],
    ("items", "contradict"): ["SCAN other VIRTUAL TABLE INDEX 1:"],
    ("recalling", "holding"): ["SCAN payload_words VIRTUAL TABLE INDEX 192:M1"],
    ("recalling", "numbered"): ["SCAN wanted VIRTUAL TABLE INDEX 1:"],
    ("outcomes", "count"): ["SCAN CONSTANT ROW"],
    ("outcomes", "linkable"): ["SCAN p"],
    ("payloads", "lacking"): ["SCAN CONSTANT ROW", *["SCAN e"] * 2, "SCAN i", "SCAN r", "SCAN i"],
    ("payloads", "found"): ["SCAN w VIRTUAL TABLE INDEX 1:"],
    ("resting", "rest"): ["SCAN named VIRTUAL TABLE INDEX 1:"],
}


@pytest.mark.parametrize(("module", "name"), _QUERIES)
async def test_no_query_scans_a_table(ledger: Ledger, module: str, name: str) -> None:
    text = load_queries("pmcl.ledger", module).texts[name]
    parameters = dict.fromkeys(_parameter.findall(text))
    plan = await ledger.rows(f"EXPLAIN QUERY PLAN {text}", **parameters)
    details = [row["detail"] for row in plan]
    scans = [detail for detail in details if detail.startswith("SCAN") and "USING" not in detail]
    assert scans == _SCANS.get((module, name), [])
    assert not [detail for detail in details if "TEMP B-TREE" in detail]
