"""Files that something else runs or obeys as soon as they are there, without being asked for.

To write one is to run what it says: a shell's start, a job of continuous integration, a hook of git
or of a package manager, a timer, the settings and instructions of an agent.
"""

from collections.abc import Sequence
from typing import Final

from pmcl.judgement.paths import below

__all__ = ["runs_by_itself"]

_FOLDERS: Final = frozenset(
    ".aider .buildkite .circleci .claude .codex .config .continue .cursor .devcontainer .direnv "
    ".drone .gemini .git .githooks .github .gitlab .gnupg .husky .idea .kube .ssh .teamcity "
    ".vscode .windsurf .woodpecker autostart cron.d cron.daily cron.hourly cron.monthly "
    "cron.weekly crontabs init.d launchagents launchdaemons profile.d systemd udev".split()
)
"""Whatever lies below one of them counts."""

_FILES: Final = frozenset(
    ".aider.conf.yml .appveyor.yml .bash_aliases .bash_login .bash_logout .bash_profile .bashrc "
    ".cirrus.yml .clinerules .curlrc .cursorrules .drone.yml .env .envrc .gitattributes "
    ".gitconfig .gitlab-ci.yml .gitmodules .kshrc .mcp.json .netrc .npmrc .pnpmfile.cjs "
    ".pre-commit-config.yaml .pre-commit-hooks.yaml .profile .pypirc .pythonrc .pythonstartup "
    ".tcshrc .travis.yml .vimrc .wgetrc .windsurfrules .woodpecker.yml .yarnrc .yarnrc.yml "
    ".zlogin .zprofile .zshenv .zshrc agents.md appveyor.yml azure-pipelines.yml "
    "bitbucket-pipelines.yml buildspec.yml claude.md cloudbuild.yaml cloudbuild.yml config.fish "
    "conftest.py crontab gemini.md jenkinsfile lefthook.yml package.json pip.conf pip.ini "
    "rc.local setup.py sitecustomize.py skill.md usercustomize.py".split()
)
_ENDINGS: Final = (
    ".automount",
    ".desktop",
    ".mount",
    ".path",
    ".plist",
    ".pth",
    ".service",
    ".socket",
    ".timer",
)


def runs_by_itself(path: str, roots: Sequence[str] = ()) -> bool:
    """Return whether what is written to a path is run or obeyed without being asked for.

    Folders above the root that it lies below do not count. Spelling does not matter, since file
    systems differ about it.
    """
    above = [root for root in roots if below(path, (root,))]
    path = path[len(max(above, key=len)) :] if above else path
    parts = [part for part in path.lower().rstrip(" .").replace("\\", "/").split("/") if part]
    if not parts:
        return False
    name = parts[-1]
    return (
        not _FOLDERS.isdisjoint(parts)
        or name in _FILES
        or name.startswith(".env")
        or name.endswith(_ENDINGS)
    )
