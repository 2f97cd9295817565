"""Whoever only imports the hosts' packages does not wait for libraries that he may not need."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("module", "unwanted"),
    [
        ("pmcl.hosts", "starlette uvicorn mcp pydantic"),
        ("pmcl.hosts.mcp", "starlette uvicorn mcp pydantic"),
        ("pmcl.ops.cli", "starlette uvicorn mcp pydantic aiosqlite nats opentelemetry"),
        ("pmcl.hosts.gateway", "mcp pydantic"),
    ],
)
def test_import_loads_no_library_of_another_surface(module: str, unwanted: str) -> None:
    program = f"import sys, {module}; print(*sorted(set({unwanted.split()!r}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []
