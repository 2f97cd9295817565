"""Programs that are asked for their version or their help, and for nothing else.

Source: the manuals of these programs.
"""

from collections.abc import Sequence
from typing import Final

__all__ = ["tells_version"]

# Only what is found on the search path and asks nothing but itself. What takes its version from the
# project (cargo, go, gradle, mvn, pnpm, yarn) may fetch or run what stands there.
_PROGRAMS: Final = frozenset(
    "aws black clang curl docker dotnet eslint ffmpeg g++ gcc gh git helm java javac jq kubectl "
    "make mypy mysql nginx node npm npx openssl perl php pip pip3 podman prettier psql python "
    "python3 redis-cli rg ruby ruff sqlite3 ssh systemctl terraform tmux tsc uv vim wget".split()
)
_FLAGS: Final = {
    "java": frozenset({"--version", "-version"}),
    "node": frozenset({"--version", "-v"}),
    "npm": frozenset({"--version", "-v"}),
    "python": frozenset({"--version", "-V"}),
    "python3": frozenset({"--version", "-V"}),
    "ssh": frozenset({"-V"}),
}


def tells_version(name: str, words: Sequence[str | None]) -> bool:
    """Return whether the one word that a program is given has it tell of itself."""
    if name not in _PROGRAMS or len(words) != 1:
        return False
    return words[0] == "--help" or words[0] in _FLAGS.get(name, ("--version",))
