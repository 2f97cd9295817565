import pytest

from pmcl.judgement.effects import runs_in


@pytest.mark.parametrize(
    "script",
    [
        "git push",
        "/usr/bin/git push",
        "if a; then git push; fi",
        "f() { git push; }; f",
        "G=git; $G push",
        "alias gp='git push'; gp",
        "sudo -u ci git push",
        "$(command -v git) push",
        "xargs git push",
        "echo push | xargs git",
        "echo 'git push' | sh",
        "(cat; echo '* * * * * git push') | crontab -",
        "at now <<< 'git push'",
        "bash <<END\ngit push\nEND",
        "bash -lc 'git push'",
        "find . -exec git push ;",
        "docker exec -it web git push",
        "ssh host 'git push'",
        "ssh -p 22 host git push",
        "docker exec -u root web git push",
        "tmux new -d 'git push'",
        "git submodule foreach git push",
        "git rebase -x 'git push' HEAD~1",
        "poetry run git push",
        "awk 'BEGIN { system(\"git push\") }'",
        "python3.12 -c \"import subprocess; subprocess.run(['git', 'push'])\"",
        "node -e \"require('child_process').spawnSync('git', ['push'])\"",
        "echo 'git push' > .git/hooks/post-commit",
        "bash -c \"ssh h 'git push'\"",
        "\n".join(["echo a long script"] * 600 + ["git push"]),
    ],
)
def test_a_command_is_found_wherever_it_runs(script: str) -> None:
    assert ("git", ("push",)) in [(run.name, run.rest[:1]) for run in runs_in(script).runs]


@pytest.mark.parametrize(
    "script",
    [
        "echo 'git push'",
        "git commit -m 'git push'",
        "grep -rn 'git push' src",
        "cat > a.md <<END\ngit push\nEND",
        "find . -name git -exec grep push {} ;",
        "python -c \"print('git', 'push')\"",
        "npm install git push",
        "npx -- prettier git push",
        "# git push",
        "",
        "(((",
    ],
)
def test_a_text_that_runs_nothing_is_no_command(script: str) -> None:
    assert ("git", ("push",)) not in [(run.name, run.rest[:1]) for run in runs_in(script).runs]


def test_a_module_is_the_command_and_a_guess_is_marked() -> None:
    runs = runs_in("python -m twine upload x; npx np").runs
    assert ("twine", ("upload", "x"), False) in [(run.name, run.rest, run.guessed) for run in runs]
    assert ("np", (), True) in [(run.name, run.rest, run.guessed) for run in runs]


def test_files_programs_and_variables_are_told() -> None:
    ran = runs_in("A=1 cat < in > out; python -c 'x(1)'")
    assert (ran.read, ran.written, ran.programs) == (("in",), ("out",), ("x(1)",))
    assert ran.sets == {"A"}


def test_a_script_in_scripts_without_an_end_is_read_in_bounds() -> None:
    script = "git push"
    for _ in range(12):
        script = f"bash -c {script!r}"
    assert len(runs_in(script).runs) < 12
    flags = " ".join(f"-{sign} x" for sign in "abcdefgh")
    for _ in range(5):
        script = f"docker run {flags} bash -c {script!r}"
    assert len(runs_in(script).runs) < 64
    assert len(runs_in("a; b $x\n" * 2_000).runs) <= 1024
    assert not runs_in("a |" * 300).runs


def test_a_lone_surrogate_is_read_over() -> None:
    assert "rm" in {run.name for run in runs_in("\ud800; rm x").runs}
