"""Which evidence an adapter has recorded of which resource, so that later calls can cite it."""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Final

from pmcl.contracts import Resource, limits

__all__ = ["SeenEvidence"]

_MOST: Final = 4096


class SeenEvidence:
    """The newest evidence of each resource, and who showed it; the oldest of 4096 are forgotten."""

    def __init__(self) -> None:
        self._newest: OrderedDict[tuple[str, str], str] = OrderedDict()
        self._sources: OrderedDict[str, str] = OrderedDict()

    def add(self, resources: Sequence[Resource], evidence_id: str, source: str) -> None:
        """Know this evidence as the newest about each of the resources."""
        self._sources[evidence_id] = source
        while len(self._sources) > _MOST:
            self._sources.popitem(last=False)
        for resource in resources:
            key = (resource.kind, resource.value)
            self._newest[key] = evidence_id
            self._newest.move_to_end(key)
        while len(self._newest) > _MOST:
            self._newest.popitem(last=False)

    def shown_by(self, evidence_id: str) -> str | None:
        """Return what a model knows this evidence as, `None` where it was not recorded here."""
        source = self._sources.get(evidence_id)
        return None if source is None else f"the output of {source}"

    def about(self, resources: Sequence[Resource]) -> tuple[str, ...]:
        """Return ids about the resources, at most as many as a call may cite."""
        keys = [(resource.kind, resource.value) for resource in resources]
        known = dict.fromkeys(self._newest[key] for key in keys if key in self._newest)
        return tuple(known)[: limits.EVIDENCE_IDS_MAX]
