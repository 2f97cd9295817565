"""The client against the real sidecar."""

from pathlib import Path

import anyio
import msgspec
import pytest

from pmcl.contracts import (
    Premortem,
    Resource,
    StaleGenerationError,
    Tool,
    UnknownEvidenceError,
)
from pmcl.hosts import HeldError, Host, HostConfig, Proposal
from tests.integration.hosts.sidecar import until

pytestmark = pytest.mark.anyio

NOTE = Resource(kind="path", value="/tmp/note")
TOOL = Tool(server="files", name="write_file", definition_hash="0" * 64)


def writing(evidence_id: str, **changes: object) -> Proposal:
    fields: dict[str, object] = {
        "goal": "keep a note",
        "tool": TOOL,
        "arguments": {"path": "/tmp/note", "text": "b"},
        "resources": (NOTE,),
        "expected_outcome": "the note is there",
        "effect": "mutation",
        "reversibility": "irreversible",
        "premortem": Premortem(
            failure_mode="overwrite",
            likelihood=0.2,
            mitigation="looked at it",
            evidence_ids=(evidence_id,),
        ),
        "evidence_ids": (evidence_id,),
    }
    return Proposal(**fields | changes)  # type: ignore[arg-type]


async def test_unmitigated_is_held_and_evidence_lifts_it(cell_config: HostConfig) -> None:
    async with Host.connect(cell_config) as host:
        bare = writing("", premortem=None, evidence_ids=())
        held = await host.check(bare)
        assert (held.status, held.reasons) == ("held", ("plan.unmitigated",))
        evidence_id = await host.observe(source="ls", summary="a note", resources=(NOTE,))
        passed = await host.check(writing(evidence_id))
        assert passed.status == "passed", passed.reasons


async def test_check_sees_what_was_acknowledged_and_receipts_empty_the_file(
    cell_config: HostConfig,
) -> None:
    async with Host.connect(cell_config) as host:
        for index in range(50):
            evidence_id = await host.observe(source="ls", summary=str(index), resources=(NOTE,))
            proposal = writing(evidence_id)
            verdict = await host.check(proposal)
            assert verdict.status == "passed", verdict.reasons
            if index % 10 == 0:
                async with host.dispatch(verdict, proposal):
                    pass

        async def is_empty() -> bool:
            await host.check(writing(evidence_id))
            return host._session.file.is_empty

        await until(is_empty)
        with pytest.raises(UnknownEvidenceError):
            await host.check(writing("0" * 26))


async def test_guarded_function_passes_once_the_model_has_looked(
    cell_config: HostConfig, tmp_path: Path
) -> None:
    note = tmp_path / "note.txt"
    note.write_text("a")
    async with Host.connect(cell_config) as host:

        @host.guarded(server="files")
        def read_file(path: str) -> str:
            """Read a text file."""
            return Path(path).read_text()

        @host.guarded(server="files")
        def write_file(path: str, content: str) -> int:
            """Write a text file."""
            return Path(path).write_text(content)

        async with host.turn("keep a note"):
            with pytest.raises(HeldError) as held:
                await write_file(str(note), "b")
            assert held.value.reasons == ("plan.unmitigated",)
            assert held.value.revision_request is not None
            assert await read_file(str(note)) == "a"
            assert await write_file(str(note), "b") == 1
    assert note.read_text() == "b"


async def test_failure_shows_in_the_next_state_check(cell_config: HostConfig) -> None:
    async with Host.connect(cell_config) as host:
        evidence_id = await host.observe(source="ls", summary="a", resources=(NOTE,))
        proposal = writing(evidence_id)
        async with host.dispatch(await host.check(proposal), proposal) as run:
            run.failed("disk_full")
        verdict = await host.check(writing(evidence_id))
        assert verdict.evaluation is not None
        assert verdict.evaluation.state_check.recent_failures == ("disk_full",)


async def test_equal_sibling_joins_and_another_snapshot_fences(cell_config: HostConfig) -> None:
    async with Host.connect(cell_config) as host, Host.connect(cell_config) as sibling:
        assert host.generation == sibling.generation == 1
        evidence_id = await sibling.observe(source="ls", summary="a", resources=(NOTE,))
        assert (await host.check(writing(evidence_id))).status == "passed"
        narrower = msgspec.structs.replace(cell_config.authority, writable_roots=("/tmp",))
        changed = msgspec.structs.replace(cell_config, authority=narrower)
        async with Host.connect(changed) as other:
            assert other.generation == 2
            with pytest.raises(StaleGenerationError):
                await host.check(writing(evidence_id))


async def test_many_observations_and_a_turn(cell_config: HostConfig) -> None:
    async with Host.connect(cell_config) as host:
        ids = await host.observe_many(
            [{"source": "ls", "summary": str(n), "resources": (NOTE,)} for n in range(250)]
        )
        assert (await host.check(writing(ids[-1]))).status == "passed"
        await host.complete("turn-1")
        await host.complete("turn-1")
        await host.disable()


async def test_concurrent_checks_and_dispatches(cell_config: HostConfig) -> None:
    async with Host.connect(cell_config) as host:
        evidence_id = await host.observe(source="ls", summary="a", resources=(NOTE,))
        ran = []

        async def one(index: int) -> None:
            proposal = writing(evidence_id, arguments={"path": "/tmp/note", "text": str(index)})
            async with host.dispatch(await host.check(proposal), proposal):
                ran.append(index)

        async with anyio.create_task_group() as group:
            for index in range(24):
                group.start_soon(one, index)
        assert sorted(ran) == list(range(24))
