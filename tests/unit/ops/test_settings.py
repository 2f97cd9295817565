from pathlib import Path

import pytest

from pmcl.contracts import limits
from pmcl.ops.settings import Settings, SettingsError, load_settings


def _load(tmp_path: Path, text: str = "", **environment: str) -> Settings:
    if text:
        (tmp_path / "pmcl.toml").write_text(text)
    return load_settings({"PMCL_STATE_DIR": str(tmp_path), **environment})


def test_defaults_are_the_documented_ones(tmp_path: Path) -> None:
    settings = _load(tmp_path)
    assert settings.state_dir == tmp_path
    assert settings.ledger_path == tmp_path / "ledger.sqlite"
    assert (settings.lease_ttl_ms, settings.heartbeat_ms) == (60_000, 20_000)
    assert (settings.queue_cell, settings.queue_host) == (256, 32)
    assert settings.lease_ttl_ms == limits.LEASE_TTL_MS


def test_the_command_line_beats_the_environment_and_that_beats_the_file(tmp_path: Path) -> None:
    (tmp_path / "pmcl.toml").write_text("queue_host = 1\nqueue_cell = 2\nstream_slots = 3\n")
    environment = {"PMCL_STATE_DIR": str(tmp_path), "PMCL_QUEUE_HOST": "4", "PMCL_QUEUE_CELL": "5"}
    settings = load_settings(environment, {"queue_host": 6, "log_level": None})
    assert (settings.queue_host, settings.queue_cell, settings.stream_slots) == (6, 5, 3)
    assert settings.log_level == "warning"


@pytest.mark.parametrize("value", ["", "~nobody-of-this-name/x"])
@pytest.mark.parametrize("name", ["state_dir", "rules"])
def test_a_path_that_leads_nowhere_is_named(tmp_path: Path, name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=f"{name} is '{value}', allowed: a f"):
        _load(tmp_path, **{f"PMCL_{name.upper()}": value})


def test_a_home_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "pmcl.toml").write_text("queue_host = 7\n")
    settings = load_settings({"PMCL_STATE_DIR": "~"})
    assert (settings.state_dir, settings.queue_host) == (tmp_path, 7)


def test_a_named_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "elsewhere.toml"
    path.write_text("queue_host = 7\n")
    assert _load(tmp_path, PMCL_CONFIG=str(path)).queue_host == 7


def test_a_named_file_must_be_there(tmp_path: Path) -> None:
    path = tmp_path / "nowhere.toml"
    with pytest.raises(SettingsError, match=r"nowhere\.toml"):
        _load(tmp_path, PMCL_CONFIG=str(path))


def test_a_file_that_is_no_toml_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"pmcl\.toml.*line 1"):
        _load(tmp_path, "queue_host = \n")


_WRONG = [
    ("queue_host", "0", "a whole number of at least 1"),
    ("queue_cell", "-3", "at least 1"),
    ("lease_ttl_ms", "soon", "a whole number"),
    ("heartbeat_ms", "60000", r"below lease_ttl_ms \(60000\)"),
    ("heartbeat_ms", "1.5", "a whole number"),
    ("stream_slots", "1001", "at most 1000"),
    ("critic", "required", "without model_url: off"),
    ("log_level", "loud", "debug, info, warning, error"),
]


@pytest.mark.parametrize(("name", "value", "limit"), _WRONG)
def test_a_wrong_value_is_named_with_its_limit(
    tmp_path: Path, name: str, value: str, limit: str
) -> None:
    with pytest.raises(SettingsError, match=limit) as refused:
        _load(tmp_path, **{f"PMCL_{name.upper()}": value})
    assert name in str(refused.value)
    assert value in str(refused.value)


def test_a_wrong_value_of_the_file_is_named_with_its_limit(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"queue_host is 0, allowed: .*at least 1"):
        _load(tmp_path, "queue_host = 0\n")
    with pytest.raises(
        SettingsError, match=r"queue_host is \['a'\], allowed: a whole number, not a list"
    ):
        _load(tmp_path, "queue_host = ['a']\n")


def test_an_unknown_setting_of_the_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="queue_hosts"):
        _load(tmp_path, "queue_hosts = 3\n")


@pytest.mark.parametrize("name", ["server_url", "server_monitor_url"])
def test_an_external_server_needs_both_addresses(tmp_path: Path, name: str) -> None:
    with pytest.raises(SettingsError, match="server_url and server_monitor_url"):
        _load(tmp_path, **{f"PMCL_{name.upper()}": "nats://127.0.0.1:4222"})
