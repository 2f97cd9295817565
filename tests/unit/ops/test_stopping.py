"""What a stop did is told in a sentence."""

import pytest

from pmcl.contracts import StopState
from pmcl.ops.console import console
from pmcl.ops.stopping import show_stopped


@pytest.mark.parametrize(
    ("leases", "told"), [(0, "0 leases ended."), (1, "1 lease ended."), (2, "2 leases ended.")]
)
def test_a_stop_counts_what_it_ended(leases: int, told: str) -> None:
    state = StopState(stopped=True, changed=True, since=0, by="operator/ann", leases=leases)
    with console.capture() as printed:
        show_stopped(state)
    assert f"by operator/ann: {told}" in printed.get()
    assert "until `pmcl resume`" in printed.get()
