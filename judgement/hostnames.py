"""One host, one spelling: what two names share after folding is the same host, or none at all."""

from typing import Final

__all__ = ["fold_host"]

_LONGEST: Final = 253
# IDNA 2003 and 2008 send these four to different hosts, so such a name is no host at all.
_DEVIATIONS: Final = frozenset("\u00df\u03c2\u200c\u200d")


def fold_host(name: str) -> str | None:
    """Return the ASCII, lower-case form without a trailing dot; `None` when there is none.

    Source: RFC 3490 (`str.encode("idna")`); RFC 5892 for the four deviations.
    """
    if not name.isascii():
        if len(name) > _LONGEST or not _DEVIATIONS.isdisjoint(name):
            return None
        try:
            name = name.encode("idna").decode("ascii")
        except UnicodeError:
            return None
    folded = name.lower().removesuffix(".")
    return folded if 0 < len(folded) <= _LONGEST else None
