from pathlib import Path

import pytest

from pmcl.bus import ServerError, find_nats_server


def fake(path: Path, says: str) -> Path:
    path.write_text(f"#!/bin/sh\necho '{says}'\n")
    path.chmod(0o755)
    return path


def test_the_named_server_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named = fake(tmp_path / "mine", "nats-server: v3.0.0")
    monkeypatch.setenv("PMCL_NATS_SERVER", str(named))

    assert find_nats_server() == named


@pytest.mark.parametrize("says", ["nats-server: v2.15.0", "nats-server: v2.9.10", "hello", ""])
def test_an_old_server_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: str
) -> None:
    monkeypatch.setenv("PMCL_NATS_SERVER", str(fake(tmp_path / "old", says)))

    with pytest.raises(ServerError, match=r"2\.15\.1"):
        find_nats_server()


def test_a_server_that_is_not_there_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PMCL_NATS_SERVER", str(tmp_path / "missing"))

    with pytest.raises(ServerError, match="missing"):
        find_nats_server()


def test_the_one_on_path_is_the_last_resort(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_path = fake(tmp_path / "nats-server", "nats-server: v2.15.1")
    monkeypatch.delenv("PMCL_NATS_SERVER", raising=False)
    monkeypatch.setattr("sys.executable", str(tmp_path / "elsewhere" / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_nats_server() == on_path

    on_path.unlink()
    with pytest.raises(ServerError, match="install"):
        find_nats_server()
