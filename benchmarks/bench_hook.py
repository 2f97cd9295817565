"""What an agent waits for the hook's process, beyond the start of an interpreter.

The gateway answers at once here: what a verdict takes is measured by itself.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter

import anyio

from benchmarks.bench import Bench, Bound, Row, Sizes
from pmcl.hosts.hooks import AGENTS, HookPaths, plan_install

HOOK = "installed hook, to its end"
BARE = "python -I -S -c pass"

ROWS = (
    Row(
        name="hook process, whole",
        unit="ms",
        ours=HOOK,
        baseline=BARE,
        bound=Bound("ratio", "<=", 3),
    ),
)

_ANSWER = b'{"exit_code":0,"stdout":"","stderr":""}'


@asynccontextmanager
async def open_bench(directory: Path, sizes: Sizes) -> AsyncIterator[Bench]:
    async with _gateway(directory) as paths:
        agent = AGENTS["codex"]
        event = json.dumps(agent.shell_call("ls", directory)).encode()
        command = _command(directory, paths)
        run = partial(_process_ms, count=sizes.apart)
        yield Bench(
            {
                BARE: partial(run, [sys.executable, "-I", "-S", "-c", "pass"], b""),
                HOOK: partial(run, ["/bin/sh", "-c", command], event),
            },
            ROWS,
        )


async def _process_ms(command: list[str], given: bytes, count: int) -> float:
    """Return the median of whole processes, one after the other."""
    took_ms = []
    for _ in range(count):
        begun = perf_counter()
        ended = await anyio.run_process(command, input=given)
        took_ms.append((perf_counter() - begun) * 1000)
        assert (ended.stdout, ended.stderr) == (b"", b"")
    return median(took_ms)


def _command(project: Path, paths: HookPaths) -> str:
    """Return the command that stands in an agent's settings."""
    hooks = json.loads(plan_install(AGENTS["codex"], project, paths).after)["hooks"]
    command: str = hooks["PreToolUse"][0]["hooks"][0]["command"]
    return command


@asynccontextmanager
async def _gateway(directory: Path) -> AsyncIterator[HookPaths]:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
        await reader.readexactly(int(length))
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(_ANSWER) + _ANSWER)
        writer.close()

    file = str(directory / "gateway.sock")
    named = {"url": "http://127.0.0.1:1", "socket": file}
    server = await asyncio.start_unix_server(answer, file)
    async with server:
        yield HookPaths(
            credentials=_private(directory / "s.a.json", {"seed": "SU"}),
            gateway=_private(directory / "gateway.json", named),
        )


def _private(path: Path, members: dict[str, str]) -> Path:
    path.touch(mode=0o600)
    path.write_text(json.dumps(members))
    return path
