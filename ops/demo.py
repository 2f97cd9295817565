"""`pmcl demo`: the live qualification, with a real sidecar process, a real bus and real files.

Source: SPEC H2; P1, Evaluation Methodology.
"""

import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import anyio
import anyio.to_thread
import msgspec

from pmcl.contracts import (
    AuthoritySnapshot,
    ExpectedReceipt,
    PmclError,
    Premortem,
    Receipt,
    RecommendationProposed,
    Resource,
    Tool,
    canonical,
    sha256,
)
from pmcl.hosts import DispatchRefusedError, Host, HostConfig, Proposal, Verdict
from pmcl.ops.console import console, print_json
from pmcl.ops.host_add import register_hosts
from pmcl.ops.settings import Settings
from pmcl.ops.sidecar_process import run_sidecar
from pmcl.store import load_queries, open_reader

__all__ = ["demo"]

_queries = load_queries("pmcl.ops", "demo")
_LINKED_S: Final = 5.0
_IDLE_MS: Final = 1_000
_REFLECTED_S: Final = 15.0


class DemoError(PmclError):
    """A step of the demonstration did not do what it promises."""


class _Step(msgspec.Struct, frozen=True):
    """One line of the demonstration with the facts that show it."""

    name: str
    facts: dict[str, Any]


async def demo(*, as_json: bool) -> bool:
    """Print the four steps; return whether all of them held."""
    with tempfile.TemporaryDirectory(prefix="pmcl-demo-") as directory:
        settings = Settings(state_dir=Path(directory) / "state")
        world = Path(directory) / "project"
        await anyio.to_thread.run_sync(_make_world, world)
        (credentials,) = await anyio.to_thread.run_sync(register_hosts, settings, ["demo"], "agent")
        async with run_sidecar(settings.state_dir, _environment()):
            config = HostConfig(
                credentials=credentials,
                authority=_authority(world),
                state_dir=settings.state_dir / "hosts",
            )
            async with Host.connect(config) as host:
                for step in (_pass, _hold, _failure, _idle):
                    shown = await step(host, world, settings.ledger_path)
                    _show(shown, as_json=as_json)
    return True


def _environment() -> dict[str, str]:
    """Return the environment with an idle time for which nobody has to wait long."""
    return {**os.environ, "PMCL_REFLECTION_IDLE_MS": str(_IDLE_MS)}


def _make_world(world: Path) -> None:
    world.mkdir()
    (world / "notes.txt").write_text("The release is on Friday.\n")


def _authority(world: Path) -> AuthoritySnapshot:
    return AuthoritySnapshot(
        tools={"files/read_file": "grant", "files/delete_file": "grant"},
        effects={"inspect_local": "grant", "mutation": "grant"},
        writable_roots=(str(world),),
    )


def _read(path: Path) -> Proposal:
    return Proposal(
        goal="Tell the user when the release is",
        tool=_tool("read_file"),
        arguments={"path": str(path)},
        resources=(Resource(kind="path", value=str(path), argument="path"),),
        expected_outcome="the text of the notes",
        expected_receipt=ExpectedReceipt(kind="file_content"),
    )


def _delete(path: Path, premortem: Premortem | None = None) -> Proposal:
    return Proposal(
        goal="Clean up the project folder",
        tool=_tool("delete_file"),
        arguments={"path": str(path)},
        resources=(Resource(kind="path", value=str(path), argument="path"),),
        premortem=premortem,
    )


def _tool(name: str) -> Tool:
    return Tool(server="files", name=name, definition_hash=sha256(canonical({"name": name})))


async def _pass(host: Host, world: Path, ledger: Path) -> _Step:
    """A safe proposal passes, runs once, and its outcome is linked and verified."""
    proposal = _read(world / "notes.txt")
    verdict = await host.check(proposal)
    _require(verdict.status == "passed", f"the read was {verdict.status}: {verdict.reasons}")
    async with host.dispatch(verdict, proposal) as run:
        text = await anyio.Path(proposal.arguments["path"]).read_text()
        run.succeeded(Receipt(kind="file_content", digest=sha256(text.encode())))
    await host.observe(
        source="files/read_file", summary="notes read", detail=text, resources=proposal.resources
    )
    outcome = await _outcome(ledger, verdict, verified=True)
    return _Step(
        "a safe proposal passed and yielded a linked outcome",
        {"verdict": verdict.status, "evaluation": verdict.claim_id, **outcome},
    )


async def _hold(host: Host, world: Path, ledger: Path) -> _Step:
    """An unmitigated deletion is held, cannot be dispatched, and lifts by cited evidence."""
    path = world / "notes.txt"
    proposal = _delete(path)
    verdict = await host.check(proposal)
    _require(verdict.status == "held", f"the deletion was {verdict.status}")
    try:
        async with host.dispatch(verdict, proposal):
            path.unlink()
    except DispatchRefusedError as refused:
        refusal = str(refused)
    else:
        raise DemoError("a held proposal was dispatched")
    _require(path.exists(), "the file is gone although its deletion was held")
    seen = await host.observe(
        source="files/read_file",
        summary="a copy of the notes is kept elsewhere",
        resources=proposal.resources,
    )
    premortem = Premortem(
        failure_mode="data_loss",
        likelihood=0.2,
        mitigation="a copy was made and seen",
        evidence_ids=(seen,),
    )
    revised = await host.check(_delete(path, premortem))
    _require(revised.status == "passed", f"the revision was {revised.status}: {revised.reasons}")
    return _Step(
        "an unmitigated proposal was held before dispatch",
        {
            "verdict": verdict.status,
            "reasons": list(verdict.reasons),
            "dispatch": refusal,
            "file still there": path.exists(),
            "revision request": verdict.revision_request,
            "revised with evidence": revised.status,
        },
    )


async def _failure(host: Host, world: Path, ledger: Path) -> _Step:
    """A read that fails is remembered by the next state check of the same action."""
    proposal = _read(world / "missing.txt")
    verdict = await host.check(proposal)
    before = _memory(verdict)
    try:
        async with host.dispatch(verdict, proposal):
            await anyio.Path(proposal.arguments["path"]).read_text()
    except FileNotFoundError:
        pass
    outcome = await _outcome(ledger, verdict, verified=False)
    again = await host.check(_read(world / "missing.txt"))
    after = _memory(again)
    _require(before != after, "the failure changed nothing")
    return _Step(
        "a failed action changed the next state check",
        {**outcome, "before": before, "after": after},
    )


async def _idle(host: Host, world: Path, ledger: Path) -> _Step:
    """Left alone, the sidecar looks back and recommends; it does nothing else."""
    proposal = _read(world / "missing.txt")
    await host.observe(
        source="files/list_folder",
        summary="there is no missing.txt",
        resources=proposal.resources,
        trust="environment",
    )
    verdict = await host.check(proposal)
    with suppress(FileNotFoundError):
        async with host.dispatch(verdict, proposal):
            await anyio.Path(proposal.arguments["path"]).read_text()
    before = await _outcome(ledger, verdict, verified=False)
    cycle = await _cycle(ledger, before["outcome"])
    return _Step("an idle cycle recommended something, and did nothing", cycle)


async def _cycle(ledger: Path, after: str) -> dict[str, Any]:
    """Return what the idle cycle recommended that looked back on an outcome, and what it did."""
    async with open_reader(ledger) as reader:
        with anyio.move_on_after(_REFLECTED_S):
            while (row := await reader.one(_queries.cycle, outcome_id=after)) is None:  # noqa: ASYNC110 - a file tells nobody
                await anyio.sleep(0.02)
            acts = await reader.one(_queries.acts, cycle_id=row["cycle_id"])
            said = await reader.all(_queries.recommended, cycle_id=row["cycle_id"])
            assert acts is not None
            _require(acts["acts"] == 0, "a reflection brought an action about")
            _require(bool(said), "what the reflection recommended was not admitted")
            return {
                "cycle": row["cycle_id"],
                "result": row["result"],
                "recommended": [_text(row["content"]) for row in said],
                "external actions": acts["acts"],
            }
    raise DemoError(f"no idle cycle recommended anything within {_REFLECTED_S:.0f} s")


def _text(content: bytes) -> str:
    return msgspec.json.decode(content, type=RecommendationProposed).text


def _memory(verdict: Verdict) -> dict[str, Any]:
    assert verdict.evaluation is not None
    return {
        "recent failures": list(verdict.evaluation.state_check.recent_failures),
        "failure probability": round(verdict.evaluation.plan_check.forecast.probability, 3),
    }


async def _outcome(ledger: Path, verdict: Verdict, *, verified: bool) -> dict[str, Any]:
    """Return the outcome that the ledger has linked to the verdict."""
    async with open_reader(ledger) as reader:
        with anyio.move_on_after(_LINKED_S):
            while True:
                row = await reader.one(_queries.outcome, evaluation_id=verdict.claim_id)
                if row is not None and bool(row["verified"]) == verified:
                    return {"outcome": row["outcome_id"], "status": row["status"],
                            "verified": verified}  # fmt: skip
                await anyio.sleep(0.02)
    raise DemoError(f"no outcome was linked to {verdict.claim_id} within {_LINKED_S:.0f} s")


def _require(held: bool, message: str) -> None:  # noqa: FBT001 - reads as an assertion
    if not held:
        raise DemoError(message)


def _show(step: _Step, *, as_json: bool) -> None:
    if as_json:
        print_json({"step": step.name, **step.facts})
        return
    console.print(f"[bold]{step.name}[/bold]")
    for name, value in step.facts.items():
        console.print(f"  {name:<22} {value}", markup=False, soft_wrap=True)
