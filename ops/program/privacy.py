"""Privacy: a host says secrets wherever it can, all is killed, and every file is read for them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import anyio.to_thread
import msgspec

from pmcl.contracts import Justification, PlanStep, Resource, Tool, ToolDefinition, definition_hash
from pmcl.hosts import Host, Proposal
from pmcl.ops.judge import judge_again
from pmcl.ops.program.calls import reading
from pmcl.ops.program.figure import Figure, amount, share, unavailable
from pmcl.ops.program.house import House
from pmcl.ops.program.sentinels import Sentinel, leaky_text, sentinels
from pmcl.ops.program.tracer import Tracer, files_below
from pmcl.ops.program.tries import runs

__all__ = ["LEAKY_SCOPE", "Scan", "export_said", "privacy_figures", "say_secrets", "scan_files"]

LEAKY_SCOPE: Final = "leaky"


class ToolError(Exception):
    """A tool's own; its text is full of secrets."""


class Scan(msgspec.Struct, frozen=True, kw_only=True):
    """What was read, and what was found.

    Attributes:
        kinds: of secrets that were said.
        found: kinds of which a trace was found.
        planted: kinds of which a trace was found in a file that held them all, as a control.
        marks: redaction marks in what was read: what was said did get there.
    """

    kinds: int
    found: set[str]
    planted: set[str]
    files: int
    size_bytes: int
    marks: int


async def say_secrets(house: House, seed: int) -> list[str]:
    """Return the evaluations of a host that said every sentinel in every field that takes text."""
    known = sentinels(seed)
    text, token = leaky_text(known.values()), known["github"].secret
    evaluations = []
    async with Host.connect(house.host(LEAKY_SCOPE)) as host:
        resource = Resource(kind="other", value=known["url"].text, argument=token)
        await host.observe(
            source="shell", summary=text, detail=text * 3, provenance=text, resources=(resource,)
        )
        for proposal in _proposals(known, text):
            verdict = await host.check(proposal)
            if verdict.evaluation is not None:
                evaluations.append(verdict.evaluation.evaluation_id)
            await runs(host, verdict, proposal)
        await _fail(host, reading("/leaky/fails", arguments={"password": token}), text)
    return evaluations


def _proposals(known: dict[str, Sentinel], text: str) -> list[Proposal]:
    secret = {kind: each.secret for kind, each in known.items()}
    arguments = {
        "path": "/leaky/1",
        "note": text,
        "nested": [{"deep": {"password": secret["password"], "list": [text]}}],
        "headers": {"Authorization": f"Bearer {secret['bearer']}", "X-Api-Key": secret["openai"]},
        "argv": ["deploy", "--token", secret["argument"]],
        f"key {secret['github']}": {"pem": secret["pem"]},
    }
    said: dict[str, Any] = {
        "goal": text,
        "arguments": arguments,
        "expected_outcome": text,
        "justification": Justification(necessity=text, lower_risk_alternatives=(text,)),
        "rejected_alternatives": (text,),
    }
    definition = ToolDefinition(description=text, parameters={"default": secret["github"]})
    shell = Tool(server="files", name="shell", definition_hash=definition_hash(definition))
    step = PlanStep(tool=shell, arguments=arguments, expected_outcome=text)
    return [
        reading("/leaky/1", **said),
        Proposal(tool=shell, definition=definition, **said),
        Proposal.plan(text, (step,)),
        Proposal.recommendation(text, text),
    ]


async def _fail(host: Host, proposal: Proposal, text: str) -> None:
    """Let a tool fail with an error that says too much."""
    verdict = await host.check(proposal)
    try:
        async with host.dispatch(verdict, proposal):
            raise ToolError(text)
    except ToolError:
        return


async def export_said(house: House, evaluations: Sequence[str], path: Path) -> None:
    """Write what `pmcl judge --json` tells of the evaluations into a file, to be read as well."""
    told = [await judge_again(house.settings, each) for each in evaluations]
    await anyio.Path(path).write_bytes(msgspec.json.encode(told))


async def scan_files(house: House, seed: int) -> Scan:
    """Return what every byte of every file of the house holds; the keys alone are left out."""
    return await anyio.to_thread.run_sync(_scan, house, seed)


def _scan(house: House, seed: int) -> Scan:
    known = sentinels(seed)
    tracer = Tracer(known.values())
    found: set[str] = set()
    count = size = marks = 0
    for path in files_below([house.directory], {house.settings.state_dir / "keys"}):
        data = path.read_bytes()
        found |= tracer.in_bytes(data) | tracer.in_bytes(path.name.encode())
        count, size, marks = count + 1, size + len(data), marks + data.count(b"[redacted:")
    planted = tracer.in_bytes(leaky_text(known.values()).encode())
    return Scan(
        kinds=len(known),
        found=_kinds(found),
        planted=_kinds(planted),
        files=count,
        size_bytes=size,
        marks=marks,
    )


def _kinds(names: set[str]) -> set[str]:
    """Return the kinds of traces, whose names say the form as well."""
    return {name.partition(",")[0] for name in names}


def privacy_figures(scan: Scan) -> list[Figure]:
    """Return the figures of one scan."""
    how = (
        "said in observations, goals, arguments, plans, justifications and a tool's error; sidecar"
        " killed; then every byte of ledger, write-ahead logs, streams, host files, logs and the"
        " output of `pmcl judge`, plain, in base64 and in hex"
    )
    return [
        share("privacy", "kinds of secrets found in a file", len(scan.found), scan.kinds, how),
        share(
            "privacy",
            "kinds found in a text that holds them all, as a control",
            len(scan.planted),
            scan.kinds,
            "the same reading of a text that was not redacted; all is right",
        ),
        amount(
            "privacy",
            "redaction marks in those files",
            float(scan.marks),
            "marks",
            scan.files,
            f"what was said did get there: {scan.files} files, {scan.size_bytes} bytes were read",
        ),
        unavailable(
            "privacy",
            "raw chain-of-thought in a record",
            "a field of a contract that takes it",
            "no contract has such a field; a host that puts it into a text is not found out",
        ),
    ]
