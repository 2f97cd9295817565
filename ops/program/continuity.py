"""Continuity: kills lose nothing, do nothing twice, and get round no hold."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from pmcl.ops.intervals import percentile
from pmcl.ops.program.figure import Figure, amount, share
from pmcl.ops.program.kills import Killed
from pmcl.ops.program.tries import Tries
from pmcl.ops.program.worked_host import BATCH, Done, items_of, read_records
from pmcl.ops.settings import Settings
from pmcl.store import load_queries, open_reader

__all__ = ["After", "continuity_figures", "read_after"]

_queries = load_queries("pmcl.ops.program", "continuity")
_USED: Final = ("ran", "claimed")


class After(msgspec.Struct, frozen=True, kw_only=True):
    """What a working host recorded, beside what the ledger holds of it.

    Attributes:
        evidence: key and evidence id of each row.
        verdicts: call id to evaluation id and status.
        outcomes: evaluation ids with a current outcome, as often as they have one.
        audits: audit ids that the ledger has, of those that the host recorded.
    """

    done: list[Done]
    items: int
    evidence: list[tuple[str, str]]
    verdicts: dict[str, tuple[str, str]]
    outcomes: list[str]
    audits: set[str]


async def read_after(settings: Settings, killed: Killed) -> After:
    """Return what is known after the kills, all of it from files."""
    job = killed.job
    own = {"scope": job.config.credentials.scope, "host": job.config.credentials.host}
    done = read_records(job.records)
    audited = [record.id for record in done if record.what == "audited"]
    async with open_reader(settings.ledger_path) as ledger:
        evidence = await ledger.all(_queries.evidence, **own)
        verdicts = await ledger.all(_queries.verdicts, **own)
        outcomes = await ledger.all(_queries.outcomes, **own)
        audits = [await ledger.one(_queries.audit, audit_id=each) for each in audited]
    return After(
        done=done,
        items=job.items,
        evidence=[(row["key"], row["evidence_id"]) for row in evidence],
        verdicts={row["call_id"]: (row["evaluation_id"], row["status"]) for row in verdicts},
        outcomes=[row["evaluation_id"] for row in outcomes],
        audits={row["audit_id"] for row in audits if row is not None},
    )


def continuity_figures(
    killed: Killed, after: After, tries: Mapping[str, Tries], starts_ms: Sequence[float]
) -> list[Figure]:
    """Return the figures of the kills, of the outages, and of the starts."""
    how = (
        f"a working host was killed {killed.host_kills} times and its sidecar"
        f" {killed.sidecar_kills} times; what the host wrote down is compared with the ledger"
    )
    return [
        share("continuity", name, count, n, how) for name, (count, n) in _compared(after).items()
    ] + [
        *(share("continuity", name, one.ran, one.n, one.how) for name, one in tries.items()),
        amount(
            "continuity",
            "start until ready, p50",
            percentile(starts_ms, 0.5),
            "ms",
            len(starts_ms),
            "of the sidecar's process with its bus, most of them after a kill",
        ),
    ]


def _compared(after: After) -> dict[str, tuple[int, int]]:
    """Return count and number of cases of each line; but for the last, 0 is right."""
    acked = {(record.key, record.id) for record in after.done if record.what == "observed"}
    used = [record for record in after.done if record.what in _USED]
    ran = Counter(record.item for record in after.done if record.what == "ran")
    audited = {record.id for record in after.done if record.what == "audited"}
    held = [call for call in after.verdicts if call.startswith("hold-")]
    keys = Counter(key for key, _ in after.evidence)
    stored, outcomes = set(after.evidence), Counter(after.outcomes)
    lifts = [item for item in items_of(after.items) if item.startswith("lift-")]
    made = _made(after.items)
    return {
        "acknowledged observations that were lost": (
            sum(pair not in stored for pair in acked),
            len(acked),
        ),
        "observations stored twice, or never made": (
            sum(count - (key in made) for key, count in keys.items()),
            len(after.evidence),
        ),
        "calls that ran without one outcome": (
            sum(outcomes[record.id] != 1 for record in used),
            len(used),
        ),
        "inspections that ran unjudged without an audit receipt": (
            len(audited - after.audits),
            len(audited),
        ),
        "tools that ran twice": (sum(count > 1 for count in ran.values()), len(ran)),
        "held calls that passed or ran": (
            sum(after.verdicts[call][1] != "held" or call in ran for call in held),
            len(held),
        ),
        "held calls that ran once evidence was shown": (
            sum(item in {record.item for record in used} for item in lifts),
            len(lifts),
        ),
    }


def _made(items: int) -> set[str]:
    """Return every key that the host gives in its life."""
    keys = set()
    for item in items_of(items):
        if item.startswith("observe-"):
            keys |= {f"{item}.{number}" for number in range(BATCH)}
        elif item.startswith("lift-"):
            keys.add(f"{item}.seen")
    return keys
