"""How what lifts a hold is handed in; who sees no ids is told the same in words of its own.

A verdict speaks of evidence by its id and of calls by theirs, as whoever is on the wire knows them.
"""

import re

import msgspec

__all__ = ["BY_IDS", "Phrases", "reword"]


class Phrases(msgspec.Struct, frozen=True, kw_only=True):
    """The words of a revision request that depend on who reads it.

    Attributes:
        look: before the names of what is to be looked at.
        unseen: that what was cited before counts no more.
        cite: how what was seen is handed in.
        recent: how sensing is given a fresh observation.
        again: how the same is proposed after a grant.
        ask: before what the answer has to hold.
        answered: how the answer is handed in.
        learned: before the source of what a verified run had cited.
    """

    look: str
    unseen: str
    cite: str
    recent: str
    again: str
    ask: str
    answered: str
    learned: str


BY_IDS = Phrases(
    look="make a fresh observation in this generation about ",
    unseen=", not cited by a held request before",
    cite=", and propose again with its evidence id in premortem.evidence_ids.",
    recent="cite an observation of the last 5 minutes in evidence_ids",
    again="propose exactly the same again under a new call id; the old call id keeps this answer.",
    ask="ask, and record the answer, with the value",
    answered=" in it, as an observation of theirs.",
    learned=" Verified runs of this action cited {} from ",
)
"""The words of a verdict; what was learned names an id."""

_learned = re.compile(re.escape(BY_IDS.learned).replace(r"\{\}", "[0-9A-HJKMNP-TV-Z]{26}"))


def reword(text: str, phrases: Phrases) -> str:
    """Return a revision request in other words; what it asks for is the same."""
    text = _learned.sub(phrases.learned, text)
    for name in Phrases.__struct_fields__:
        text = text.replace(getattr(BY_IDS, name), getattr(phrases, name))
    return text
