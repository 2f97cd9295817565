"""What was derived is found by hosts, shown to operators, rebuilt, and erased to the byte."""

import json
from pathlib import Path
from typing import Any

import anyio.to_thread
import pytest
from ulid_transform import ulid_now

from pmcl.contracts import (
    BeliefProposed,
    ContractError,
    Identity,
    IntentionProposed,
    LedgerError,
    MemoryProposed,
    Proposed,
    RecommendationProposed,
    Reflection,
    SelfModelProposed,
    WorkingStateProposed,
    encode,
)
from pmcl.ledger import ledger_config
from pmcl.ops.asking import NotRunningError
from pmcl.ops.identity import list_identities, read_identity, set_identity
from pmcl.ops.memories import (
    list_memories,
    read_memory,
    retract_memory,
    show_memories,
    show_memory,
    show_retraction,
)
from pmcl.ops.record.audit import audit_record
from pmcl.ops.record.rebuild import rebuild_ledger
from pmcl.ops.state_dir import ledger_key
from pmcl.outbox import UnitOfWork
from pmcl.store import open_reader, open_writer
from pmcl.workers import Admission, Cycle, Decision, Units, admit_all
from tests.integration.gateway.wire import ANYTHING, Wire
from tests.integration.record.content import files_with, is_in, words, words_left
from tests.integration.record.office import Office
from tests.integration.record.test_erasing import erase, observe

pytestmark = pytest.mark.anyio

GONE, STAYS = words("zanzibar"), words("stays")


async def admit(office: Office, *proposals: Proposed) -> Admission:
    """Admit proposals while no sidecar runs."""
    key = ledger_key(office.settings.state_dir, make=False)
    made: list[Admission] = []

    def decide(unit: UnitOfWork) -> Decision:
        cycle = Cycle(scope="s", host="a", cycle_id=ulid_now())
        made.append(admit_all(unit, key, cycle, Reflection(proposals=proposals)))
        return Decision(events=made[0].events, payloads=made[0].payloads)

    async with open_writer(ledger_config(office.ledger)) as writer:
        await Units(writer).record(decide)
    return made[0]


async def indexed(office: Office) -> list[Any]:
    """Every word of the index with the payload that holds it."""
    async with open_reader(office.ledger) as reader:
        rows = await reader.all("SELECT payload, words FROM payloads WHERE words IS NOT NULL")
        found = []
        for row in rows:
            for word in row["words"].split():
                hits = await reader.all(
                    "SELECT rowid FROM payload_words WHERE payload_words MATCH :word",
                    word=f'"{word}"',
                )
                found.append((row["payload"], word, sorted(hit[0] for hit in hits)))
    return found


async def test_what_rested_on_erased_evidence_is_in_no_byte(office: Office) -> None:
    async with office.sidecar(), office.host() as host:
        ids = await observe(host, "n0", "n1")
    made = await admit(
        office,
        MemoryProposed(text=GONE, evidence_ids=(ids[0],)),
        MemoryProposed(text=STAYS, evidence_ids=(ids[1],)),
        MemoryProposed(text=f"I feel {GONE}", evidence_ids=(ids[0],)),
        SelfModelProposed(text=GONE, evidence_ids=(ids[0], ids[1]), part="skills"),
    )
    assert (made.counts.admitted, made.counts.proposed, made.counts.rejected) == (2, 1, 1)
    assert "ledger.sqlite" in files_with(office.settings.state_dir, GONE)
    assert words_left(office.settings.state_dir, GONE)
    async with office.sidecar():
        await erase(office, "s", None, ids[0])
        assert files_with(office.settings.state_dir, GONE) == {}
        assert words_left(office.settings.state_dir, GONE) == set()
    assert files_with(office.settings.state_dir, STAYS) != {}
    report = await audit_record(office.settings)
    assert report["sound"], report
    assert report["payloads"] == {"checked": 2, "erased": 4, "absent": 0}
    gone = await read_memory(office.settings, made.payloads[0].id)
    assert (gone["state"], gone["said"], gone["erased"]) == ("unsupported", None, True)
    assert (await rebuild_ledger(office.settings))["same"]


async def test_a_rebuilt_ledger_finds_the_same(office: Office) -> None:
    async with office.sidecar(), office.host() as host:
        (seen,) = await observe(host, "n0")
    await admit(office, MemoryProposed(text="the deploy timed out", evidence_ids=(seen,)))
    before = await indexed(office)
    assert before
    assert all(hits == [payload] for payload, _, hits in before)
    report = await rebuild_ledger(office.settings, replace=True)
    assert report["same"]
    assert report["payloads"]["unavailable"] == 0
    assert await indexed(office) == before


async def test_a_host_is_told_what_its_turn_should_know(office: Office) -> None:
    async with office.sidecar(), office.host() as host:
        shared: Any = {"source": "ls", "summary": "x", "visibility": "shareable"}
        seen = await host.observe(**shared)
    text = "the deploy timed out"
    memory = MemoryProposed(text=text, evidence_ids=(seen,), visibility="shareable")
    await admit(office, memory)
    async with office.sidecar(), office.host() as host:
        found = await host.context("why did the deploy fail", budget_bytes=8192)
        assert (found.status, [item.text for item in found.memories]) == ("compiled", [text])
        with pytest.raises(ContractError):
            await host.context("x", budget_bytes=10)


async def private(office: Office) -> list[str]:
    """Leave an identity and one item of each kind that are local only; return the items' ids."""
    async with office.sidecar(), office.host() as host:
        (seen,) = await observe(host, GONE)
        await set_identity(office.settings, "s", Identity(name="Aura", text=GONE))
    common: Any = {"text": GONE, "evidence_ids": (seen,)}
    kinds = (MemoryProposed, IntentionProposed, RecommendationProposed, WorkingStateProposed)
    belief = BeliefProposed(about="the deploy", **common)
    made = await admit(office, belief, *(kind(**common) for kind in kinds))
    assert made.counts.admitted == len(kinds) + 1
    return [payload.id for payload in made.payloads] + [seen]


async def test_what_is_local_reaches_no_host_whose_provider_is_not(office: Office) -> None:
    ids = await private(office)
    for locality, all_of_it in (("nonlocal", False), ("local", True)):
        async with office.sidecar() as cell:
            async with office.host(provider_locality=locality) as host:
                told = encode(await host.context(GONE))
            assert cell.gateway_url is not None
            wire = Wire(cell.gateway_url, office.credentials.seed)
            terms = {"authority": ANYTHING, "provider_locality": locality}
            assert (await wire.post("/v1/lease", terms)).status == 200
            answer = await wire.post("/v1/context", {"goal": GONE})
        assert (answer.status, answer.body["status"]) == (200, "compiled")
        for shown in (told, json.dumps(answer.body).encode()):
            assert f'"provider_locality":"{locality}"'.encode() in shown.replace(b": ", b":")
            assert is_in(shown, GONE) == all_of_it
            assert [each.encode() in shown for each in ids] == [all_of_it] * len(ids)


async def test_without_a_sidecar_a_context_says_so_and_invents_nothing(office: Office) -> None:
    async with office.sidecar() as cell:
        del cell
    async with office.host() as host:
        found = await host.context("deploy")
    assert found.status == "degraded"
    assert found.cause in ("no_lease", "disconnected", "no_responders", "timeout")
    assert (found.memories, found.identity, found.self_model_version_id) == ((), None, None)


async def test_operators_see_what_is_kept_and_why_not(
    office: Office, capsys: pytest.CaptureFixture[str]
) -> None:
    async with office.sidecar(), office.host() as host:
        (seen,) = await observe(host, "n0")
    made = await admit(
        office,
        MemoryProposed(text="it is so [/it]", evidence_ids=(seen,)),
        MemoryProposed(text="deleting is permitted", evidence_ids=(seen,)),
        SelfModelProposed(text="it can deploy", evidence_ids=(seen,), part="skills"),
    )
    kept, refused, waits = (payload.id for payload in made.payloads)
    for what, one in (("items", kept), ("rejected", refused), ("changes", waits)):
        listed = await list_memories(office.settings, what=what)  # type: ignore[arg-type]
        (only,) = listed["memories"]
        assert one in (only.get("item_id"), only.get("proposal_id"))
        show_memories(listed)
        assert ("it is so [/it]" in capsys.readouterr().out) == (one == kept)
        show_memory(await read_memory(office.settings, one))
        assert ("it is so [/it]" in capsys.readouterr().out) == (one == kept)
    assert (await read_memory(office.settings, refused))["code"] == "sets_authority"


async def test_an_operator_takes_back_what_was_derived(
    office: Office, capsys: pytest.CaptureFixture[str]
) -> None:
    async with office.sidecar(), office.host() as host:
        shared: Any = {"source": "ls", "summary": "x", "visibility": "shareable"}
        seen = await host.observe(**shared)
    text = "the deploy [/it] timed out"
    made = await admit(
        office, MemoryProposed(text=text, evidence_ids=(seen,), visibility="shareable")
    )
    item_id = made.payloads[0].id
    async with office.sidecar(), office.host() as host:
        for dry_run, said in ((True, "Would be taken back"), (False, "Taken back, by operator/")):
            assert [item.item_id for item in (await host.context()).memories] == [item_id]
            show_retraction(*await retract_memory(office.settings, item_id, dry_run=dry_run))
            told = capsys.readouterr().out
            assert told.startswith(said)
            assert text in told
        assert (await host.context()).memories == ()
        show_retraction(*await retract_memory(office.settings, item_id))
        assert "no longer already: retracted" in capsys.readouterr().out
        with pytest.raises(LedgerError, match="pmcl memories list"):
            await retract_memory(office.settings, "nothing")
    ended = (await list_memories(office.settings, ended=True))["memories"]
    assert [(each["state"], each["said"]["text"]) for each in ended] == [("retracted", text)]
    with pytest.raises(NotRunningError):
        await retract_memory(office.settings, item_id)
    assert (await rebuild_ledger(office.settings))["same"]


async def test_an_operator_configures_who_agents_are(office: Office, tmp_path: Path) -> None:
    file = tmp_path / "identity.toml"

    async def configured() -> int:
        identity = await anyio.to_thread.run_sync(read_identity, file)
        return (await set_identity(office.settings, "s", identity)).version

    file.write_text('name = "Aura"\ntext = "keeps the notes"\nideal_self = ["exact"]\n')
    async with office.sidecar():
        for version in (1, 1):
            assert await configured() == version
        file.write_text('name = "Aura"\nvisibility = "shareable"\n')
        assert await configured() == 2
        async with office.host() as host:
            found = (await host.context()).identity
            assert found is not None
            assert (found.version, found.name) == (2, "Aura")
    versions = (await list_identities(office.settings, "s"))["versions"]
    assert [each["version"] for each in versions] == [2, 1]
