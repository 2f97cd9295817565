"""`killed.py STEP WHAT…`: a process that kills itself between two durable steps.

`killed.py STEP up …` is `pmcl` that dies at the sidecar's step, `killed.py STEP CONFIG` a host.
"""

import os
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Literal, NoReturn

import anyio
import msgspec
import structlog

from pmcl.bus import Delivery
from pmcl.hosts import Host, HostConfig
from pmcl.ops.cli import main
from pmcl.outbox import HostFile, Relay
from pmcl.workers import ObserveWorker, StreamHandler, Units
from tests.acceptance.gameday.poisoned import poison
from tests.acceptance.world import reading

__all__ = ["HOST", "SIDECAR"]

When = Literal["before", "after"]

SIDECAR: dict[str, tuple[type[Any], str, When, Callable[..., bool]]] = {
    "taken, not committed": (Units, "numbered", "before", lambda *_: True),
    "committed, not acknowledged": (Delivery, "ack", "before", lambda *_: True),
    "committed, not replied": (
        Units, "answer", "after", lambda _, worker, *__: worker.kind == "checkpoint",
    ),
    "committed, not relayed": (Relay, "_append", "before", lambda *_: True),
    "relayed, not noted": (Relay, "_append", "after", lambda *_: True),
    "dead letter stored, number open": (StreamHandler, "_close", "before", lambda *_: True),
    "number closed, not terminated": (Delivery, "term", "before", lambda *_: True),
}  # fmt: skip
"""What is durable, and what is not yet; each with the call at which the sidecar dies."""

HOST: dict[str, tuple[type[Any], str, When, Callable[..., bool]]] = {
    "number reserved, not published": (HostFile, "reserve", "after", lambda *_: True),
    "published, not noted": (HostFile, "acknowledged", "before", lambda *_: True),
    "claimed, not run": (HostFile, "claim", "after", lambda *_: True),
    "run, no outcome": (HostFile, "finish", "before", lambda *_: True),
    "outcome, not sent": (HostFile, "finish", "after", lambda *_: True),
    "sent, not noted": (HostFile, "sent", "before", lambda _, numbers: bool(numbers)),
    "noted, no receipt": (HostFile, "receipted", "before", lambda file, _: not file.is_empty),
}


def _die() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("killed")


def _dies(of: type[Any], name: str, when: When, here: Callable[..., bool]) -> None:
    """Let the process die at the first such call."""
    live: Callable[..., Awaitable[Any]] = getattr(of, name)

    async def call(*arguments: Any, **options: Any) -> Any:
        if when == "before" and here(*arguments):
            _die()
        result = await live(*arguments, **options)
        if here(*arguments):
            _die()
        return result

    setattr(of, name, call)


async def _host(config: HostConfig) -> None:
    """Observe and use one verdict; say what is known before the next thing is done."""
    async with Host.connect(config) as host:
        evidence_id = await host.observe(source="ls", summary=config.credentials.host)
        sys.stdout.write(f"observed {evidence_id}\n")
        proposal = reading("/work/once")
        verdict = await host.check(proposal)
        async with host.dispatch(verdict, proposal):
            sys.stdout.write(f"ran {verdict.claim_id}\n")
            sys.stdout.flush()
        await anyio.sleep_forever()


if __name__ == "__main__":
    step, what = sys.argv[1], sys.argv[2]
    _dies(*(SIDECAR | HOST)[step])
    if what == "up":
        poison(ObserveWorker)
        del sys.argv[1]
        main()
    else:
        structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
        text = Path(what).read_bytes()
        anyio.run(_host, msgspec.json.decode(text, type=HostConfig, dec_hook=lambda k, v: k(v)))
