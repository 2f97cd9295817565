"""Dead letters are listed, shown and redriven; each is dealt with once."""

from collections.abc import Callable
from typing import Any

import anyio
import pytest

from pmcl.bus import DEADLETTERS
from pmcl.contracts import EvidenceRecorded, LetterRedriven, Refused
from pmcl.hosts import Host
from pmcl.ops.asking import operator_label
from pmcl.ops.console import console
from pmcl.ops.dead_letters import (
    DeadLetterNotFoundError,
    Wanted,
    list_letters,
    read_letter,
    show_letter,
    show_letters,
)
from pmcl.ops.redriving import RedriveReport, redrive, show_redriven
from pmcl.workers import Incoming, ObserveWorker, streams
from tests.integration.sidecar.plain import PlainHost
from tests.integration.sidecar.room import Room

pytestmark = pytest.mark.anyio

SECRET = "ghp_0123456789abcdefghijABCDEFGHIJ456789"


@pytest.fixture
def cure(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Observations of the source `poison` fail until they are cured."""
    prepare = ObserveWorker.prepare
    poisonous = True

    async def poisoned(worker: ObserveWorker, incoming: Incoming) -> Any:
        if poisonous and incoming.body.source == "poison":
            raise ZeroDivisionError
        return await prepare(worker, incoming)

    def cured() -> None:
        nonlocal poisonous
        poisonous = False

    monkeypatch.setattr(ObserveWorker, "prepare", poisoned)
    monkeypatch.setattr(streams, "_RETRY_MS", 5)
    return cured


async def dead(room: Room, count: int = 1) -> tuple[str, list[int]]:
    """The scope and the numbers of so many new dead letters."""
    before = (await room.stream(DEADLETTERS)).last
    config = room.config()
    async with Host.connect(config) as host:
        for number in range(count):
            await host.observe(source="poison", summary=f"number {number}")
        await room.event(config.credentials.scope, Refused, count)
    return config.credentials.scope, list(range(before + 1, before + 1 + count))


async def redriven(room: Room, wanted: Wanted, *, dry_run: bool = False) -> RedriveReport:
    report = RedriveReport(dry_run=dry_run)
    await redrive(room.settings, wanted, report)
    return report


async def test_a_letter_is_listed_and_shown_whole(room: Room, cure: Callable[[], None]) -> None:
    scope, (number,) = await dead(room)
    found = await list_letters(room.settings, Wanted(sequence=number))
    (letter,) = found["letters"]
    assert (letter.worker, letter.reason, letter.attempts) == ("observe", "ZeroDivisionError", 5)
    assert letter.subject == f"pmcl.v1.observation.{scope}.agent"
    assert letter.at > 1_700_000_000_000
    assert letter.headers["Pmcl-Number"] == "1"
    shown = await read_letter(room.settings, number)
    assert shown["content"]["summary"] == "number 0"
    with console.capture() as printed:
        show_letters(found)
        show_letter(shown)
    assert "number 0" in printed.get()
    other = await list_letters(room.settings, Wanted(worker="outcom"))
    assert other["letters"] == []
    with console.capture() as printed:
        show_letters(other)
    assert "None is like that. There are: observe ZeroDivisionError (" in printed.get()
    with pytest.raises(DeadLetterNotFoundError, match="999999"):
        await read_letter(room.settings, 999_999)


async def test_a_secret_of_a_letter_is_not_shown(
    room: Room, plain: PlainHost, cure: Callable[[], None]
) -> None:
    observation = plain.observation(source="poison", summary=f"the key is {SECRET}")
    await plain.tell("observation", observation)
    await room.event(plain.scope, Refused)
    number = (await room.stream(DEADLETTERS)).last
    assert SECRET not in str(await read_letter(room.settings, number))


async def test_a_cured_letter_is_dealt_with_once(room: Room, cure: Callable[[], None]) -> None:
    scope, (number,) = await dead(room)
    wanted = Wanted(sequence=number)
    poisoned = await redriven(room, wanted)
    assert (poisoned.done, poisoned.left) == (0, {"ledger_unavailable": 1})
    cure()
    before = await room.counts(scope)
    dry = await redriven(room, wanted, dry_run=True)
    assert (dry.found, dry.done, dry.left) == (1, 1, {})
    assert await room.counts(scope) == before
    report = await redriven(room, wanted)
    assert (report.found, report.done, report.repeats, report.left) == (1, 1, 0, {})
    (recorded,) = await room.events(scope, EvidenceRecorded)
    (said,) = await room.events(scope, LetterRedriven)
    assert (said.sequence, said.worker, said.by) == (
        number, "observe", f"operator/{operator_label()}",
    )  # fmt: skip
    assert said.cause == recorded.cause
    assert recorded.cause.number == 1
    assert (await redriven(room, wanted)).found == 0
    with console.capture() as printed:
        show_redriven(report)
    assert "1 were dealt with" in printed.get()


async def test_a_redrive_that_was_broken_off_does_nothing_twice(
    room: Room, cure: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    scope, numbers = await dead(room, 3)
    cure()
    wanted = Wanted(reason="ZeroDivisionError")
    report = RedriveReport()

    async def dies(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError

    # Between the commit and the deletion: the worst moment.
    with monkeypatch.context() as patched:
        patched.setattr("pmcl.ops.redriving.delete_message", dies)
        with pytest.raises(ZeroDivisionError):
            await redrive(room.settings, Wanted(sequence=numbers[0]), report)
    assert report.done == 1
    again = await redriven(room, wanted)
    assert again.repeats == 1
    assert len(await room.events(scope, EvidenceRecorded)) == 3
    said = await room.events(scope, LetterRedriven)
    assert sorted(each.sequence for each in said) == numbers
    left = await list_letters(room.settings, wanted)
    assert not {letter.sequence for letter in left["letters"]} & set(numbers)


async def test_limit_and_rate_bound_a_redrive(room: Room, cure: Callable[[], None]) -> None:
    await dead(room, 2)
    cure()
    found = await list_letters(room.settings, Wanted(limit=1, worker="observe"))
    assert (len(found["letters"]), found["more"]) == (1, True)
    report = RedriveReport()
    with anyio.move_on_after(1):  # the second one would be due in ten minutes
        await redrive(room.settings, Wanted(worker="observe"), report, per_second=1 / 600)
    assert (report.found >= 2, report.done + report.repeats) == (True, 1)
