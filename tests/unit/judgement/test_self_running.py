import pytest

from pmcl.judgement.self_running import runs_by_itself


@pytest.mark.parametrize(
    "path",
    [
        "/home/ann/.bashrc",
        "/home/ann/.config/fish/config.fish",
        "/project/.github/workflows/ci.yml",
        "/project/.GITHUB/workflows/ci.yml",
        "/project/.git/hooks/pre-commit",
        "/project/.husky/pre-push",
        "/project/.claude/settings.json",
        "/project/CLAUDE.md",
        "/project/.env.local",
        "/project/package.json",
        "/project/setup.py",
        "/project/lib/site-packages/x.pth",
        "/etc/cron.d/x",
        "/etc/systemd/system/x.service",
        "project\\.vscode\\tasks.json",
        "/project/.bashrc. ",
    ],
)
def test_what_is_run_or_obeyed_unasked_runs_by_itself(path: str) -> None:
    assert runs_by_itself(path, ("/project",))


@pytest.mark.parametrize("path", ["/project/src/prices.py", "/project/README.md", "Makefile", ""])
def test_other_files_do_not(path: str) -> None:
    assert not runs_by_itself(path, ("/project",))


def test_folders_above_the_root_do_not_count() -> None:
    path = "/home/ann/.config/tool/src/main.py"
    assert runs_by_itself(path)
    assert not runs_by_itself(path, ("/home/ann/.config/tool",))
    assert runs_by_itself("/home/ann/.config/tool/.git/config", ("/home/ann/.config/tool",))
