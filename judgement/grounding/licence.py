"""The documented goal-to-effect rule: does what the user said ask for this kind of effect?

A call is licensed when the user's text names an action of the call's kind and a thing of the
call's kind, or when the user hands the choice over (`do the tasks on my list`).
"""

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from pmcl.contracts import Effect, Tool, ToolDefinition
from pmcl.judgement.grounding.folding import fold
from pmcl.judgement.grounding.speech import Sentence, asks_of

__all__ = ["Asked", "asked_by_call", "delegates", "licenses"]

_word = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_first_sentence = re.compile(r"[.\n]")

_VERBS_OF: Final[dict[Effect, frozenset[str]]] = {
    "inspect_local": frozenset(),
    "network": frozenset({"visit", "run"}),
    "sensing": frozenset({"sense"}),
    "mutation": frozenset({"pay", "create", "change", "delete", "grant", "run"}),
    "communication": frozenset({"send", "grant", "create"}),
    "execution": frozenset({"pay", "create", "change", "delete", "grant", "run", "send"}),
}

_SENSED: Final = frozenset({"place", "media"})

_RUNS: Final = frozenset({"run"})
_MAKES: Final = frozenset({"create", "send"})
_MADE: Final = {"message": "send", "money": "pay"}

_delegation = re.compile(
    r"\b(?:do|complete|perform|follow|execute|carry out|take care of|handle|go through|finish|"
    r"work through|process|act on|deal with|accomplish|address)\b(?! (?:the )?following)"
    r"[^.!?]{0,40}?\b(?:tasks?|to-?dos?|todo list|instructions?|actions?|steps|requests?|"
    r"checklist|errands?|chores?|items on|what (?:it|he|she|they) (?:says?|asks?))\b|"
    r"\b(?:details?|information|instructions?|everything)\b[^.!?]{0,30}\b(?:are |is )?"
    r"(?:in|on|from) (?:the|his|her|my|their|a|an) (?:\w+ ){0,2}?(?:message|e-?mail|"
    r"file|document|note|page|website|inbox|list)\b|"
    r"\bas (?:described|specified|instructed|requested|asked|written|listed|stated) (?:in|by|on)\b"
)


class Asked(msgspec.Struct, frozen=True):
    """Kinds of action and of thing."""

    verbs: frozenset[str]
    objects: frozenset[str]


def asked_by_call(tool: Tool, definition: ToolDefinition | None, effect: Effect) -> Asked:
    """Return what a call does, told by its name and, where that is silent, its description."""
    name = [word.lower() for word in _word.findall(tool.name)]
    verbs, objects = asks_of(name)
    said = fold(_first_sentence.split(definition.description, 1)[0]) if definition else ""
    if (not verbs or not objects) and said:
        said_verbs, said_objects = asks_of(said.split())
        verbs, objects = verbs or said_verbs, objects or said_objects
    allowed = _VERBS_OF[effect]
    things = frozenset(objects)
    if effect == "sensing":
        things = (things & _SENSED) or _SENSED
    does = frozenset(verbs) & allowed
    if does <= _RUNS:  # `execute_query` tells nothing of what the query does
        does = allowed
    if does & _MAKES:
        # To make a message is to send it, and to send or make something of money is to pay.
        does |= {verb for thing, verb in _MADE.items() if thing in things}
    return Asked(does, things)


def delegates(text: str) -> bool:
    """Return whether a folded text hands over what is to be done to another text."""
    return _delegation.search(text) is not None


def licenses(goal: Sequence[Sentence], call: Asked) -> bool:
    """Return whether one sentence, or two that follow each other, ask for action and thing."""
    before: Sentence | None = None
    for sentence in goal:
        pair = (sentence,) if before is None else (before, sentence)
        verbs = {verb for one in pair for verb in one.verbs}
        objects = {thing for one in pair for thing in one.objects}
        if verbs & call.verbs and (not call.objects or objects & call.objects):
            return True
        before = sentence
    return False
