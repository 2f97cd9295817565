"""A sibling of the test: shares its host file from a process of its own.

`python host_file_child.py FILE race IDS` reserves and claims, and prints what it won as JSON;
`... hold ID` claims, reserves, prints the number, and waits to be killed; `... acknowledge ID` has
the number acknowledged before.
"""

import asyncio
import json
import sys
from pathlib import Path

from pmcl.outbox.host_file import Claim, open_host_file


def _say(line: object) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _claim(name: str) -> Claim:
    return Claim(
        id=name, kind="outcome", proposal_hash="0" * 64, call_id=name, cause="", expires_at=2**50
    )


async def _race(path: Path, names: list[str]) -> None:
    async with open_host_file(path) as file:
        _say("ready")
        sys.stdin.readline()
        firsts, won = [], []
        for name in names:
            firsts.append(await file.reserve(3, 2**50))
            if await file.claim(_claim(name)):
                won.append(name)
        _say(json.dumps({"epoch": file.epoch, "firsts": firsts, "won": won}))


async def _hold(path: Path, name: str, *, is_acknowledged: bool) -> None:
    async with open_host_file(path) as file:
        assert await file.claim(_claim(name))
        number = await file.reserve(1, 2**50)
        if is_acknowledged:
            assert await file.acknowledged([number])
        _say(number)
        await asyncio.Event().wait()


if __name__ == "__main__":
    target, verb, *rest = sys.argv[1:]
    if verb == "race":
        asyncio.run(_race(Path(target), rest))
    else:
        asyncio.run(_hold(Path(target), *rest, is_acknowledged=verb == "acknowledge"))
