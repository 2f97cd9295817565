"""Installing changes nothing that is the user's; uninstalling gives the same bytes back."""

import json
import os
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmcl.hosts.hooks.agent import Agent
from pmcl.hosts.hooks.agents import AGENTS
from pmcl.hosts.hooks.command import HookPaths, SettingsError, is_ours, paths_in
from pmcl.hosts.hooks.installing import installed, plan_install, plan_uninstall, write_settings
from pmcl.hosts.hooks.settings_text import SettingsText

PATHS = HookPaths(credentials=Path("/state/s.a.json"), gateway=Path("/state/gateway.json"))
CLAUDE = AGENTS["claude-code"]

TEXTS = {
    "plain": '{\n  "model": "opus",\n  "env": {"A": "1"}\n}\n',
    "tabs": '{\n\t"model": "opus"\n}\n',
    "one line": '{"model": "opus"}',
    "empty object": "{}\n",
    "comments": (
        '// mine\n{\n  "a": 1, /* two */\n  "b": 2 // the last\n  // the end\n}\n// after\n'
    ),
    "no newline": '{\n    "a": [1, 2]\n}',
    "windows": '{\r\n  "a": 1\r\n}\r\n',
    "foreign": (
        '{\n  "hooks": {\n    "PreToolUse": [\n      {\n        "matcher": "Bash",\n'
        '        "hooks": [{"type": "command", "command": "mine.sh"}]\n      }\n    ],\n'
        '    "Other": []\n  },\n  "z": null\n}\n'
    ),
}


def settings(agent: Agent, project: Path, text: str | None = None) -> Path:
    path = agent.settings(project)
    path.parent.mkdir(parents=True)
    if text is not None:
        path.write_text(text, newline="")
    return path


def install(agent: Agent, project: Path, paths: HookPaths = PATHS) -> None:
    write_settings(plan_install(agent, project, paths))


@pytest.mark.parametrize("agent", AGENTS.values(), ids=AGENTS)
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_uninstalling_gives_the_same_bytes_back(agent: Agent, text: str, tmp_path: Path) -> None:
    path = settings(agent, tmp_path, text)
    install(agent, tmp_path)
    assert path.read_bytes().decode() != text
    write_settings(plan_uninstall(agent, tmp_path))
    assert path.read_bytes().decode() == text


@pytest.mark.parametrize("agent", AGENTS.values(), ids=AGENTS)
def test_a_new_file_holds_every_event(agent: Agent, tmp_path: Path) -> None:
    install(agent, tmp_path)
    path = agent.settings(tmp_path)
    hooks = json.loads(path.read_text())["hooks"]
    assert [*hooks] == [each.event for each in agent.registrations]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len(installed(agent, tmp_path)) == len(agent.registrations)


def test_everything_else_stays_where_it_is(tmp_path: Path) -> None:
    path = settings(CLAUDE, tmp_path, TEXTS["comments"])
    install(CLAUDE, tmp_path)
    text = path.read_text()
    assert text.startswith('// mine\n{\n  "a": 1, /* two */\n  "b": 2, // the last\n  // the end\n')
    assert text.endswith("}\n// after\n")


def test_foreign_hooks_stay_first(tmp_path: Path) -> None:
    path = settings(CLAUDE, tmp_path, TEXTS["foreign"])
    install(CLAUDE, tmp_path)
    found = json.loads(path.read_text())
    assert [*found] == ["hooks", "z"]
    theirs, ours = found["hooks"]["PreToolUse"]
    assert theirs["hooks"][0]["command"] == "mine.sh"
    assert is_ours(ours["hooks"][0]["command"])
    assert found["hooks"]["Other"] == []


@pytest.mark.parametrize("agent", AGENTS.values(), ids=AGENTS)
def test_installing_twice_changes_nothing(agent: Agent, tmp_path: Path) -> None:
    install(agent, tmp_path)
    assert not plan_install(agent, tmp_path, PATHS).is_needed


def test_other_paths_replace_the_hook(tmp_path: Path) -> None:
    install(CLAUDE, tmp_path)
    other = HookPaths(credentials=Path("/else/b.json"), gateway=Path("/else/gateway.json"))
    install(CLAUDE, tmp_path, other)
    found = installed(CLAUDE, tmp_path)
    assert len(found) == len(CLAUDE.registrations)
    assert {paths_in(command).credentials for _, command in found} == {other.credentials}


def test_a_hook_that_was_moved_into_a_foreign_group_is_taken_out_alone(tmp_path: Path) -> None:
    install(CLAUDE, tmp_path)
    path = CLAUDE.settings(tmp_path)
    found = json.loads(path.read_text())
    found["hooks"]["PreToolUse"][0]["hooks"].insert(0, {"type": "command", "command": "mine.sh"})
    path.write_text(json.dumps(found))
    write_settings(plan_uninstall(CLAUDE, tmp_path))
    (group,) = json.loads(path.read_text())["hooks"]["PreToolUse"]
    assert group == {"matcher": "*", "hooks": [{"type": "command", "command": "mine.sh"}]}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{\n  "a": 1,\n}\n', "line 3, column 1"),
        ('{\n  "a": \n}', "line 3, column 1"),
        ("[]", "an object is expected"),
        ('{"a": 1, "a": 2}', "the key 'a' stands twice"),
        ('{"a": NaN}', "no JSON"),
        ('{\n  "hooks": []\n}', "line 2, column 12: hooks is no object"),
        ('{"hooks": {"PreToolUse": [{"command": "x"}]}}', "line 1, column 26: hooks.PreToolUse"),
        ('{"hooks": {"Stop": [{"hooks": ["x"]}]}}', "hooks.Stop"),
        ('{"hooks": {"Stop": {}}}', "line 1, column 20: hooks.Stop is no list"),
        ("[" * 100_000, "nested too deep"),
    ],
)
def test_what_is_no_json_is_refused_and_stays(text: str, told: str, tmp_path: Path) -> None:
    path = settings(CLAUDE, tmp_path, text)
    with pytest.raises(SettingsError, match="nothing was changed") as refused:
        install(CLAUDE, tmp_path)
    assert told in str(refused.value)
    assert str(path) in str(refused.value)
    assert path.read_text() == text


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = settings(CLAUDE, tmp_path)
    path.write_bytes(b'{"a": "\xff"}')
    with pytest.raises(SettingsError, match="cannot be read"):
        install(CLAUDE, tmp_path)


def test_the_file_keeps_its_mode_and_its_old_text(tmp_path: Path) -> None:
    path = settings(CLAUDE, tmp_path, TEXTS["plain"])
    path.chmod(0o640)
    change = plan_install(CLAUDE, tmp_path, PATHS)
    write_settings(change)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert change.backup.read_text() == TEXTS["plain"]
    assert stat.S_IMODE(change.backup.stat().st_mode) == 0o640


def test_a_link_is_followed_and_stays_one(tmp_path: Path) -> None:
    path = settings(CLAUDE, tmp_path / "project")
    target = tmp_path / "dotfiles.json"
    target.write_text("{}")
    path.symlink_to(target)
    install(CLAUDE, tmp_path / "project")
    assert path.is_symlink()
    assert "hooks" in json.loads(target.read_text())


def test_a_file_that_was_changed_meanwhile_stays(tmp_path: Path) -> None:
    path = settings(CLAUDE, tmp_path, "{}")
    change = plan_install(CLAUDE, tmp_path, PATHS)
    path.write_text('{"a": 1}')
    with pytest.raises(SettingsError, match="changed meanwhile"):
        write_settings(change)
    assert path.read_text() == '{"a": 1}'


def test_nothing_half_written_stays_when_the_disk_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = settings(CLAUDE, tmp_path, "{}")
    change = plan_install(CLAUDE, tmp_path, PATHS)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SettingsError, match="No space left"):
        write_settings(change)
    assert [each.name for each in path.parent.iterdir()] == [path.name]
    assert path.read_text() == "{}"


def test_the_diff_shows_what_would_change(tmp_path: Path) -> None:
    path = settings(CLAUDE, tmp_path, TEXTS["plain"])
    diff = plan_install(CLAUDE, tmp_path, PATHS).diff
    assert '+    "SessionStart": [' in diff
    assert str(path) in diff


def test_a_path_that_gemini_would_expand_is_refused(tmp_path: Path) -> None:
    paths = HookPaths(credentials=Path("/state/$HOME.json"), gateway=PATHS.gateway)
    with pytest.raises(SettingsError, match="credentials"):
        plan_install(AGENTS["gemini"], tmp_path, paths)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(
    st.dictionaries(st.text().filter(lambda name: name != "hooks"), JSON),
    st.sampled_from([None, 1, 2, "\t"]),
)
def test_any_object_comes_back_byte_for_byte(value: dict[str, Any], indent: int | None) -> None:
    text = json.dumps(value, indent=indent)
    changed = SettingsText(text)
    for event in ("One", "Two"):
        handler = {"type": "command", "command": "ours"}
        changed = changed.with_group(event, {"matcher": "*", "hooks": [handler]})
    assert json.loads(changed.text).keys() == value.keys() | {"hooks"}
    assert changed.without(lambda command: command == "ours").text == text


def run(command: str, event: str = "{}") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", command], input=event, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("agent", AGENTS.values(), ids=AGENTS)
@pytest.mark.parametrize("missing", ["python", "script"])
def test_a_command_that_cannot_start_ends_as_its_event_asks(
    agent: Agent, missing: str, tmp_path: Path
) -> None:
    gone = {missing: tmp_path / "gone"}
    paths = HookPaths(credentials=PATHS.credentials, gateway=PATHS.gateway, **gone)
    install(agent, tmp_path, paths)
    codes = {each.event: each.exit_code for each in agent.registrations}
    for event, command in installed(agent, tmp_path):
        ended = run(command)
        assert ended.returncode == codes[event], event
        assert ended.stderr.strip()
        assert ended.stdout == ""


@pytest.mark.parametrize("agent", AGENTS.values(), ids=AGENTS)
@pytest.mark.parametrize("signal", ["KILL", "TERM", "SEGV"])
def test_a_process_that_is_killed_blocks_the_call(
    agent: Agent, signal: str, tmp_path: Path
) -> None:
    killed = tmp_path / "python"
    killed.write_text(f"#!/bin/sh\nkill -{signal} $$\n")
    killed.chmod(0o700)
    paths = HookPaths(credentials=PATHS.credentials, gateway=PATHS.gateway, python=killed)
    install(agent, tmp_path, paths)
    before = next(each.event for each in agent.registrations if each.exit_code == 2)
    ended = run(dict(installed(agent, tmp_path))[before])
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "did not finish" in ended.stderr


def test_paths_with_quotes_and_spaces_stay_whole(tmp_path: Path) -> None:
    odd = Path('/it\'s a "state"/s.a.json')
    paths = HookPaths(credentials=odd, gateway=PATHS.gateway)
    install(CLAUDE, tmp_path, paths)
    assert {paths_in(command).credentials for _, command in installed(CLAUDE, tmp_path)} == {odd}
