"""What waits in the outboxes is listed, and sent again without anything being done twice."""

from pathlib import Path

import anyio
import pytest
from ulid_transform import ulid_now

from pmcl.contracts import NumberClosed, Outcome, OutcomeLinked, limits
from pmcl.hosts import Host, HostConfig, Verdict, new_profile, resend
from pmcl.hosts.clock import wall_ms
from pmcl.hosts.outstanding import claim_of
from pmcl.ops.console import console
from pmcl.ops.known_hosts import HostNotFoundError, find_host
from pmcl.ops.outbox import list_outboxes, replay_outboxes, show_outboxes, show_replayed
from pmcl.ops.parking import list_rows, park_rows, release_rows, show_rows
from pmcl.outbox import open_host_file
from tests.integration.sidecar.room import Room, proposal

pytestmark = pytest.mark.anyio


def known(room: Room) -> HostConfig:
    """A host whose credentials and profile lie where `pmcl host add` puts them."""
    config = room.config()
    folder = room.settings.state_dir / "credentials"
    folder.mkdir(exist_ok=True)
    path = folder / f"{config.credentials.scope}.{config.credentials.host}.json"
    config.credentials.save(path)
    path.with_suffix(".toml").write_text(new_profile([Path("/project")]))
    return config


async def left_behind(config: HostConfig, verdict: Verdict) -> None:
    """An outcome that a process wrote down and could not send, and a call that it died in."""
    async with open_host_file(config.file) as file:
        await file.claim(claim_of(verdict))
        await file.finish(
            Outcome(
                outcome_id=ulid_now(),
                evaluation_id=verdict.claim_id,
                proposal_hash=verdict.proposal_hash,
                status="succeeded",
                finished_at=wall_ms(),
            )
        )


async def test_what_a_host_left_is_listed_sent_and_receipted(room: Room) -> None:
    config = known(room)
    name = f"{config.credentials.scope}/{config.credentials.host}"
    async with Host.connect(config) as host:
        verdict = await host.check(proposal())
        host._session.outstanding.remove(verdict)
    await left_behind(config, verdict)
    before = await list_outboxes(room.settings)
    (mine,) = [found for found in before.hosts if found.host == name]
    assert (mine.rows, mine.unsent, mine.open_claims) == (1, 1, 0)
    report = await replay_outboxes(room.settings, name)
    (sent,) = report.hosts
    assert (sent.sent, sent.receipted, sent.rows, sent.error) == (1, 1, 0, None)
    linked = await room.event(config.credentials.scope, OutcomeLinked)
    assert linked.outcome.status == "succeeded"
    again = await replay_outboxes(room.settings, name)
    assert (again.hosts[0].sent, again.hosts[0].rows) == (0, 0)
    with console.capture() as printed:
        show_outboxes(before)
        show_replayed(report)
    assert "1 sent, 1 of them in the ledger, 0 left" in printed.get()


async def test_an_open_claim_is_told(room: Room) -> None:
    config = known(room)
    async with Host.connect(config) as host:
        proposed = proposal()
        verdict = await host.check(proposed)
        async with host.dispatch(verdict, proposed):
            found = (await list_outboxes(room.settings)).hosts
            (mine,) = [each for each in found if each.file == str(config.file)]
            assert mine.open_claims == 1
            assert (mine.claims[0].call_id, mine.claims[0].kind) == (verdict.call_id, "outcome")
            assert mine.claims[0].expires_at - mine.claims[0].claimed_at <= limits.VERDICT_TTL_MS


async def test_a_running_sidecars_journal_reaches_log(room: Room) -> None:
    async with Host.connect(room.config()) as host:
        await host.check(proposal())
    with anyio.fail_after(10):
        while (await list_outboxes(room.settings)).waiting != 0:  # noqa: ASYNC110 - the relay
            await anyio.sleep(0.01)


async def test_a_host_without_credentials_here_is_told_by_name(room: Room) -> None:
    config = room.config()
    async with Host.connect(config):
        pass
    name = f"{config.credentials.scope}/{config.credentials.host}"
    (found,) = (await replay_outboxes(room.settings, name)).hosts
    assert found.error is not None
    assert name in found.error
    with pytest.raises(HostNotFoundError, match="'nobody/here' has no file"):
        await replay_outboxes(room.settings, "nobody/here")


async def test_a_parked_outcome_lets_the_others_on_and_is_linked_once_released(room: Room) -> None:
    config = known(room)
    name = f"{config.credentials.scope}/{config.credentials.host}"
    async with Host.connect(config) as host:
        verdicts = [await host.check(proposal()) for _ in range(2)]
        for verdict in verdicts:
            host._session.outstanding.remove(verdict)
    for verdict in verdicts:
        await left_behind(config, verdict)
    first, second = (await list_rows(room.settings, name)).waiting
    parked = await park_rows(room.settings, name, [first.number])
    assert [row.id for row in parked.parked] == [first.id]
    (sent,) = (await replay_outboxes(room.settings, name)).hosts
    assert (sent.receipted, sent.rows, sent.parked) == (2, 0, 1)
    scope = config.credentials.scope
    linked = await room.event(scope, OutcomeLinked)
    assert linked.outcome.outcome_id == second.id
    async with Host.connect(config) as host:  # no number is missing: the host is judged
        await host.observe(source="ls", summary="the folder")
        verdict = await host.check(proposal())
        assert verdict.status == "passed"
        host._session.outstanding.remove(verdict)
    released = await release_rows(room.settings, name)
    assert (released.waiting[-1].id, released.parked) == (first.id, ())
    await replay_outboxes(room.settings, name)
    linked = await room.event(scope, OutcomeLinked, 2)
    assert linked.outcome.outcome_id == first.id
    with console.capture() as printed:
        show_rows(parked)
        show_rows(await list_rows(room.settings, name))
    assert first.id in printed.get()
    with pytest.raises(HostNotFoundError, match=r"'\.\./ledger' has no file"):
        await list_rows(room.settings, "../ledger")


async def test_parking_what_the_ledger_has_links_it_once(room: Room) -> None:
    config = known(room)
    name = f"{config.credentials.scope}/{config.credentials.host}"
    async with Host.connect(config) as host:
        verdict = await host.check(proposal())
        host._session.outstanding.remove(verdict)
    await left_behind(config, verdict)
    (row,) = (await list_rows(room.settings, name)).waiting
    await resend(find_host(room.settings, name), None)  # it arrives, and no receipt comes back
    await room.event(config.credentials.scope, OutcomeLinked)
    await park_rows(room.settings, name, [row.number])
    await release_rows(room.settings, name)
    (sent,) = (await replay_outboxes(room.settings, name)).hosts
    assert (sent.rows, sent.parked) == (0, 0)
    closed = await room.event(config.credentials.scope, NumberClosed)
    assert closed.reason == "repeat"
    assert len(await room.events(config.credentials.scope, OutcomeLinked)) == 1
