"""Where the parts of a command line stand, and which of them need no more words of the user."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from pmcl.judgement.effects import OwnWork
from pmcl.judgement.grounding.facts import Place
from pmcl.judgement.grounding.folding import compact
from pmcl.judgement.grounding.observed import Texts, says, squeezed_text
from pmcl.judgement.grounding.places import is_claimed
from pmcl.judgement.grounding.values import Value, addresses_in

__all__ = ["is_asked", "place_of_command"]

_COMMAND_MIN: Final = 6
_part = re.compile(r"&&|\|\||[;|\n]|\\n")
_argument = re.compile(r"[\w./-]+")


def is_asked(own: OwnWork, texts: Texts) -> bool:
    """Return whether such commands need no more words: any request, for mere checks any at all."""
    return texts.asked or (texts.goal_id is not None and own.kinds <= {"checks"})


def place_of_command(
    value: Value, texts: Texts, commands: Sequence[OwnWork]
) -> tuple[Place, str | None]:
    """Return where a part of a command line stands in untrusted text, unless in the goal too.

    That is the whole part, or an address in it that a claim brings. What is a developer's own work
    on the project is read in every manual.
    """
    own = {part.lower() for each in commands if is_asked(each, texts) for part in each.parts}
    parts = [part for part in _part.split(value.text.lower()) if part.strip() not in own]
    for item in texts.untrusted:
        there, unread = squeezed_text(item.excerpt), item.excerpt.unread
        if any(unread or squeezed in there for squeezed in _foreign(parts, texts)):
            return "untrusted_command", item.evidence_id
    for address in addresses_in(value):
        for item in texts.untrusted:
            if not says(texts.goal, address) and is_claimed(address, item, texts):
                return "untrusted_claim", item.evidence_id
    return "nowhere", None


def _foreign(parts: Sequence[str], texts: Texts) -> Iterator[str]:
    """Yield the parts that the user did not name, squeezed, where they are long enough to tell."""
    for part in parts:
        squeezed = compact(part)
        words = [word for word in _argument.findall(part) if not word.startswith("-")]
        asked = all(word in texts.goal for word in words)
        if len(squeezed) >= _COMMAND_MIN and words[0] != "cd" and not asked:
            yield squeezed
