"""The command line: every command speaks JSON, ends by a documented code, and is completed."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from cyclopts import App

from pmcl.ops.commands import app

PAGE = (Path(__file__).parents[3] / "docs/commands.md").read_text()
PMCL = (sys.executable, "-m", "pmcl.ops")
SPEAK_A_PROTOCOL = {"guard", "mcp", "hook claude-code", "hook codex", "hook gemini"}
"""Their standard output is the other side's."""


def leaves(parent: App, path: tuple[str, ...] = ()) -> Iterator[tuple[str, App]]:
    for name in parent:
        if name.startswith("-"):
            continue
        child = parent[name]
        if child.default_command is None:
            yield from leaves(child, (*path, name))
        else:
            yield " ".join((*path, name)), child


LEAVES = dict(leaves(app))


def options(command: App) -> set[str]:
    found = command.assemble_argument_collection(parse_docstring=True)
    return {name for argument in found for name in argument.names}


def ended(*words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PMCL, *words], capture_output=True, text=True, input=stdin, timeout=60, check=False
    )


def test_the_walk_finds_the_commands() -> None:
    assert {"replay", "outbox list", "deadletters redrive", "status"} <= LEAVES.keys()
    assert LEAVES.keys() >= SPEAK_A_PROTOCOL
    assert len(LEAVES) > 30


@pytest.mark.parametrize("name", sorted(LEAVES.keys() - SPEAK_A_PROTOCOL))
def test_every_command_has_json(name: str) -> None:
    assert "--json" in options(LEAVES[name])


@pytest.mark.parametrize("name", sorted(LEAVES))
def test_every_command_is_documented(name: str) -> None:
    group, _, command = name.rpartition(" ")
    rows = [line for line in PAGE.splitlines() if line.startswith(f"| `pmcl {group}")]
    assert any(re.search(rf"`(pmcl )?({group} )?{command}\b", row) for row in rows)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--version",), 0),
        (("replay", "--state-dir", "nowhere"), 1),
        (("outbox", "list", "--state-dir", "nowhere"), 1),
        (("deadletters", "redrive", "--rate", "0"), 64),
        (("nonsense",), 64),
        (("hook", "codex", "--nonsense"), 2),
        (("hook", "nonsense"), 2),
        (("hook", "install", "--agent", "nonsense"), 64),
        (("guard",), 64),
        (("guard", "--nonsense"), 64),
        (("guard", "--", ""), 64),
        (("guard", "--http", "nonsense"), 64),
        (("host", "add", "Bad", "--scope", "s"), 64),
        (("host", "add", "a", "--scope", "b c"), 64),
        (("host", "add", "a", "--scope", "s", "--out", ""), 64),
        (("host", "add", "a", "--scope", "s", "--root", ""), 64),
        (("host", "add", "a", "--scope", "s", "--empty-root"), 64),
        (("host", "list", "--state-dir", "~nobody-of-this-name/x"), 64),
        (("holds", "list", "--scope", "b c"), 64),
        (("approvals", "grant", "0" * 26, "--expires", "25h"), 64),
        (("approvals", "grant", "0" * 26, "--expires", "-5m"), 64),
        (("replay", "--from", "10", "--to", "9"), 64),
        (("replay", "--since", "2026-01-02", "--until", "2026-01-01"), 64),
        (("replay", "--since", "999999d", "--state-dir", "nowhere"), 1),
        (("replay", "--rate", "1e400"), 64),
        (("replay", "--rate", "1e-300"), 64),
        (("outbox", "park", "s/a", str(2**63)), 64),
        (("evaluate", "traces"), 64),
        (("evaluate", "effects"), 64),
        (("evaluate", "calibration", "--calls", "0"), 64),
        (("calibration", "--effect", "nonsense"), 64),
        (("memories", "list", "--kind", "nonsense"), 64),
        (("doctor", "--project", "nowhere"), 64),
        (("deadletters", "show", "0"), 64),
        (("deadletters", "show", str(2**63)), 64),
        (("deadletters", "list", "--limit", str(10**30)), 64),
    ],
)
def test_a_command_ends_by_the_documented_code(words: tuple[str, ...], code: int) -> None:
    done = ended(*words)
    assert done.returncode == code, done.stderr
    assert len(done.stderr.splitlines()) == bool(code)
    assert f"\n| {code} |" in PAGE


def test_what_is_not_understood_is_told_with_where_the_help_is() -> None:
    assert ended("host", "add").stderr == (
        'pmcl: Command "host add" parameter --name requires an argument.'
        " See `pmcl host add --help`.\n"
    )
    assert ended("nonsense").stderr.endswith(" See `pmcl --help`.\n")


def test_a_file_that_cannot_be_written_is_told_in_one_line() -> None:
    done = ended("up", "--state-dir", "/dev/null/nowhere")
    assert (done.returncode, done.stderr) == (1, "pmcl: /dev/null/nowhere: Not a directory\n")


def test_a_home_is_found_where_the_shell_left_it_alone(tmp_path: Path) -> None:
    env = {**os.environ, "HOME": str(tmp_path)}
    words = ("host", "add", "a", "--scope", "s", "--state-dir", "~/state", "--root", "~/project")
    done = subprocess.run([*PMCL, *words], capture_output=True, text=True, env=env, check=True)
    assert f"writes below  {tmp_path}/project" in done.stdout
    assert (tmp_path / "state/credentials/s.a.json").exists()


def test_what_does_not_print_is_escaped_in_an_error(tmp_path: Path) -> None:
    done = ended("host", "add", "a", "--scope", "s", "--out", str(tmp_path / "\x1b[31m.txt"))
    assert (done.returncode, "\x1b" in done.stderr) == (64, False)
    assert r"\x1b[31m.txt" in done.stderr


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_stream_that_is_closed_changes_nothing(closed: str, tmp_path: Path) -> None:
    line = f"'{sys.executable}' -m pmcl.ops host list --json --state-dir '{tmp_path}' {closed}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("shell", ["bash", "fish", "zsh"])
def test_completion_knows_commands_and_options(shell: str, tmp_path: Path) -> None:
    script = tmp_path / "completion"
    app.install_completion(shell=shell, output=script, add_to_startup=False)  # type: ignore[arg-type]
    text = script.read_text()
    for word in ("deadletters", "redrive", "replay", "dry-run"):
        assert word in text


def test_bash_completes_a_command_and_its_options(tmp_path: Path) -> None:
    script = tmp_path / "completion"
    app.install_completion(shell="bash", output=script, add_to_startup=False)

    def offered(*words: str) -> set[str]:
        line = f'source {script}; COMP_WORDS=({" ".join(words)} ""); COMP_CWORD={len(words)}; '
        done = subprocess.run(
            ["bash", "--norc", "-c", line + '_pmcl; printf "%s\\n" "${COMPREPLY[@]}"'],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        return set(done.stdout.split())

    assert {"deadletters", "replay", "status"} <= offered("pmcl")
    assert {"list", "redrive", "show"} <= offered("pmcl", "deadletters")


@pytest.mark.parametrize(
    "words", [("deadletters", "list"), ("deadletters", "show", "1"), ("judge",)]
)
def test_nothing_is_made_in_a_folder_that_was_mistyped(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    done = ended(*words, "--state-dir", str(tmp_path / "mistyped"))
    assert done.returncode == 1
    assert "there is no ledger yet: `pmcl up` makes one" in done.stderr
    assert not (tmp_path / "mistyped").exists()
