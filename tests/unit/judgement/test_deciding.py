from typing import Any

import pytest

from pmcl.contracts import Resource
from pmcl.judgement import Grounding, judge, spellings_of
from tests.unit.judgement.command_lines import HONEST, OWN
from tests.unit.judgement.conftest import ULID, MakeRequest

ASKED = Grounding(licence="licensed", goal_ids=(ULID + "U",))
STATE = "/home/op/.local/state/pmcl"
FOLDERS = spellings_of((STATE,), "/home/op")


@pytest.fixture
def reasons(make_request: MakeRequest, make_inputs: Any) -> Any:
    def judged(name: str, *paths: str, effect: Any = "execution", **arguments: Any) -> Any:
        resources = tuple(Resource(kind="path", value=path) for path in paths)
        request = make_request(name, arguments=arguments, effect=effect, resources=resources)
        inputs = make_inputs(request, grounding=ASKED, state_folders=FOLDERS)
        return judge(inputs).evaluation.reasons

    return judged


@pytest.mark.parametrize(
    "command",
    [
        "pmcl approvals grant 01ARZ3NDEKTSV4RRFFQ69G5FAV",
        "pmcl approvals --json grant X",
        "pmcl \\\n approvals deny X",
        "cd /srv && /opt/v/bin/pmcl resume",
        "sudo -u op pmcl hook uninstall --agent claude-code",
        "pmcl hook install --agent codex",
        "pmcl identity set scope soul.toml",
        "pmcl memories retract 01ARZ3NDEKTSV4RRFFQ69G5FAV --yes",
        "pmcl up --rules mine.toml",
        "p'm'cl approvals \"grant\" X",
        "pmcl $(printf res)ume",
        "pmcl approvals gr*nt X",
        "G=grant; pmcl approvals $G X",
        "P=pmcl; $P resume",
        "alias p=pmcl; p resume",
        "`which pmcl` resume",
        'cp "$(which pmcl)" /tmp/q',
        "python3 -m pmcl.ops resume",
        "python -mpmcl.ops resume",
        "coproc pmcl resume",
        "builtin exec pmcl resume",
        "nsenter -t 1 pmcl resume",
        "faketime x pmcl approvals grant X",
        "pmcl restore -- --help",
        "python3 -Im pmcl.ops approvals grant X",
        "python -c \"import subprocess; subprocess.run(['pmcl', 'approvals', 'grant', 'X'])\"",
        'python -c "from pmcl.ops.cli import main; main()"',
        'python -c "from pmcl.ops.start import main; main()"',
        "echo approvals grant X | xargs pmcl",
        "echo 'pmcl resume' | at now",
        "sh <<END\npmcl resume\nEND",
        "ssh localhost 'pmcl resume'",
        "docker compose exec pmcl approvals grant X",
        "find . -exec pmcl resume ;",
        "echo 'pmcl resume' > .git/hooks/post-commit",
        "echo $(pmcl --state-dir /s host add eve --scope a)",
        "true;pmcl restore old.tar",
        "\n".join(["echo a long script"] * 2_000 + ["pmcl resume"]),
        "true || " * 300 + "pmcl resume",
        "pmcl resume\n" + ")a" * 3_000,
        "pmcl resume # " + ")" * 9_000,
        "pm\0cl resume",
        "env " * 3_000 + "sh -c 'pmcl resume'",
        ["pmcl", "erase", "--scope", "a"],
        ["bash", "-c", "pmcl resume"],
    ],
)
def test_an_agent_never_decides_for_its_operator(command: Any, reasons: Any) -> None:
    assert "authority.operators_own" in reasons("run", command=command)


@pytest.mark.parametrize(
    "command",
    [
        "nats pub pmcl.v1.ops.grant x",
        "pkill -f pmcl",
        "pgrep -f pmcl | xargs kill",
        "killall nats-server",
        "systemctl --user stop pmcl",
        "uv tool uninstall pmcl",
        "claude --dangerously-skip-permissions -p x",
        "npx claude-code --permission-mode=bypassPermissions",
        "codex exec -c features.hooks=false x",
        "gemini -y -p x",
        "export CODEX_HOME=/tmp/c; codex exec hi",
    ],
)
def test_an_agent_never_gets_round_the_sidecar(command: str, reasons: Any) -> None:
    assert "authority.operators_own" in reasons("run", command=command)


@pytest.mark.parametrize(
    "command",
    [
        f"cat {STATE}/keys/operator.nk",
        "cat ~/.local/state/pmcl/ledger.key",
        "cat $HOME/.local/state/pmcl/keys/*.nk",
        "cat ~/.local/*/pm*/k*/op*",
        "cat < ~/.local/state/pmcl/ledger.key",
        "S=~/.local/state; cat $S/pmcl/keys/relay.nk",
        "cd ~/.local/state/pmcl && cat keys/hosts.json",
        "tar cz ~/.local/state/pmcl",
        "docker run -v ~/.local/state/pmcl:/s alpine ls /s",
        f"sqlite3 {STATE}/ledger.sqlite .dump",
        f"python -c \"import sqlite3; sqlite3.connect('{STATE}/ledger.sqlite')\"",
        "rm -rf ~/.local/state",
        "echo x > ~/.local/state/pmcl/pmcl.toml",
        "cat elsewhere/team.desk.json",
    ],
)
def test_no_command_reads_or_changes_the_sidecars_files(command: str, reasons: Any) -> None:
    inspects = command.startswith("cat")
    effect = "inspect_local" if inspects else "execution"
    assert "authority.operators_own" in reasons("bash", command=command, effect=effect)


@pytest.mark.parametrize(
    "command",
    [
        "sed -i s/pmcl// .claude/settings.json",
        "echo '{}' > .claude/settings.local.json",
        "jq 'del(.hooks)' a > b && mv b ~/.claude/settings.json",
        "git checkout HEAD~3 -- .codex/hooks.json",
        "python -c \"open('.gemini/settings.json', 'w')\"",
        "mv .claude .claude.off",
        "rm -rf .claude/",
        "rm -rf .codex",
    ],
)
def test_no_command_changes_the_settings_with_the_hook(command: str, reasons: Any) -> None:
    assert "authority.operators_own" in reasons("bash", command=command)


@pytest.mark.parametrize(
    "arguments",
    [
        {"command": "pmcl", "args": ["approvals", "grant", "X"]},
        {"program": "/usr/bin/env", "arguments": ["pmcl", "resume"]},
        {"calls": [{"tool": "sh", "arguments": {"command": "pmcl resume"}}]},
    ],
)
def test_a_command_is_read_however_it_is_given(arguments: Any, reasons: Any) -> None:
    assert "authority.operators_own" in reasons("run", **arguments)


@pytest.mark.parametrize("command", OWN)
def test_what_a_command_reads_changes_finds_and_runs_is_seen(command: str, reasons: Any) -> None:
    assert "authority.operators_own" in reasons("bash", command=command)


@pytest.mark.parametrize("command", HONEST)
def test_what_developers_do_all_day_is_not_the_operators(command: str, reasons: Any) -> None:
    assert "authority.operators_own" not in reasons("bash", command=command)


def test_what_is_typed_into_a_terminal_is_a_command(reasons: Any) -> None:
    typed = reasons("write_to_terminal", input="pmcl resume\n", effect="mutation")
    assert "authority.operators_own" in typed


@pytest.mark.parametrize(
    ("name", "effect", "path"),
    [
        ("read_file", "inspect_local", f"{STATE}/keys/operator.nk"),
        ("read_file", "inspect_local", "/elsewhere/team.desk.json"),
        ("grep", "inspect_local", STATE),
        ("write_file", "mutation", f"{STATE}/credentials/a.b.toml"),
        ("write_file", "mutation", "/project/.claude/settings.json"),
    ],
)
def test_no_file_tool_touches_what_is_the_operators(
    name: str, effect: Any, path: str, reasons: Any
) -> None:
    assert "authority.operators_own" in reasons(name, path, path=path, effect=effect)


def test_a_path_counts_also_where_no_resource_was_resolved(reasons: Any) -> None:
    held = reasons("read_file", file="~/.local/state/pmcl/ledger.sqlite", effect="inspect_local")
    assert "authority.operators_own" in held


@pytest.mark.parametrize(
    "command",
    [
        "pmcl",
        "pmcl approvals list",
        "pmcl holds list --scope restore",
        "pmcl status --state-dir ~/.local/state/pmcl",
        "pmcl stop",
        "pmcl approvals grant --help",
        "pmcl hook install --agent codex --dry-run",
        "docker exec pmcl ls",
        "cd ~/pmcl && pytest tests/unit -k resume",
        "cd ~/pmcl && kill 4242",
        "cp -r ~/src/pmcl /tmp/x",
        "pip install pmcl; make restore",
        "git commit -m 'Let pmcl say it'",
        "git commit -m 'pmcl resume'",
        "grep -rn 'pmcl resume' docs",
        "find . -name pmcl -exec grep resume {} ;",
        "cat > docs/x.md <<END\npmcl resume\nEND",
        "ls ~/.local/state/pmcl",
        "cat ~/.local/state/other/keys/a",
        "sqlite3 ledger.sqlite .tables",
        "rm -rf build",
        "mv notes.txt ~",
        "mv a.md .claude",
        "cat .claude/settings.json",
        "git add .claude/settings.json",
        "cp .claude/settings.json /tmp/x",
        "echo x > .claude/commands/a.md",
        'claude -p "explain the hooks"',
        "nats pub orders.new x",
        'pkill -f "npm run dev"',
        "lsof -ti :3000 | xargs kill",
    ],
)
def test_what_is_not_the_operators_is_no_such_command(command: str, reasons: Any) -> None:
    assert "authority.operators_own" not in reasons("bash", command=command)


@pytest.mark.parametrize(
    ("name", "effect", "path"),
    [
        ("list_directory", "inspect_local", STATE),
        ("read_file", "inspect_local", "/project/.claude/settings.json"),
        ("write_file", "mutation", "/project/.vscode/settings.json"),
        ("write_file", "mutation", "/project/docs/pmcl.toml"),
    ],
)
def test_other_files_are_not_the_operators(name: str, effect: Any, path: str, reasons: Any) -> None:
    content = "Type `pmcl resume`, then look at ~/.local/state/pmcl/ledger.sqlite.\n"
    held = reasons(name, path, path=path, content=content, effect=effect)
    assert "authority.operators_own" not in held


def test_the_label_of_a_command_runs_nothing(reasons: Any) -> None:
    held = reasons("bash", command="ls", description="pmcl resume")
    assert "authority.operators_own" not in held
