"""Fitting: what goes into a context first, and what does not fit is counted.

No reply is longer than its budget, and nothing is left out that had room when its turn came.

Source: SPEC B6; P1, Provider-neutral lifecycle.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import msgspec

from pmcl.contracts import Context, IdentityShown, encode

__all__ = ["Piece", "fit"]

_encode = msgspec.json.Encoder(order="sorted").encode
Piece = tuple[str, Any]
"""Its section of the context, and itself."""


def fit(bare: Context, pieces: Sequence[Piece], budget_bytes: int) -> Context:
    """Return the context with as many pieces, in their order, as the budget has room for.

    Room is kept for counting all of them as left out. Where there is none for the operator's
    identity, its name alone is shown.

    Args:
        bare: what every context has, without sections.
        pieces: what may go in, what matters most first.
        budget_bytes: of the reply's JSON.
    """
    left = Counter(section for section, _ in pieces)
    room = budget_bytes - _size_counting(bare, left)
    identity = bare.identity
    if room < 0 and identity is not None:
        named = IdentityShown(version=identity.version, name=identity.name)
        bare = msgspec.structs.replace(bare, identity=named)
        room = budget_bytes - _size_counting(bare, left)
    taken: dict[str, list[Any]] = defaultdict(list)
    for section, piece in pieces:
        size = len(_encode(piece)) + (1 if taken[section] else 0)  # the comma before it
        if size <= room:
            room -= size
            taken[section].append(piece)
            left[section] -= 1
    sections = {section: tuple(found) for section, found in taken.items()}
    return msgspec.structs.replace(bare, **sections, omitted=dict(+left))


def _size_counting(bare: Context, left: Counter[str]) -> int:
    """Return the size with that many left out of each section: as large as the counts can get."""
    return len(encode(msgspec.structs.replace(bare, omitted=dict(left))))
