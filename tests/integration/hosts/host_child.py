"""A host in a process of its own: `host_child.py try|hang CONFIG PROPOSAL VERDICT`.

`try` prints `ready`, waits for a line, then prints `ran` or why it did not run; `hang` prints
`inside` in the dispatch block and stays there.
"""

import asyncio
import sys
from pathlib import Path

import msgspec

from pmcl.hosts import DispatchRefusedError, Host, HostConfig, Proposal, Verdict


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _read(path: str, kind: type) -> object:
    return msgspec.json.decode(Path(path).read_bytes(), type=kind, dec_hook=lambda t, v: t(v))


async def _main(config: HostConfig, proposal: Proposal, verdict: Verdict) -> None:
    async with Host.connect(config) as host:
        _say("ready")
        await asyncio.to_thread(sys.stdin.readline)
        try:
            async with host.dispatch(verdict, proposal):
                _say("ran")
        except DispatchRefusedError as refused:
            _say(refused.reason)


async def _hang(config: HostConfig, proposal: Proposal, verdict: Verdict) -> None:
    async with Host.connect(config) as host, host.dispatch(verdict, proposal):
        _say("inside")
        await asyncio.Event().wait()


if __name__ == "__main__":
    parts = [
        _read(path, kind)
        for path, kind in zip(sys.argv[2:], (HostConfig, Proposal, Verdict), strict=True)
    ]
    asyncio.run((_hang if sys.argv[1] == "hang" else _main)(*parts))  # type: ignore[arg-type]
