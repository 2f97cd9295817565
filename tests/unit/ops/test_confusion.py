from pathlib import Path
from typing import Any

import msgspec
import pytest

from pmcl.ops.confusion import count_effects, show_confusion
from pmcl.ops.settings import Settings

pytestmark = pytest.mark.anyio


def _step(tool: str, effect: str) -> dict[str, Any]:
    return {"tool": tool, "args": {}, "label": "benign", "effect": effect}


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    steps = [
        _step("get_note", "read"),
        _step("get_note", "read"),
        _step("sum_up", "generic"),
        _step("send_note", "communication"),
        _step("store_note", "communication"),
    ]
    trace = {"id": "t", "suite": "notes", "prompt": "p", "steps": steps}
    path = tmp_path / "traces.jsonl"
    path.write_bytes(msgspec.json.encode(trace))
    return path


async def test_effects_are_counted_beside_labels(
    tmp_path: Path, recorded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = await count_effects(Settings(state_dir=tmp_path), [recorded])
    assert report["labels"] == {
        "communication": {"communication": 1, "mutation": 1},
        "generic": {"execution": 1},
        "read": {"inspect_local": 2},
    }
    found = [(other["tool"], other["label"], other["effect"]) for other in report["others"]]
    assert sorted(found) == [
        ("store_note", "communication", "mutation"),
        ("sum_up", "generic", "execution"),
    ]
    show_confusion(report)
    assert "communication as mutation: notes/store_note  name.verb" in capsys.readouterr().out


async def test_operators_rules_count(tmp_path: Path, recorded: Path) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text('[tools."notes/sum_up"]\neffect = "inspect_local"\n')
    report = await count_effects(Settings(state_dir=tmp_path, rules=rules), [recorded])
    assert report["labels"]["generic"] == {"inspect_local": 1}
