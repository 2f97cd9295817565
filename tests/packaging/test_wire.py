"""docs/wire.md lists every event with its fields, and every verb with the schemas it takes."""

import re
from pathlib import Path

from pmcl.contracts import CHECKPOINT_VERBS, EVENTS, LEASE_VERBS, OPS_VERBS, schema_of
from pmcl.contracts.event import Event

DOCS = (Path(__file__).parents[2] / "docs/wire.md").read_text()


def rows(heading: str) -> list[list[str]]:
    """The names in each cell of the table below a heading."""
    section = DOCS.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| `")]
    return [line.strip("| ").split(" | ") for line in lines]


def test_every_event_is_listed_with_its_fields() -> None:
    listed = {name.strip("`"): re.findall(r"`(\w+)`", fields) for name, _, fields in rows("Events")}
    shared = Event.__struct_fields__
    assert listed == {
        schema_of(event).split("/")[1]: [
            field for field in event.__struct_fields__ if field not in shared
        ]
        for event in EVENTS
    }


def test_every_verb_is_listed() -> None:
    listed = [verb for cells in rows("Operators") for verb in re.findall(r"`(\w+)`", cells[0])]
    assert sorted(listed) == sorted(OPS_VERBS)
    speakers = {cells[0].strip("`") for cells in rows("Who speaks")}
    for kind, verbs in (("lease", LEASE_VERBS), ("checkpoint", CHECKPOINT_VERBS)):
        (subject,) = [each for each in speakers if each.startswith(f"{kind}.")]
        assert sorted(subject.rpartition(".")[2].strip("{}").split(",")) == sorted(verbs)
