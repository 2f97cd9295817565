"""Recorded calls go through the real pipeline, as a host would send them.

Profile: every tool and effect granted, root `/`, any network host, unless another is given; the
server is the suite; no claims, no pre-mortem; one scope for each trace. Resources are named only
where there is a folder to resolve them in. The prompt is a user's observation and the goal,
each output an untrusted observation. Every call is handed to the dispatch, whatever the verdict;
one that is refused has no outcome, but its recorded output is observed all the same, since the
recording went on.
"""

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, Final, get_args

import anyio
import anyio.to_thread
import msgspec
from rich.progress import Progress

from pmcl.contracts import (
    AuthoritySnapshot,
    CheckpointStatus,
    Effect,
    ExpectedReceipt,
    PmclError,
    Premortem,
    Receipt,
    Resource,
    Tool,
    definition_hash,
    sha256,
)
from pmcl.hosts import DispatchRefusedError, Host, HostConfig, Proposal, Verdict
from pmcl.hosts.adapter import ToolCall, find_resources
from pmcl.ops.cell import run_cell
from pmcl.ops.console import console
from pmcl.ops.host_add import register_hosts
from pmcl.ops.recordings import RecordedStep, Recording, read_recordings
from pmcl.ops.settings import Settings

__all__ = ["PROFILE", "Executor", "Replay", "ReplayedCall", "Tools", "read_all"]

_AT_ONCE: Final = 8
_HOST: Final = "replay"
_SUMMARY_CHARS: Final = 1000
_RECEIPT: Final = "tool_output"

PROFILE: Final = AuthoritySnapshot(
    tools={"*": "grant"},
    effects=dict.fromkeys(get_args(Effect), "grant"),
    writable_roots=("/",),
    network_hosts=("*",),
)

Executor = Callable[[Verdict], Awaitable[None]]
"""Stands where the tool would run; it is only ever reached from within a dispatch."""
Tools = Callable[[Settings], AbstractAsyncContextManager[Executor]]
"""Opens the executor beside the running cell, and closes it before the cell."""


class ReplayedCall(msgspec.Struct, frozen=True, kw_only=True):
    """One recorded call and what became of it.

    Attributes:
        trace: number of the trace among all that were replayed.
        check_ms: until the verdict was there.
        dispatch_ms: claim and outcome, without the tool; `None` when the dispatch was refused.
        revised: the verdict on the revision of a held external call; `None` without one.
        reasons: of the verdict.
    """

    file: str
    trace: int
    recording: Recording
    step: RecordedStep
    status: CheckpointStatus
    check_ms: float
    dispatch_ms: float | None
    revised: CheckpointStatus | None
    reasons: tuple[str, ...] = ()


def read_all(files: Sequence[Path]) -> list[tuple[str, Recording]]:
    """Return every trace with the name of its file.

    Raises:
        RecordingError: a file or a line cannot be read.
    """
    return [(path.name, recording) for path in files for recording in read_recordings(path)]


@asynccontextmanager
async def _no_tools(_: Settings) -> AsyncIterator[Executor]:
    """Run nothing: what a tool did was recorded."""

    async def run(_: Verdict) -> None:
        return None

    yield run


class Replay:
    """Replays recordings in a cell of its own; `calls` are in the order in which they ended.

    Args:
        settings: of the cell; its state directory is made, and left for whoever reads it after.
        revise: propose each held external call once more, citing the newest observation that
            holds one of its values.
        tools: what runs within each dispatch.
        folder: where calls run, so that their resources are resolved as any adapter does.
        authority: what each host may do.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        revise: bool = False,
        tools: Tools = _no_tools,
        folder: Path | None = None,
        authority: AuthoritySnapshot = PROFILE,
    ) -> None:
        self.calls: list[ReplayedCall] = []
        self._settings = settings
        self._revise = revise
        self._tools = tools
        self._folder = folder
        self._authority = authority

    async def run(self, recordings: Sequence[tuple[str, Recording]]) -> None:
        """Replay them all, eight at a time."""
        settings = self._settings
        scopes = [f"trace-{number}" for number in range(len(recordings))]
        credentials = await anyio.to_thread.run_sync(register_hosts, settings, scopes, _HOST)
        configs = [
            HostConfig(
                credentials=own, authority=self._authority, state_dir=settings.state_dir / "hosts"
            )
            for own in credentials
        ]
        waiting = iter(enumerate(zip(recordings, configs, strict=True)))
        bar = Progress(console=console, transient=True, disable=not console.is_terminal)
        async with run_cell(settings), self._tools(settings) as execute:
            with bar:
                task = bar.add_task("traces", total=len(recordings))

                async def work() -> None:
                    for number, ((file, recording), config) in waiting:
                        async with _opened(config, recording, execute) as trace:
                            for step in recording.steps:
                                self.calls.append(await self._call(trace, file, number, step))
                        bar.advance(task)

                async with anyio.create_task_group() as tasks:
                    for _ in range(_AT_ONCE):
                        tasks.start_soon(work)

    async def _call(
        self, trace: "_Trace", file: str, number: int, step: RecordedStep
    ) -> ReplayedCall:
        resources = await anyio.to_thread.run_sync(self._resources, trace.recording, step)
        host, proposal = trace.host, trace.proposal(step, resources)
        asked = time.perf_counter()
        verdict = await host.check(proposal)
        check_ms = (time.perf_counter() - asked) * 1000
        revised = None
        if self._revise and step.external and verdict.status == "held":
            revised = (await host.check(trace.revised(proposal, step))).status
        output = await trace.observe_output(step, resources)
        dispatch_ms = await trace.dispatch(verdict, proposal, step, output)
        return ReplayedCall(
            file=file,
            trace=number,
            recording=trace.recording,
            step=step,
            status=verdict.status,
            check_ms=check_ms,
            dispatch_ms=dispatch_ms,
            revised=revised,
            reasons=verdict.reasons,
        )

    def _resources(self, recording: Recording, step: RecordedStep) -> tuple[Resource, ...]:
        if self._folder is None:
            return ()
        call = ToolCall(
            server=recording.suite, name=step.tool, arguments=step.args, cwd=self._folder
        )
        try:
            return find_resources(call)
        except PmclError:
            return ()  # an adapter would refuse the call; here it is judged as one that names none


class _Trace:
    """One trace under way: its host, and what the host has seen so far."""

    def __init__(self, host: Host, recording: Recording, prompt: str, execute: Executor) -> None:
        self.host = host
        self.recording = recording
        self._execute = execute
        self._texts = {prompt: recording.prompt}

    def proposal(self, step: RecordedStep, resources: tuple[Resource, ...] = ()) -> Proposal:
        definition = self.recording.definition(step.tool)
        return Proposal(
            goal=self.recording.prompt[:4096],
            tool=Tool(
                server=self.recording.suite,
                name=step.tool,
                definition_hash=definition_hash(definition),
            ),
            definition=definition,
            arguments=step.args,
            resources=resources,
            expected_receipt=ExpectedReceipt(kind=_RECEIPT),
            evidence_ids=tuple(self._texts)[-64:],
        )

    def revised(self, proposal: Proposal, step: RecordedStep) -> Proposal:
        """Return the proposal with what an honest host can add: where its values stand."""
        values = [str(each) for each in step.args.values() if isinstance(each, str | int | float)]
        newest = [
            evidence_id
            for evidence_id, text in reversed(self._texts.items())
            if any(value and value in text for value in values)
        ]
        return msgspec.structs.replace(
            proposal,
            premortem=Premortem(
                failure_mode="wrong_target",
                likelihood=0.1,
                mitigation="the value was looked up",
                evidence_ids=tuple(newest[:1]),
            ),
        )

    async def observe_output(self, step: RecordedStep, resources: tuple[Resource, ...]) -> str:
        """Return the output as a text, once it is observed."""
        output = _text(step.output)
        evidence_id = await self.host.observe(
            source=step.tool,
            trust="tool_output",
            summary=output[:_SUMMARY_CHARS],
            detail=output,
            resources=resources,
        )
        self._texts[evidence_id] = output
        return output

    async def dispatch(
        self, verdict: Verdict, proposal: Proposal, step: RecordedStep, output: str
    ) -> float | None:
        """Return how long the claim and the outcome took, `None` when the call was refused."""
        began = time.perf_counter()
        try:
            async with self.host.dispatch(verdict, proposal) as run:
                ran = time.perf_counter()
                await self._execute(verdict)
                began += time.perf_counter() - ran
                if step.error is None:
                    run.succeeded(Receipt(kind=_RECEIPT, digest=sha256(output.encode())))
                else:
                    run.failed("recorded_error")
        except DispatchRefusedError:
            return None
        return (time.perf_counter() - began) * 1000


@asynccontextmanager
async def _opened(
    config: HostConfig, recording: Recording, execute: Executor
) -> AsyncIterator[_Trace]:
    async with Host.connect(config) as host:
        prompt = await host.observe(
            source="prompt",
            trust="user",
            summary=recording.prompt[:_SUMMARY_CHARS],
            detail=recording.prompt,
        )
        yield _Trace(host, recording, prompt, execute)


def _text(output: Any) -> str:
    return output if isinstance(output, str) else msgspec.json.encode(output).decode()
