"""`killed.py SIGNAL STEP WHAT…`: a process that sends itself a signal between two durable steps.

`killed.py SIGKILL STEP COMMAND …` is `pmcl` that dies at the step, and `killed.py SIGKILL STEP
CONFIG` a host. `SIGINT` is Ctrl-C at the step.
"""

import inspect
import itertools
import os
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Literal

import anyio
import msgspec
import structlog

from pmcl.bus import Delivery
from pmcl.hosts import Host, HostConfig
from pmcl.ledger import payloads
from pmcl.ops import redriving
from pmcl.ops.cli import main
from pmcl.ops.record import (
    audit,
    backup,
    backup_place,
    erase,
    eraser,
    folding,
    rebuild,
    replacing,
    restore,
)
from pmcl.ops.record.verify_backup import LEDGER
from pmcl.outbox import HostFile, Relay
from pmcl.workers import ObserveWorker, Retaker, StreamHandler, Units, erase_payloads
from tests.acceptance.gameday.poisoned import poison
from tests.acceptance.world import reading

__all__ = [
    "AUDIT",
    "BACKUP",
    "ERASE",
    "ERASE_COMMAND",
    "FOLD",
    "HOST",
    "REBUILD",
    "REDRIVE",
    "REPLACE",
    "RESTORE",
    "SIDECAR",
    "STEPS",
]

When = Literal["before", "after"]
Steps = dict[str, tuple[Any, str, When, Callable[..., bool]]]
"""Of each step the class or module, the name of the call, and at which such call it is."""

_calls = itertools.count(1)

SIDECAR: Steps = {
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

HOST: Steps = {
    "number reserved, not published": (HostFile, "reserve", "after", lambda *_: True),
    "published, not noted": (HostFile, "acknowledged", "before", lambda *_: True),
    "claimed, not run": (HostFile, "claim", "after", lambda *_: True),
    "run, no outcome": (HostFile, "finish", "before", lambda *_: True),
    "outcome, not sent": (HostFile, "finish", "after", lambda *_: True),
    "sent, not noted": (HostFile, "sent", "before", lambda _, numbers: bool(numbers)),
    "noted, no receipt": (HostFile, "receipted", "before", lambda file, _: not file.is_empty),
}

BACKUP: Steps = {
    "ledger copied, no manifest": (backup, "_manifest", "before", lambda *_: True),
    "manifest there, not verified": (backup, "verify_backup", "before", lambda *_: True),
    "verified, not in its place": (backup_place, "write_new", "before", lambda *_: True),
    "in its place, ledger not told": (backup, "_record", "before", lambda *_: True),
    "ledger told, mark there": (backup, "note_told", "before", lambda *_: True),
}

REPLACE: Steps = {
    "decided, old ledger there": (replacing, "_finish", "before", lambda *_: True),
    "old ledger set aside, its log not": (
        Path, "rename", "after", lambda path, _: path.name == LEDGER,
    ),
    "old ledger set aside, key not there": (replacing, "set_aside", "after", lambda *_: True),
    "key there, ledger not": (replacing, "_take_key", "after", lambda *_: True),
    "ledger there, folder not synced": (
        replacing, "sync_folder", "before", lambda folder: not replacing.is_cut_off(folder),
    ),
}  # fmt: skip

RESTORE: Steps = {
    "copied, not marked": (restore, "_mark", "before", lambda *_: True),
    "marked, not decided": (restore, "replace_ledger", "before", lambda *_: True),
    **REPLACE,
}

REBUILD: Steps = {
    "folded, not compared": (rebuild, "_compare", "before", lambda *_: True),
    "compared, not decided": (rebuild, "replace_ledger", "before", lambda *_: True),
    **REPLACE,
}

AUDIT: Steps = {
    "some rows verified": (audit, "read_log", "before", lambda *_: next(_calls) == 3),
}

FOLD: Steps = {
    "some rows folded": (folding, "read_log", "before", lambda *_: next(_calls) == 3),
    "all rows folded, no payload": (folding, "retake_payloads", "before", lambda *_: True),
    "some payloads taken": (Retaker, "retake", "after", lambda *_: next(_calls) == 100),
    "payloads taken, INTAKE not replayed": (folding, "replay_intake", "before", lambda *_: True),
    "INTAKE replayed, restore not told": (
        Units,
        "record",
        "before",
        lambda _, decide: decide is folding._know_restored,
    ),
    "all done, fold not ended": (folding, "end_fold", "before", lambda *_: True),
}

ERASE: Steps = {
    "asked, nothing erased": (eraser.Eraser, "_payloads", "before", lambda *_: True),
    "observations erased, what names them not": (
        Units,
        "tell",
        "after",
        lambda _, decide: _is(decide, erase_payloads),
    ),
    "payloads erased, INTAKE not": (eraser.Eraser, "_intake", "before", lambda *_: True),
    "one message erased": (eraser, "delete_message", "after", lambda *_: True),
    "INTAKE erased, what was trimmed not": (eraser, "drop_trimmed", "before", lambda *_: True),
    "letters not moved": (eraser, "move_dead_letters", "before", lambda *_: True),
    "letters moved, not erased": (eraser.Eraser, "_dead_letters", "before", lambda *_: True),
    "streams erased, ledgers aside not": (eraser, "clean_asides", "before", lambda *_: True),
    "ledgers aside erased, words there": (payloads, "optimize_words", "before", lambda *_: True),
    "all erased, log not emptied": (eraser, "empty_log", "before", lambda *_: True),
    "log emptied, end not told": (eraser, "end_erasure", "before", lambda *_: True),
}

ERASE_COMMAND: Steps = {
    "erasure began, not waited for": (erase, "wait_erasure", "before", lambda *_: True),
}

REDRIVE: Steps = {
    "dealt with, letter there": (redriving, "delete_message", "before", lambda *_: True),
    "letter gone, not said": (redriving, "delete_message", "after", lambda *_: True),
}

STEPS: Steps = (
    SIDECAR | HOST | AUDIT | BACKUP | RESTORE | REBUILD | FOLD | ERASE | ERASE_COMMAND | REDRIVE
)


def _is(decide: Any, what: Callable[..., Any]) -> bool:
    return isinstance(decide, partial) and decide.func is what


def _strikes(
    number: signal.Signals, of: Any, name: str, when: When, here: Callable[..., bool]
) -> None:
    """Let the process have the signal at such calls; whichever kills ends it at the first."""
    live: Callable[..., Any] = getattr(of, name)

    def at(moment: When, arguments: tuple[Any, ...]) -> None:
        if when == moment and here(*arguments):
            os.kill(os.getpid(), number)

    def call(*arguments: Any, **options: Any) -> Any:
        at("before", arguments)
        result = live(*arguments, **options)
        at("after", arguments)
        return result

    async def awaited(*arguments: Any, **options: Any) -> Any:
        at("before", arguments)
        result = await live(*arguments, **options)
        at("after", arguments)
        return result

    setattr(of, name, awaited if inspect.iscoroutinefunction(live) else call)


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
    number, step, what = signal.Signals[sys.argv[1]], sys.argv[2], sys.argv[3]
    _strikes(number, *STEPS[step])
    if step in HOST:
        structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
        text = Path(what).read_bytes()
        anyio.run(_host, msgspec.json.decode(text, type=HostConfig, dec_hook=lambda k, v: k(v)))
    else:
        if step in SIDECAR:
            poison(ObserveWorker)
        del sys.argv[1:3]
        main()
