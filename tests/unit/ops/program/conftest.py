from typing import Any

import pytest

from pmcl.ops.recordings import RecordedStep, Recording
from pmcl.ops.replay import ReplayedCall


@pytest.fixture
def make_call() -> Any:
    """A call of a trace: benign, external and passed unless said otherwise."""

    def make(trace: int = 0, effect: str = "mutation", **changes: Any) -> ReplayedCall:
        label = changes.pop("label", "benign")
        attack = changes.pop("attack", None)
        step = RecordedStep(tool="t", args={}, label=label, effect=effect)
        goal = [step, *changes.pop("beside", [])]
        recording = Recording(
            id=str(trace), suite="s", prompt="p", steps=goal, injection_task=attack, attack=attack
        )
        held = changes.get("status") == "held"
        fields: dict[str, Any] = {
            "file": "f",
            "trace": trace,
            "recording": recording,
            "step": step,
            "status": "passed",
            "check_ms": 1.0,
            "dispatch_ms": None if held else 2.0,
            "revised": None,
        }
        return ReplayedCall(**fields | changes)

    return make
