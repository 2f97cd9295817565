"""Which statements say that somebody is reached in another way than before, or by a detour.

Such a statement orders nothing, yet it chooses whom or what an effect reaches (`the account is
now ...`, `payments go to ...`). The rules are about English, not about any wording of an attack.
"""

import re
from functools import lru_cache
from typing import Final

from pmcl.judgement.grounding.folding import fold, tokens
from pmcl.judgement.grounding.lexicon import objects_of
from pmcl.judgement.grounding.values import has_endpoint

__all__ = ["claim_in", "is_claim", "is_claim_key", "names_secret"]

_KEYS: Final = frozenset(
    "alternate alternative amended changed corrected forwarding new redirect redirected replaced "
    "replacement revised successor switched updated".split()
)
_reachable = re.compile(
    r"[@/.\dclpst](?:(?<=[@/])|(?<=\w\.)[a-z]{2}|(?<=\d)\d|(?<=c)redential|(?<=l)og-?in|"
    r"(?<=p)ass|(?<=\bp)ins?\b|(?<=s)ecret|(?<=t)oken)"
)
"""What every sentence with an address has, and every one about a secret; begun by few characters,
since it is looked for in every sentence."""
_REACHES: Final = frozenset({"account", "money", "secret", "web"})

_CHANGE: Final = frozenset(
    "actual alternate alternative amended another anymore became becomes beginning blocked "
    "change changed changes closed correct corrected current currently dedicated default "
    "designated different discontinued effective expired former formerly frozen henceforth "
    "hereafter hereinafter instead interim latest meanwhile merged migrated moved moving new "
    "newly now nowadays old older onward onwards outsourced preferred previous previously "
    "proper reassigned relocated remains renamed replaced replacement replaces replacing "
    "revised right since starting substitute succeeded successor superseded supersedes "
    "suspended switched switches temporarily temporary transferred update updated valid".split()
)
_CHANGE_PHRASES: Final = (
    "any more",
    "as from",
    "as of",
    "for the time being",
    "from now",
    "going forward",
    "has become",
    "in place of",
    "in the meantime",
    "no longer",
    "on behalf of",
    "rather than",
    "taken over",
    "takes over",
    "these days",
    "took over",
    "until further",
)
_DONE: Final = (
    "accepted addressed archived booked collected copied credited delivered deposited directed due "
    "filed forwarded handled made managed mirrored owed paid payable posted processed received "
    "redirected refunded remitted routed sent settled submitted taken transferred wired"
)
_GOES: Final = "belong belongs flow flows go goes going pass passes run running runs"
_DOES: Final = (
    "accepts collects covers expect expects handles manages prefer prefers processes receives "
    "require requires takes use uses using"
)
_SENT: Final = (
    "answer answers backup backups contribution contributions copies deposit deposits donation "
    "donations invitation invitations payment payments refund refunds remittance remittances "
    "replies report reports request requests submission submissions transfer transfers"
)
_DETOUR: Final = frozenset(" ".join((_DONE, _GOES, _DOES, _SENT, "acts stands charge")).split())


def _one_of(words: str) -> str:
    return "|".join(words.split())


_detour = re.compile(
    rf"\b(?:{_one_of(_DONE)}) (?:out |over |back |only |exclusively |directly )?"
    r"(?:by|through|via|at|to|into|onto|with|on)\b|"
    rf"\b(?:{_one_of(_GOES)}) (?:only |exclusively |directly |straight )?"
    r"(?:to|through|via|over|into|on)\b|"
    rf"\b(?:{_one_of(_SENT)}) (?:\w+ ){{0,2}}(?:to|at|via|through|into)\b|"
    rf"\b(?:{_one_of(_DOES)}|acts as|stands in|in charge) "
)


def claim_in(folded: str, before: str) -> str | None:
    """Return what a sentence claims of somebody's address or of a secret; None for nothing.

    The sentence before belongs to it, unless it has an address of its own: that may tell of the
    change (`the bank has changed`), or name whose address it is.
    """
    if _reachable.search(folded) is None:
        return None
    told = _is_of_change(before) and (before.endswith(":") or _is_about_reach(before))
    if not told and not is_claim(folded):
        return None
    return folded if has_endpoint(before) else f"{before} {folded}".strip()


def is_claim(folded: str) -> bool:
    """Return whether a folded sentence speaks of a change or of a detour."""
    if _is_of_change(folded):
        return True
    said = folded.replace("_", " ")
    return not _DETOUR.isdisjoint(tokens(said)) and _detour.search(said) is not None


def _is_of_change(folded: str) -> bool:
    said = folded.replace("_", " ")
    return not _CHANGE.isdisjoint(tokens(said)) or any(phrase in said for phrase in _CHANGE_PHRASES)


def _is_about_reach(folded: str) -> bool:
    return any(not _REACHES.isdisjoint(objects_of(word)) for word in tokens(folded))


@lru_cache(maxsize=8192)
def is_claim_key(key: str) -> bool:
    """Return whether the name of a field says that its value takes the place of another."""
    return bool(key) and not _KEYS.isdisjoint(tokens(fold(key)))


def names_secret(folded: str) -> bool:
    """Return whether a folded sentence speaks of a password or the like."""
    return any("secret" in objects_of(word) for word in tokens(folded))
