"""`pmcl evidence`: one observation as it was stored, and where it comes from."""

from collections.abc import Iterator
from typing import Final

import msgspec

from pmcl.contracts import LedgerError, Observation, Resource
from pmcl.ops.console import shown_time, shown_whole
from pmcl.ops.lines import print_lines, shown_resources
from pmcl.ops.reach import check_ledger
from pmcl.ops.settings import Settings
from pmcl.store import Row, load_queries, open_reader

__all__ = ["EvidenceView", "read_evidence", "show_evidence"]

_queries = load_queries("pmcl.ops", "evidence")
_ids = msgspec.json.Decoder(tuple[str, ...])
_observation = msgspec.json.Decoder(Observation)
_KEPT: Final = ("scope", "evidence_id", "host", "key", "generation", "source", "trust", "domain")


class EvidenceView(msgspec.Struct, frozen=True, kw_only=True):
    """One observation as an operator sees it.

    Attributes:
        rests_on: the evidence that it names as its own.
        erased: that its content is gone for good; `summary` and what follows are `None` then, and
            where the content was lost with an older copy.
        summary, detail: redacted before they were stored.
    """

    scope: str
    evidence_id: str
    host: str
    key: str
    generation: int
    source: str
    trust: str
    domain: str
    observed_at: int
    rests_on: tuple[str, ...]
    erased: bool
    summary: str | None = None
    detail: str | None = None
    provenance: str | None = None
    resources: tuple[Resource, ...] | None = None


async def read_evidence(settings: Settings, evidence_id: str) -> EvidenceView:
    """Return one observation.

    Raises:
        LedgerError: there is no ledger, or no such evidence in it.
    """
    check_ledger(settings)
    async with open_reader(settings.ledger_path) as reader:
        row = await reader.one(_queries.one, evidence_id=evidence_id)
    if row is None:
        raise LedgerError(f"evidence {evidence_id!r} is not in this ledger")
    return _view(row)


def _view(row: Row) -> EvidenceView:
    view = EvidenceView(
        **{name: row[name] for name in _KEPT},
        observed_at=row["observed_at"],
        rests_on=_ids.decode(row["evidence_ids"]),
        erased=bool(row["erased"]),
    )
    if row["content"] is None:
        return view
    stored = _observation.decode(row["content"])
    return msgspec.structs.replace(
        view,
        summary=stored.summary,
        detail=stored.detail,
        provenance=stored.provenance,
        resources=stored.resources,
    )


def show_evidence(found: EvidenceView) -> None:
    """Print one observation for people."""
    print_lines(_lines(found))


def _lines(found: EvidenceView) -> Iterator[tuple[str, str]]:
    yield "evidence", found.evidence_id
    yield "seen", shown_time(found.observed_at)
    yield "host", f"{found.scope}/{found.host}, generation {found.generation}"
    yield "source", shown_whole(found.source)
    yield "trust", found.trust
    for evidence_id in found.rests_on:
        yield "rests on", evidence_id
    if found.summary is None:
        yield "content", "erased" if found.erased else "not there any more"
        return
    if found.resources:
        yield "about", shown_resources(found.resources)
    if found.provenance:
        yield "from", shown_whole(found.provenance)
    yield "summary", shown_whole(found.summary)
    if found.detail is not None:
        yield "detail", shown_whole(found.detail)
