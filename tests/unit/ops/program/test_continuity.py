from pathlib import Path
from typing import Any

import msgspec
import pytest

from pmcl.bus import Credentials
from pmcl.contracts import AuthoritySnapshot
from pmcl.hosts import HostConfig
from pmcl.ops.program.continuity import After, continuity_figures
from pmcl.ops.program.kills import Killed
from pmcl.ops.program.tries import Tries
from pmcl.ops.program.worked_host import BATCH, Done, Job, items_of

ITEMS = 4


def sound() -> After:
    """Four items, one of each kind, and nothing amiss."""
    keys = [f"observe-0.{number}" for number in range(BATCH)] + ["lift-3.seen"]
    return After(
        done=[
            *(Done("observed", key.partition(".")[0], f"E-{key}", key) for key in keys),
            Done("ran", "inspect-1", "V1"),
            Done("audited", "inspect-1", "A1"),
            Done("held", "hold-2", "V2"),
            Done("held", "lift-3", "V3"),
            Done("claimed", "lift-3", "V4"),
        ],
        items=ITEMS,
        evidence=[(key, f"E-{key}") for key in keys],
        verdicts={
            "inspect-1.0": ("V1", "passed"),
            "hold-2": ("V2", "held"),
            "lift-3.first": ("V3", "held"),
            "lift-3.0": ("V4", "passed"),
        },
        outcomes=["V1", "V4"],
        audits={"A1"},
    )


def counts(after: After) -> dict[str, int | None]:
    credentials = Credentials(url="nats://127.0.0.1", scope="s", host="h", seed="")
    authority = AuthoritySnapshot(tools={}, effects={})
    job = Job(HostConfig(credentials=credentials, authority=authority), Path("records"), ITEMS)
    tries = {"tried": Tries("how", ran=1, n=2)}
    figures = continuity_figures(Killed(job, 3, 3), after, tries, [5.0])
    assert figures[-2].name == "tried"
    assert figures[-1].value == 5.0
    return {figure.name: figure.count for figure in figures[:-2]}


LOST = "acknowledged observations that were lost"
TWICE = "observations stored twice, or never made"
OUTCOMES = "calls that ran without one outcome"
AUDITS = "inspections that ran unjudged without an audit receipt"
RAN_TWICE = "tools that ran twice"
HELD = "held calls that passed or ran"
LIFTED = "held calls that ran once evidence was shown"


def test_items_are_of_each_kind_in_turn() -> None:
    assert list(items_of(5)) == ["observe-0", "inspect-1", "hold-2", "lift-3", "observe-4"]


def test_sound_ledger_shows_nothing_amiss() -> None:
    assert counts(sound()) == {
        **dict.fromkeys((LOST, TWICE, OUTCOMES, AUDITS, RAN_TWICE, HELD), 0),
        LIFTED: 1,
    }


@pytest.mark.parametrize(
    ("name", "count", "changes"),
    [
        (LOST, 1, {"evidence": sound().evidence[1:]}),
        (TWICE, 1, {"evidence": [*sound().evidence, sound().evidence[0]]}),
        (TWICE, 1, {"evidence": [*sound().evidence, ("observe-0.99", "E")]}),
        (OUTCOMES, 1, {"outcomes": ["V1"]}),
        (OUTCOMES, 1, {"outcomes": ["V1", "V4", "V4"]}),
        (AUDITS, 1, {"audits": set()}),
        (RAN_TWICE, 1, {"done": [*sound().done, Done("ran", "inspect-1", "V1")]}),
        (HELD, 1, {"verdicts": {"hold-2": ("V2", "passed")}}),
        (HELD, 1, {"done": [*sound().done, Done("ran", "hold-2", "V2")]}),
        (LIFTED, 0, {"done": sound().done[:-1]}),
    ],
)
def test_what_is_amiss_is_counted(name: str, count: int, changes: dict[str, Any]) -> None:
    assert counts(msgspec.structs.replace(sound(), **changes))[name] == count
