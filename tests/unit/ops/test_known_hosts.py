from pathlib import Path

import pytest

from pmcl.ops.known_hosts import HostNotFoundError, credentials_dir, find_credentials
from pmcl.ops.settings import Settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    settings = Settings(state_dir=tmp_path)
    credentials_dir(settings).mkdir()
    return settings


def add(settings: Settings, *names: str) -> None:
    for name in names:
        (credentials_dir(settings) / f"{name}.json").touch()


def test_a_host_is_found_by_name_and_scope(settings: Settings) -> None:
    add(settings, "s.a", "s.b", "t.a")
    assert find_credentials(settings, "b").name == "s.b.json"
    assert find_credentials(settings, "t/a").name == "t.a.json"


def test_the_only_host_needs_no_name(settings: Settings) -> None:
    add(settings, "s.a")
    assert find_credentials(settings, None).name == "s.a.json"


def test_a_file_is_taken_as_it_is(settings: Settings) -> None:
    assert find_credentials(settings, "/x/y.json") == Path("/x/y.json")


@pytest.mark.parametrize("name", ["a", None, "c"])
def test_what_is_not_one_host_is_told(settings: Settings, name: str | None) -> None:
    add(settings, "s.a", "t.a")
    with pytest.raises(HostNotFoundError, match="s/a, t/a"):
        find_credentials(settings, name)


def test_no_host_at_all_is_told(settings: Settings) -> None:
    with pytest.raises(HostNotFoundError, match="pmcl host add"):
        find_credentials(settings, None)
