"""A host that stays inside a dispatch block; it says the evaluation's id when it is there."""

import sys
from pathlib import Path

import anyio
import msgspec
import structlog

from pmcl.contracts import Resource, Tool, sha256
from pmcl.hosts import Host, HostConfig, Proposal


async def _main(config: HostConfig) -> None:
    proposal = Proposal(
        goal="stay",
        tool=Tool(server="files", name="read_file", definition_hash=sha256(b"read_file")),
        arguments={"path": "/work/hang"},
        resources=(Resource(kind="path", value="/work/hang"),),
    )
    async with Host.connect(config) as host:
        verdict = await host.check(proposal)
        async with host.dispatch(verdict, proposal):
            sys.stdout.write(verdict.claim_id)
            sys.stdout.write("\n")
            sys.stdout.flush()
            await anyio.sleep_forever()


if __name__ == "__main__":
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    text = Path(sys.argv[1]).read_bytes()
    anyio.run(_main, msgspec.json.decode(text, type=HostConfig, dec_hook=lambda k, v: k(v)))
