from pathlib import Path

import pytest

from pmcl.bus import Credentials
from pmcl.hosts import ProfileError, load_host, new_profile, profile_path


@pytest.fixture
def credentials(tmp_path: Path) -> Path:
    path = tmp_path / "s.a.json"
    Credentials(url="nats://127.0.0.1:1", scope="s", host="a", seed="seed").save(path)
    return path


def test_a_new_profile_grants_writing_below_its_roots(credentials: Path, tmp_path: Path) -> None:
    profile_path(credentials).write_text(new_profile([Path("/a b"), Path('/"c"')]))
    config = load_host(credentials, tmp_path)
    assert config.authority.writable_roots == ("/a b", '/"c"')
    assert config.authority.tools == {"*": "grant"}
    assert config.authority.effects["sensing"] == "approve"
    assert config.file == tmp_path / "hosts" / "s.a.sqlite"


def test_the_same_profile_is_the_same_snapshot(credentials: Path, tmp_path: Path) -> None:
    profile_path(credentials).write_text(new_profile([Path("/a")]))
    one, other = load_host(credentials, tmp_path), load_host(credentials, tmp_path)
    assert one.authority == other.authority


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "[tools]\n[effects]\nmutation = 'allow'",
            "effects.'mutation' is 'allow', allowed: one of grant, approve, prohibit",
        ),
        ("[tools]\n'files/read' = 'allow'\n[effects]", "tools.'files/read' is 'allow', allowed"),
        ("[tools]\n'a' = 'grant'\n[effects]\nmutate = 'grant'", "'mutate' is no effect, allowed"),
        ("[tools]\n'a' = ['grant']\n[effects]", r"tools.'a' is \['grant'\], allowed"),
        ("tools = 'all'\n[effects]", "tools"),
        ("[tools]\n[effects]\n[more]", "more"),
        ("[effects]", "tools"),
        ("tools = ", "Invalid value"),
        ("\xff", "profile"),
        pytest.param("a = " + "[" * 1000, "profile", id="nested too deep"),
        pytest.param("a = " + "9" * 5000, "profile", id="a number too long"),
    ],
)
def test_a_profile_that_does_not_fit_is_told(
    text: str, told: str, credentials: Path, tmp_path: Path
) -> None:
    profile_path(credentials).write_bytes(text.encode("latin-1"))
    with pytest.raises(ProfileError, match=told):
        load_host(credentials, tmp_path)


def test_a_missing_profile_is_told(credentials: Path, tmp_path: Path) -> None:
    with pytest.raises(ProfileError, match="No such file"):
        load_host(credentials, tmp_path)
