"""Real servers from the registries, installed for one test session; what cannot be had is skipped.

Those from PyPI choose their own `mcp`, so they live in an environment of their own.
"""

import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

__all__ = ["node_server", "python_server"]

_NODE = ("everything", "filesystem", "memory")
_PYTHON = ("fetch", "git", "time")
_INSTALL_S = 180


def node_server(directory: Path, name: str) -> tuple[str, ...]:
    """Return the command of `@modelcontextprotocol/server-<name>`, installed below `directory`."""
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        pytest.skip("npm is not installed: no servers from its registry")
    modules = directory / "node_modules" / "@modelcontextprotocol"
    if not modules.exists():
        packages = [f"@modelcontextprotocol/server-{each}" for each in _NODE]
        _install([npm, "install", "--no-audit", "--no-fund", "--prefix", str(directory), *packages])
    return (node, str(modules / f"server-{name}" / "dist" / "index.js"))


def python_server(directory: Path, name: str) -> tuple[str, ...]:
    """Return the command of `mcp-server-<name>`, installed below `directory`."""
    if not directory.exists():
        venv.create(directory, symlinks=True)
        packages = [f"mcp-server-{each}" for each in _PYTHON]
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
        into = ["--python", str(directory / "bin" / "python")]
        _install([*pip, *into, "install", "--quiet", "--no-compile", *packages])
    return (str(directory / "bin" / f"mcp-server-{name}"),)


def _install(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=_INSTALL_S, check=False)
    if done.returncode != 0:
        pytest.skip(f"cannot be installed here: {' '.join(command)}: {done.stderr[-300:]}")
