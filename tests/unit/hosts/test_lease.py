"""The keeper against a connection that says what the test wants."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pmcl.bus import Credentials
from pmcl.contracts import (
    AuthoritySnapshot,
    HostError,
    LeaseEndedError,
    LeaseNotFoundError,
    StaleGenerationError,
)
from pmcl.hosts import HostConfig, KeyRefusedError
from pmcl.hosts.lease import LeaseKeeper, _Held
from pmcl.hosts.proposal import Binding


class Silent:
    """Never connected."""

    ready = False
    refused = False

    def on_ready(self, callback: Callable[[], None]) -> None:
        pass

    def on_refused(self, callback: Callable[[], None]) -> None:
        pass


def binding(generation: int) -> Binding:
    return Binding(scope="s", host="h", lease_id="L" * 26, generation=generation, salt="")


def keeper_of(tmp_path: Path, now: list[float], monkeypatch: pytest.MonkeyPatch) -> LeaseKeeper:
    monkeypatch.setattr("pmcl.hosts.lease.now_s", lambda: now[0])
    config = HostConfig(
        credentials=Credentials(url="", scope="s", host="h", seed=""),
        authority=AuthoritySnapshot(tools={}, effects={}),
        state_dir=tmp_path,
    )
    connection: Any = Silent()
    keeper = LeaseKeeper(connection, config, lambda: ("E" * 26, 0), lambda _: None)
    keeper._held = _Held(binding=binding(1), ends_s=10.0, heartbeat_s=1.0, confirmed_s=0.0)
    return keeper


def test_lease_is_over_at_its_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [9.9]
    keeper = keeper_of(tmp_path, now, monkeypatch)
    assert keeper.binding == binding(1)
    now[0] = 10.0
    assert keeper.binding is None


def test_fenced_while_alive_is_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keeper = keeper_of(tmp_path, [5.0], monkeypatch)
    keeper.told(StaleGenerationError("$", 1, 2), binding(1))
    with pytest.raises(StaleGenerationError):
        _ = keeper.binding


def test_no_lease_is_used_while_the_key_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keeper = keeper_of(tmp_path, [5.0], monkeypatch)
    monkeypatch.setattr(Silent, "refused", True)
    with pytest.raises(KeyRefusedError, match="key of s/h"):
        _ = keeper.binding
    monkeypatch.setattr(Silent, "refused", False)
    assert keeper.binding == binding(1)


@pytest.mark.parametrize(
    ("error", "now_s"),
    [
        (StaleGenerationError("$", 1, 2), 11.0),
        (LeaseEndedError("$", "", ""), 5.0),
        (LeaseNotFoundError("$", "", ""), 5.0),
    ],
)
def test_lease_that_ran_out_may_be_begun_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Any, now_s: float
) -> None:
    keeper = keeper_of(tmp_path, [now_s], monkeypatch)
    keeper.told(error, binding(1))
    assert keeper.binding is None


def test_word_about_another_lease_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keeper = keeper_of(tmp_path, [5.0], monkeypatch)
    keeper.told(StaleGenerationError("$", 0, 1), binding(0))
    keeper.told(HostError("x"), binding(1))
    assert keeper.binding == binding(1)


def test_a_word_is_as_old_as_its_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keeper = keeper_of(tmp_path, [5.0], monkeypatch)
    assert keeper.word_age_s(binding(1)) == 5.0
    keeper.confirmed(binding(1), 4.0)
    keeper.confirmed(binding(1), 3.0)
    assert keeper.word_age_s(binding(1)) == 1.0


def test_there_is_no_word_about_another_lease_or_one_that_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keeper = keeper_of(tmp_path, [5.0], monkeypatch)
    keeper.confirmed(binding(2), 5.0)
    assert keeper.word_age_s(binding(1)) == 5.0
    assert keeper.word_age_s(binding(2)) == float("inf")
    keeper.told(LeaseEndedError("$", "", ""), binding(1))
    assert keeper.word_age_s(binding(1)) == float("inf")
