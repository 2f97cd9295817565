"""A host in a process of its own: `asking_child.py CONFIG PROPOSAL`.

It prints `ready`, waits for a line, checks the proposal under a call id of its own, and prints the
verdict's status and reasons.
"""

import asyncio
import sys
from pathlib import Path

import msgspec
from ulid_transform import ulid_now

from pmcl.hosts import Host, HostConfig, Proposal


def _read(path: str, kind: type) -> object:
    return msgspec.json.decode(Path(path).read_bytes(), type=kind, dec_hook=lambda t, v: t(v))


async def _main(config: HostConfig, proposal: Proposal) -> None:
    async with Host.connect(config) as host:
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.readline)
        own = msgspec.structs.replace(proposal, call_id=ulid_now())
        verdict = await host.check(own)
        sys.stdout.write(" ".join((verdict.status, *verdict.reasons)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(_main(_read(sys.argv[1], HostConfig), _read(sys.argv[2], Proposal)))  # type: ignore[arg-type]
