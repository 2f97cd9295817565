"""Proposals as rows hold them, whatever became of them: items, rejections, changes that wait."""

from collections.abc import Callable
from typing import Any, Final, TypeVar

import msgspec

from pmcl.contracts import Proposed
from pmcl.store import Row

__all__ = ["read_proposal"]

S = TypeVar("S", bound=msgspec.Struct)

_ids = msgspec.json.Decoder(tuple[str, ...])
_said = msgspec.json.Decoder(Proposed)
_READ: Final[dict[str, Callable[[Any], Any]]] = {
    "contradicts": _ids.decode,
    "counterevidence_ids": _ids.decode,
    "erased": bool,
    "evidence_ids": _ids.decode,
    "simulated": bool,
}
"""How columns are read that SQLite has no type for."""


def read_proposal(kind: type[S], row: Row) -> S:
    """Return a row as a struct of its columns, with the payload, if it is there, as `said`."""
    plain = [name for name in kind.__struct_fields__ if name != "said"]
    columns = {name: _READ[name](row[name]) if name in _READ else row[name] for name in plain}
    said = None if row["content"] is None else _said.decode(row["content"])
    return kind(**columns, said=said)
