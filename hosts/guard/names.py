"""A guarded server's name comes from the command that starts it, never from the server itself.

What a host may do is written down by server and tool: a server that named itself could take the
grants of another.
"""

import re
from collections.abc import Sequence
from pathlib import PurePath
from typing import Final

__all__ = ["name_of"]

_RUNNERS: Final = frozenset("bun bunx deno node npx pipx pnpm poetry python uv uvx yarn".split())
_VERBS: Final = frozenset("dlx exec run tool".split())
_version = re.compile(r"(?<=.)@[^/@]*$")
_digits = re.compile(r"[0-9.]+$")
_not_in_name = re.compile(r"[^A-Za-z0-9._-]+")
_NAME_MAX: Final = 64


def name_of(command: Sequence[str]) -> str:
    """Return the name of the server that a command runs.

    That is the program, or what a runner such as `npx`, `uvx` or `python -m` is told to run,
    without folders, package scope, version and file ending.
    """
    words = [word for word in command if not word.startswith("-")] or ["server"]
    while len(words) > 1 and _is_runner(words[0]):
        words = words[1:]
    path = PurePath(_version.sub("", words[0]))
    name = path.stem if path.suffix in {".cjs", ".exe", ".js", ".mjs", ".py", ".ts"} else path.name
    return _not_in_name.sub("-", name)[:_NAME_MAX] or "server"


def _is_runner(word: str) -> bool:
    name = PurePath(word).name
    return _digits.sub("", name.removesuffix(".exe")) in _RUNNERS or name in _VERBS
