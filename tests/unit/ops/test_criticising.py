from pathlib import Path
from typing import Any

import pytest

from pmcl.ops.criticising import critic_use
from pmcl.ops.settings import Settings, SettingsError


def _settings(tmp_path: Path, **changes: Any) -> Settings:
    return Settings(state_dir=tmp_path, **{"model_url": "http://127.0.0.1:9/v1", **changes})


def test_no_critic_is_asked_unless_the_operator_says_so(tmp_path: Path) -> None:
    assert critic_use(_settings(tmp_path)) is None


@pytest.mark.parametrize("critic", ["optional", "required"])
def test_a_verdict_waits_for_the_critic_as_long_as_was_set(tmp_path: Path, critic: Any) -> None:
    use = critic_use(_settings(tmp_path, critic=critic, critic_deadline_ms=200))
    assert use is not None
    assert (use.required, use.within_ms) == (critic == "required", 400)


def test_a_critic_on_another_machine_is_refused(tmp_path: Path) -> None:
    settings = _settings(tmp_path, critic="optional", model_url="https://models.example.com/v1")
    with pytest.raises(SettingsError, match=r"critic is optional, allowed: .* this machine"):
        critic_use(settings)
