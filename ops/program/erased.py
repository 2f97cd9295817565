"""Erasure: what a host said is erased while the sidecar works, and every file is read for it."""

import random
import string
from typing import Final

import anyio.to_thread
import msgspec

from pmcl.hosts import Host
from pmcl.ops.program.calls import reading
from pmcl.ops.program.figure import Figure, share
from pmcl.ops.program.house import House
from pmcl.ops.program.sentinels import Sentinel
from pmcl.ops.program.tracer import Tracer
from pmcl.ops.program.tries import runs
from pmcl.ops.record.erase import ask_erasure, wait_erasure

__all__ = ["ERASED_SCOPE", "Erased", "erased_figures", "say_and_erase", "texts_left"]

ERASED_SCOPE: Final = "erased"

_TEXTS: Final = 20
_LETTERS: Final = 32


class Erased(msgspec.Struct, frozen=True, kw_only=True):
    """Texts that were said: `before` of them stood in a file then, `left` do after the erasure."""

    before: int
    left: int


async def say_and_erase(house: House, seed: int) -> int:
    """Return how many texts stood in a file before all content of the scope was erased."""
    async with Host.connect(house.host(ERASED_SCOPE)) as host:
        for number, each in enumerate(_texts(seed)):
            await host.observe(source="shell", summary=each.text, detail=each.text * 3)
            proposal = reading(f"/erased/{number}", goal=each.text)
            await runs(host, await host.check(proposal), proposal)
    before = await texts_left(house, seed)
    erasure = await ask_erasure(house.settings, ERASED_SCOPE, None, (), dry_run=False)
    await wait_erasure(house.settings, erasure)
    return before


async def texts_left(house: House, seed: int) -> int:
    """Return of how many texts 8 bytes stand in a file of the house; the keys are not read."""
    return await anyio.to_thread.run_sync(_count, house, Tracer(_texts(seed)))


def _count(house: House, tracer: Tracer) -> int:
    found = tracer.in_files(house.directory, without=[house.settings.state_dir / "keys"])
    return len({name.partition(",")[0] for names in found.values() for name in names})


def _texts(seed: int) -> list[Sentinel]:
    chance = random.Random(seed)  # noqa: S311 - texts that are nobody's
    drawn = ["".join(chance.choices(string.ascii_lowercase, k=_LETTERS)) for _ in range(_TEXTS)]
    return [Sentinel(f"text {number}", text, text, (text,)) for number, text in enumerate(drawn)]


def erased_figures(erased: Erased) -> list[Figure]:
    """Return the figures of one erasure."""
    how = (
        "said in observations and goals, then `pmcl erase --scope`; sidecar killed; then every byte"
        " of ledger, write-ahead logs, streams, host files and logs, plain, in base64 and in hex"
    )
    return [
        share("privacy", "erased texts in a file", erased.left, _TEXTS, how),
        share(
            "privacy",
            "texts in a file before the erasure, as a control",
            erased.before,
            _TEXTS,
            "the same reading just before it; all is right",
        ),
    ]
