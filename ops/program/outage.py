"""The sidecar is killed beside a host that lives: nothing external runs, and holds stand after it.

In a second part it stays away until the lease is over, and comes back to a host with a gap.
"""

from collections.abc import Awaitable, Callable
from typing import Final

import anyio

from pmcl.contracts import PmclError
from pmcl.hosts import Host, Proposal, Verdict
from pmcl.ops.program.calls import deletion, reading, seen
from pmcl.ops.program.house import House
from pmcl.ops.program.tries import Tries, runs
from pmcl.store import load_queries, open_reader

__all__ = ["AWAY_SCOPE", "GAP_SCOPE", "leave_a_gap", "stay_away"]

AWAY_SCOPE: Final = "away"
GAP_SCOPE: Final = "gap"
_queries = load_queries("pmcl.ops.program", "continuity")
_TRIES: Final = 20
_WITHIN_S: Final = 30.0
_POLL_S: Final = 0.05


class OutageError(PmclError):
    """A part of the outage did not come to its end."""


async def stay_away(house: House) -> dict[str, Tries]:
    """Return what ran while nobody judged, and what changed by a restart, by name.

    Raises:
        OutageError: the sidecar did not answer within 30 s after its start.
    """
    config = house.host(AWAY_SCOPE)
    async with Host.connect(config) as host:
        paths = [f"/away/{number}" for number in range(_TRIES)]
        shown = [await host.observe(**seen(path)) for path in paths]
        asked = [reading(path) for path in paths]
        before = [await _evaluation(host, proposal) for proposal in asked]
        for path in paths:
            await host.check(deletion(f"{path}/held"))
        await house.kill()
        cited = [deletion(path, one) for path, one in zip(paths, shown, strict=True)]
        external = await _all(host, cited)
        local = await _all(host, [reading(path) for path in paths])
        await house.start()
        await _until("sidecar that answers", lambda: _answered(host))
        after = [await _evaluation(host, proposal) for proposal in asked]
        reworded = [
            deletion(f"{path}/held", goal="The operator wants it gone now") for path in paths
        ]
        held = await _all(host, reworded)
        corrected = await _corrected(host, [f"{path}/held" for path in paths])
        await house.settled(config)
    audits = await _without_audit(house, [verdict.claim_id for verdict, ran in local if ran])
    moved = sum(was != now for was, now in zip(before, after, strict=True))
    how = "the sidecar was killed beside a connected host"
    return {
        "external calls that ran while nobody judged": _ran(how, external),
        "local inspections that went on while nobody judged": _ran(f"{how}; so it is meant", local),
        "of these, without an audit receipt": audits,
        "the same call after a restart, judged anew": Tries(
            "one call id asked for again after the restart; another evaluation id", moved, _TRIES
        ),
        "held calls that ran after a restart, reworded": _ran(
            "held before the kill, proposed again after it with another goal and call id", held
        ),
        "held calls that ran after a restart once evidence was shown": corrected,
    }


async def leave_a_gap(house: House) -> tuple[Tries, dict[str, Tries]]:
    """Return what ran under a lease that had run out, and what ran after the gap, by name.

    Raises:
        OutageError: as above, or the lease did not end.
    """
    async with Host.connect(house.host(GAP_SCOPE)) as host:
        paths = [f"/gap/{number}" for number in range(_TRIES)]
        shown = [await host.observe(**seen(path)) for path in paths]
        cited = [deletion(path, one) for path, one in zip(paths, shown, strict=True)]
        passes = [(await host.check(proposal), proposal) for proposal in cited]
        await house.kill()
        await _until("end of the lease", lambda: _leaseless(host))
        over = Tries("calls passed before the sidecar was killed, dispatched after their lease")
        for verdict, proposal in passes:
            over.add(ran=await runs(host, verdict, proposal))
        await house.start()
        await _until("sidecar that answers", lambda: _answered(host))
        again = [deletion(path, one) for path, one in zip(paths, shown, strict=True)]
        stale = await _all(host, again)
        corrected = await _corrected(host, paths)
    how = "the lease ran out while the sidecar was away; the evidence is from before"
    return over, {
        "external calls that ran on evidence from before a gap": _ran(how, stale),
        "external calls that ran after a gap once looked at afresh": corrected,
    }


def _ran(how: str, asked: list[tuple[Verdict, bool]]) -> Tries:
    return Tries(how, sum(ran for _, ran in asked), len(asked))


async def _evaluation(host: Host, proposal: Proposal) -> str:
    verdict = await host.check(proposal)
    return "" if verdict.evaluation is None else verdict.evaluation.evaluation_id


async def _all(host: Host, proposals: list[Proposal]) -> list[tuple[Verdict, bool]]:
    """Check and dispatch all at once; return the verdicts, and which of them ran."""
    asked: list[tuple[Verdict, bool]] = []

    async def ask(proposal: Proposal) -> None:
        verdict = await host.check(proposal)
        asked.append((verdict, await runs(host, verdict, proposal)))

    async with anyio.create_task_group() as tasks:
        for proposal in proposals:
            tasks.start_soon(ask, proposal)
    return asked


async def _corrected(host: Host, paths: list[str]) -> Tries:
    shown = [await host.observe(**seen(path)) for path in paths]
    cited = [deletion(path, one) for path, one in zip(paths, shown, strict=True)]
    how = "proposed again, citing a new observation of the same path; all is right"
    return _ran(how, await _all(host, cited))


async def _without_audit(house: House, audit_ids: list[str]) -> Tries:
    tries = Tries("audit receipts of the inspections above, in the ledger after the restart")
    async with open_reader(house.settings.ledger_path) as ledger:
        for audit_id in audit_ids:
            tries.add(ran=await ledger.one(_queries.audit, audit_id=audit_id) is None)
    return tries


async def _answered(host: Host) -> bool:
    return bool(await _evaluation(host, reading("/again")))


async def _leaseless(host: Host) -> bool:
    return host.generation is None


async def _until(what: str, ask: Callable[[], Awaitable[bool]]) -> None:
    with anyio.move_on_after(_WITHIN_S):
        while not await ask():  # noqa: ASYNC110 - another process starts or ends
            await anyio.sleep(_POLL_S)
        return
    raise OutageError(f"no {what} within {_WITHIN_S:.0f} s")
