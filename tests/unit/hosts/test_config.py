from pathlib import Path

import pytest

from pmcl.bus import Credentials
from pmcl.contracts import AuthoritySnapshot
from pmcl.hosts import HostConfig


def test_file_lies_where_the_sidecar_of_the_same_environment_looks(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    credentials = Credentials(url="u", scope="s", host="a", seed="")
    config = HostConfig(credentials=credentials, authority=AuthoritySnapshot(tools={}, effects={}))
    monkeypatch.setenv("PMCL_STATE_DIR", str(tmp_path))
    assert config.file.parent == tmp_path / "hosts"
    monkeypatch.delenv("PMCL_STATE_DIR")
    assert tmp_path not in config.file.parents
