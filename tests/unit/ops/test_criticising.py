from pathlib import Path
from typing import Literal

import pytest

from pmcl.ops.criticising import critic_wait_ms
from pmcl.ops.settings import Settings


@pytest.mark.parametrize(
    ("critic", "waits_ms"), [("off", 0), ("optional", 6000), ("required", 6000)]
)
def test_a_request_may_take_longer_by_twice_what_the_critic_may(
    critic: Literal["off", "optional", "required"], waits_ms: int
) -> None:
    settings = Settings(
        state_dir=Path("unused"),
        model_url="http://127.0.0.1:1/v1",
        critic=critic,
        critic_deadline_ms=3000,
    )
    assert critic_wait_ms(settings) == waits_ms
