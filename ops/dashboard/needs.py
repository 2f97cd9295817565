"""What needs the operator: each line says what is so, and what to do about it.

The words are here, what they are about is asked in `looking`.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Literal

import msgspec

from pmcl.ops.console import shown_time
from pmcl.ops.dashboard.streams import Streams
from pmcl.ops.dashboard.templates import counted
from pmcl.ops.findings import Finding
from pmcl.ops.readiness import Readiness, told_defects
from pmcl.ops.record.verified import Verified
from pmcl.ops.settings import Settings
from pmcl.ops.status import Standing

__all__ = [
    "NO_SIDECAR",
    "Counts",
    "Need",
    "of_files",
    "of_ledger",
    "of_letters",
    "of_parts",
    "of_streams",
    "silent_gateway",
    "silent_server",
    "unreadable",
]

_RUNBOOK: Final = "docs/ops/runbook.md"
_PARTS: Final = {
    "connection": "The sidecar has lost its connection to the server.",
    "intake": "What hosts send is not taken: observations are refused, outcomes wait with them.",
    "relay": "What is committed does not reach LOG.",
    "requests": "Requests of one kind all end in a defect of the sidecar: they are held.",
    "writer": "The ledger cannot be written: nothing is decided, every check is held.",
}


class Need(msgspec.Struct, frozen=True, kw_only=True):
    """One line.

    Attributes:
        kind: `wrong`: something does not work; `waits`: somebody's word or work is waited for.
        told: what is so.
        remedy: what to do.
        page: the path of the page where it is seen or done; "" where a command alone does it.
    """

    kind: Literal["wrong", "waits"]
    told: str
    remedy: str
    page: str = ""


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """What the ledger has that waits.

    Attributes:
        asked_at: when the oldest pending approval was asked for.
        lost_messages: of the last day.
        failing_hosts: whose last reflection failed.
        slow_erasures: that go on for more than an hour.
    """

    open_holds: int = 0
    asked_at: int | None = None
    parked_outcomes: int = 0
    lost_messages: int = 0
    failing_hosts: int = 0
    slow_erasures: int = 0


def _wrong(told: str, remedy: str, page: str = "") -> Need:
    return Need(kind="wrong", told=told, remedy=remedy, page=page)


def _waits(told: str, remedy: str, page: str = "") -> Need:
    return Need(kind="waits", told=told, remedy=remedy, page=page)


NO_SIDECAR: Final = _wrong(
    "No sidecar runs: nobody judges, and hosts go on with local inspections alone.",
    "Start it: pmcl up. Its first line says what hinders it.",
)


def silent_server(settings: Settings) -> Need:
    """Return that the server does not answer."""
    told = (
        "The nats-server does not answer: everything but local inspections is held. Nothing that "
        "was acknowledged is lost; what is committed waits, and goes on when it answers."
    )
    stays = f"If this stays for a minute: pmcl doctor, then {_RUNBOOK}, PmclPartNotWorking."
    if settings.server_url is not None:
        return _wrong(told, f"Start the server of {settings.server_url} again. {stays}", "/queues")
    return _wrong(told, f"Wait: the sidecar starts it again within 5 s. {stays}", "/queues")


def silent_gateway(pid: int | None) -> Need:
    """Return that the process is there and does not say that it lives."""
    return _wrong(
        f"The sidecar's process {pid} is there, but does not answer.",
        f"If this stays for a minute, it is stuck: start it again ({_RUNBOOK}, PmclDown).",
    )


def unreadable(what: str, error: Exception) -> Need:
    """Return that something cannot be read, and why."""
    return _wrong(f"{what} cannot be read: {error}.", f"pmcl doctor, then {_RUNBOOK}.")


def of_parts(readiness: Readiness) -> Iterator[Need]:
    """Yield each part of the sidecar that does not do its work, and what it met of defects."""
    for part, does_work in readiness.parts.items():
        if not does_work:
            told = _PARTS.get(part, f"The sidecar's {part} does not do its work.")
            yield _wrong(told, f"pmcl doctor, then {_RUNBOOK}, PmclPartNotWorking: {part}.")
    if told := told_defects(readiness.defects):
        remedy = f"What they asked for was held. {_RUNBOOK}, PmclDefects; please report it."
        yield _wrong(f"{told}.", remedy)


def of_files(findings: Iterable[Finding]) -> Iterator[Need]:
    """Yield what `pmcl doctor` finds wrong."""
    for finding in findings:
        if finding.state == "wrong":
            yield _wrong(f"{finding.told} ({finding.check}).", finding.remedy)  # one can copy it


def of_streams(streams: Streams) -> Iterator[Need]:
    """Yield streams that are gone, and dead letters."""
    for name, state in streams.states.items():
        if state is None:
            yield _wrong(f"The stream {name} is gone.", "Stop pmcl up and start it again.")
    yield from of_letters(streams.letters)


def of_letters(letters: Mapping[str, int], when: str = "") -> Iterator[Need]:
    """Yield that there are dead letters, by worker; `when` says when that was known."""
    if count := sum(letters.values()):
        workers = ", ".join(letters)
        yield _waits(
            f"{counted(count, 'dead letter')}{when}: what worker {workers} could not deal with.",
            "See the reason, mend its cause, then redrive. As commands: pmcl deadletters list, "
            "pmcl deadletters redrive --dry-run.",
            "/deadletters",
        )


def of_ledger(standing: Standing, verified: Verified | None, counts: Counts) -> Iterator[Need]:
    """Yield what the ledger knows: the stop, a broken record, and what waits for a word."""
    if standing.stopped_at is not None:
        since = shown_time(standing.stopped_at)
        told = f"Stopped {since} by {standing.stopped_by}: only local inspections go on."
        yield _wrong(told, "When it may go on: resume, here or with pmcl resume.", "/stop")
    if verified is not None and not (verified.sound and verified.same):
        remedy = f"pmcl audit verify says where, then {_RUNBOOK}, Is the record what it was?"
        yield _wrong(f"The record is not what it was, found {shown_time(verified.at)}.", remedy)
    if standing.pending_approvals:
        told = f"Your word on {counted(standing.pending_approvals, 'call')}"
        since = shown_time(counts.asked_at)
        remedy = "Grant or deny. As commands: pmcl approvals list, show, grant, deny."
        yield _waits(f"{told}, asked for since {since}.", remedy, "/approvals")
    if counts.open_holds:
        yield _waits(
            f"{counted(counts.open_holds, 'open hold')}.",
            "No command lifts one; each says what its host has to show.",
            "/holds",
        )
    yield from _of_work(counts)


def _of_work(counts: Counts) -> Iterator[Need]:
    if counts.lost_messages:
        told = f"{counted(counts.lost_messages, 'observation')} lost by the server's store today."
        yield _waits(told, f"{_RUNBOOK}, The server's store was lost, damaged or put back.")
    if counts.parked_outcomes:
        told = f"{counted(counts.parked_outcomes, 'outcome')} without a known verdict."
        yield _waits(told, "Nothing is dropped; pmcl outcomes list says whose.")
    if counts.failing_hosts:
        told = f"Reflection failed last time for {counted(counts.failing_hosts, 'host')}."
        yield _waits(told, "Nothing else waits for it; pmcl reflections list says why.", "/work")
    if counts.slow_erasures:
        told = f"{counted(counts.slow_erasures, 'erasure')} not done after an hour."
        yield _waits(told, f"{_RUNBOOK}, PmclErasureUnfinished.", "/work")
