"""An operator sees what is held, on what, since when, and what would lift it."""

import msgspec
import pytest

from pmcl.contracts import LedgerError, Premortem, Resource
from pmcl.hosts import Host
from pmcl.ops.console import console
from pmcl.ops.evidence import read_evidence, show_evidence
from pmcl.ops.holds import list_holds, read_hold, show_hold, show_holds
from pmcl.ops.judge import judge_again, show_judgement
from pmcl.ops.settings import Settings
from tests.integration.sidecar.room import Room, proposal
from tests.unit.workers.desk import AUTHORITY, NOTES

pytestmark = pytest.mark.anyio

OTHER = Resource(kind="path", value="/project/\x1b[2J.txt", argument="path")


async def test_a_hold_is_listed_until_evidence_lifts_it(room: Room) -> None:
    config = room.config()
    scope = config.credentials.scope
    async with Host.connect(config) as host:
        held = await host.check(proposal("write_file", resources=(NOTES, OTHER)))
        assert held.evaluation is not None
        (hold,) = (await list_holds(room.settings, scope=scope))["holds"]
        assert hold.hold_id == held.evaluation.evaluation_id
        assert (hold.reason, hold.effect, hold.host) == ("plan.unmitigated", "mutation", "agent")
        assert (hold.server, hold.tool, hold.goal) == (
            "files",
            "write_file",
            "keep the notes in order",
        )
        assert hold.resources == (NOTES, OTHER)
        assert hold.said == held.revision_request
        assert "evidence about one of the resources" in hold.lifted_by
        with console.capture() as printed:
            show_holds(await list_holds(room.settings, scope=scope))
            show_hold(hold)
        shown = printed.get()
        assert NOTES.value in shown
        assert "\x1b" not in shown
        _, listed = shown.splitlines()[:2]
        assert "write_file" in listed
        assert "keep the notes in order" in listed
        seen = await host.observe(source="ls", summary="them", resources=(NOTES, OTHER))
        looked = Premortem(
            failure_mode="wrong_target", likelihood=0.1, mitigation="looked", evidence_ids=(seen,)
        )
        lifting = proposal("write_file", resources=(NOTES, OTHER), premortem=looked)
        assert (await host.check(lifting)).status == "passed"
    assert (await list_holds(room.settings, scope=scope))["holds"] == []
    released = await read_hold(room.settings, hold.hold_id)
    assert released.released_at is not None


async def test_a_reason_that_holds_nothing_is_told_beside_those_that_do(room: Room) -> None:
    config = room.config()
    async with Host.connect(config) as host:
        await host.check(proposal("write_file", resources=(NOTES,)))
    other = await list_holds(room.settings, scope=config.credentials.scope, reason="grounding.any")
    assert other == {"holds": [], "more": False, "others": {"plan.unmitigated": 1}}
    with console.capture() as printed:
        show_holds(other)
    assert printed.get() == "None is like that. There are: plan.unmitigated (1).\n"


async def test_a_hold_on_a_call_without_resources_says_which_call(room: Room) -> None:
    arguments = {"service": "db \u202e"}
    async with Host.connect(room.config()) as host:
        held = await host.check(proposal("restart", arguments=arguments, resources=()))
    assert held.evaluation is not None
    hold = await read_hold(room.settings, held.evaluation.evaluation_id)
    assert hold.arguments == arguments
    with console.capture() as printed:
        show_hold(hold)
    shown = printed.get()
    assert "calls with the same arguments (call:" in shown
    assert '{"service": "db \\u202e"}' in shown


@pytest.mark.parametrize("has_profile", [True, False])
async def test_every_reason_is_shown_with_who_lifts_it(room: Room, *, has_profile: bool) -> None:
    config = room.config(authority=msgspec.structs.replace(AUTHORITY, writable_roots=("/other",)))
    credentials = config.credentials
    place = "the authority that the host's program states"
    if has_profile:
        folder = room.settings.state_dir / "credentials"
        folder.mkdir(exist_ok=True)
        profile = folder / f"{credentials.scope}.{credentials.host}.toml"
        profile.touch()
        place = str(profile)
    async with Host.connect(config) as host:
        held = await host.check(proposal("write_file"))
        passed = await host.check(proposal())
    assert held.evaluation is not None
    assert passed.evaluation is not None
    hold = await read_hold(room.settings, held.evaluation.evaluation_id)
    assert hold.reasons == ("authority.path_outside_roots", "plan.unmitigated")
    told = f'the operator alone, in {place}: writable_roots with "{NOTES.value}", or a folder'
    with console.capture() as printed:
        show_hold(hold)
        show_judgement(await judge_again(room.settings, hold.hold_id))
    shown = printed.get()
    assert shown.count(told) == 2
    assert shown.count("authority.path_outside_roots") == 2
    assert (await judge_again(room.settings, passed.evaluation.evaluation_id))["lifted_by"] == []


async def test_a_hold_that_is_not_there_is_a_clear_error(room: Room) -> None:
    with pytest.raises(LedgerError, match=r"'nope' is not in this ledger"):
        await read_hold(room.settings, "nope")


async def test_a_ledger_that_is_not_there_is_a_clear_error(room: Room) -> None:
    with pytest.raises(LedgerError, match="there is no ledger yet"):
        await list_holds(Settings(state_dir=room.settings.state_dir / "elsewhere"))


async def test_evidence_is_shown_by_the_id_that_is_cited(room: Room) -> None:
    async with Host.connect(room.config()) as host:
        first = await host.observe(source="ls", summary="two files", resources=(OTHER,))
        token = "ghp_" + "0123456789abcdefghij" + "ABCDEFGHIJKLMNOP"
        seen = await host.observe(
            source="cat", summary="them", detail=f"token {token} \x1b[2J", evidence_ids=(first,)
        )
        await host.check(proposal("write_file"))  # whose watermark the ledger waits for
        shown = await read_evidence(room.settings, seen)
    assert (shown.source, shown.summary, shown.rests_on) == ("cat", "them", (first,))
    assert (await read_evidence(room.settings, first)).resources == (OTHER,)
    with console.capture() as printed:
        show_evidence(shown)
    told = printed.get()
    assert first in told
    assert token not in told
    assert "\x1b" not in told
    with pytest.raises(LedgerError, match="is not in this ledger"):
        await read_evidence(room.settings, "01ARZ3NDEKTSV4RRFFQ69G5FAV")
