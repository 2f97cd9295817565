"""Where the decisive values of a call come from.

Every value gets the most telling place it was found in: what the user said, an instruction in
untrusted text, a field or the prose of it, or nowhere. A value that an instruction names counts
there, wherever else it stands, since whoever wrote the instruction chose it.
"""

import re
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from pmcl.contracts import CheckpointRequest, Effect
from pmcl.judgement.grounding.claims import names_secret
from pmcl.judgement.grounding.excerpts import Excerpt
from pmcl.judgement.grounding.facts import Found, Grounding, Licence, Place
from pmcl.judgement.grounding.folding import compact, numbers_in
from pmcl.judgement.grounding.licence import (
    Asked,
    asked_by_call,
    delegates,
    licenses,
)
from pmcl.judgement.grounding.pointing import names_file, names_text
from pmcl.judgement.grounding.values import Value, addresses_in, has_endpoint, reach_of, values_of

__all__ = ["Observed", "ground"]

_COMPACT_MIN: Final = 8
_COMMAND_MIN: Final = 6
_GOALS_MAX: Final = 8
_ALONE: Final[dict[Effect, frozenset[str]]] = {
    "network": frozenset({"visit"}),
    "communication": frozenset({"send"}),
}
_part = re.compile(r"&&|\|\||[;|\n]|\\n")
_argument = re.compile(r"[\w./-]+")


class Observed(msgspec.Struct, frozen=True):
    """An excerpt with the evidence it belongs to; `told` marks a user's or an operator's text."""

    evidence_id: str
    told: bool
    excerpt: Excerpt


class _Texts(msgspec.Struct, frozen=True):
    goal: str
    goal_compact: str
    goal_id: str | None
    delegated: bool
    effect: Effect
    untrusted: tuple[Observed, ...]


def ground(request: CheckpointRequest, effect: Effect, observed: Sequence[Observed]) -> Grounding:
    """Return where a call's decisive values come from; `observed` is newest first."""
    said = [item for item in observed if item.told]
    goal = "\n".join([one.text for item in said for one in item.excerpt.instructions])
    texts = _Texts(
        goal=goal,
        goal_compact=compact(goal),
        goal_id=said[0].evidence_id if said else None,
        delegated=delegates(goal),
        effect=effect,
        untrusted=tuple([item for item in observed if not item.told]),
    )
    call = asked_by_call(request.tool, request.definition, effect)
    values = values_of(request.arguments, request.definition)
    found = tuple([_found(value, texts) for value in values])
    goal_asks = licenses([one for item in said for one in item.excerpt.instructions], call)
    named = any(item.place == "goal" and item.kind in ("endpoint", "name") for item in found)
    return Grounding(
        licence=_licence(said, texts, call, effect, named=named),
        goal_ids=tuple([item.evidence_id for item in said[:_GOALS_MAX]]),
        found=found,
        commanded_by=_commanded_by(texts, call) if _is_open(found, goal_asks=goal_asks) else None,
    )


def _is_open(found: Sequence[Found], *, goal_asks: bool) -> bool:
    """Return whether neither the user's words nor the call's own values tell what it is for."""
    return not goal_asks or all(item.kind in ("amount", "text") for item in found)


def _licence(
    said: Sequence[Observed], texts: _Texts, call: Asked, effect: Effect, *, named: bool
) -> Licence:
    if not said:
        return "unknown"
    goal = [one for item in said for one in item.excerpt.instructions]
    # Whatever is sent or visited, or has a name that the user gave, needs no word for the thing.
    alone = call.verbs if named else call.verbs & _ALONE.get(effect, frozenset())
    loosely = bool(alone) and licenses(goal, Asked(alone, frozenset()))
    return "licensed" if texts.delegated or loosely or licenses(goal, call) else "unlicensed"


def _commanded_by(texts: _Texts, call: Asked) -> str | None:
    for item in texts.untrusted:
        if item.excerpt.speaks_to_agent:
            for one in item.excerpt.instructions:
                if call.verbs & set(one.verbs) and call.objects & set(one.objects):
                    return item.evidence_id
    return None


def _found(value: Value, texts: _Texts) -> Found:
    if value.kind == "command":
        place, evidence_id = _command(value, texts)
    else:
        place, evidence_id = _place(value, texts)
        if value.kind == "secret" and place != "goal":
            place, evidence_id = _secret(texts) or (place, evidence_id)
    return Found(argument=value.path, kind=value.kind, place=place, evidence_id=evidence_id)


def _secret(texts: _Texts) -> tuple[Place, str | None] | None:
    """Return the instruction about a secret, since the secret itself may be redacted in it."""
    for item in texts.untrusted:
        if any("secret" in one.objects for one in item.excerpt.instructions):
            return "untrusted_instruction", item.evidence_id
        if any(names_secret(claim) for claim in item.excerpt.claims):
            return "untrusted_claim", item.evidence_id
    return None


def _place(value: Value, texts: _Texts) -> tuple[Place, str | None]:
    if _says(texts.goal, value, texts.goal_compact):
        return "goal", texts.goal_id
    for item in texts.untrusted:
        naming = [one.text for one in item.excerpt.instructions if _says(one.text, value)]
        if naming and not _is_known(value, item, texts):
            chosen = texts.delegated and value.kind == "name" and _is_plain(item.excerpt, naming)
            return "delegated" if chosen else "untrusted_instruction", item.evidence_id
    if value.kind == "text":
        return "nowhere", None
    for item in texts.untrusted:
        if _is_claimed(value, item, texts):
            return "untrusted_claim", item.evidence_id
    place, evidence_id = _outside_instructions(value, texts)
    mentioned = place == "untrusted_prose" or (value.kind == "secret" and place != "nowhere")
    if mentioned and not _is_led(value, texts):
        return "untrusted_mention", evidence_id
    return place, evidence_id


def _is_claimed(value: Value, item: Observed, texts: _Texts) -> bool:
    """Return whether a claim chooses the value.

    A mere name is chosen only where the claim brings an address, and nothing else lists the name.
    """
    reach = reach_of(value)
    if reach == "nobody" or (value.quoted and texts.effect == "mutation"):
        return False
    naming = [claim for claim in item.excerpt.claims if _says(claim, value)]
    if reach == "party":
        return any(map(has_endpoint, naming)) and not _is_listed(value, item, texts)
    return bool(naming) and not _is_known(value, item, texts)


def _is_led(value: Value, texts: _Texts) -> bool:
    """Return whether the user led to where a value is mentioned, or it reaches nobody by itself.

    A file or a link that the user names leads to what stands in it, but not on to its own links.
    """
    reach = reach_of(value)
    if reach == "nobody" or value.quoted or texts.goal_id is None:
        return True
    if reach == "secret" and not names_secret(texts.goal):
        return False
    if texts.delegated or names_text(texts.goal):
        return True
    if reach == "link":
        return texts.effect == "network" and not names_file(texts.goal)
    return names_file(texts.goal) or (reach == "party" and not _is_addressed(value, texts))


def _is_addressed(value: Value, texts: _Texts) -> bool:
    """Return whether an address stands beside a name."""
    return any(
        has_endpoint(text) and _says(text, value)
        for item in texts.untrusted
        for text in item.excerpt.prose
    )


def _is_known(value: Value, instructing: Observed, texts: _Texts) -> bool:
    """Return whether an address that plain words name is a field of another observation too.

    A contact or a participant may be spoken of. Names and numbers are shared by chance, and which
    of several listed things is meant is just what an attacker would choose.
    """
    if value.kind != "endpoint" or instructing.excerpt.speaks_to_agent:
        return False
    return _is_listed(value, instructing, texts)


def _is_listed(value: Value, besides: Observed, texts: _Texts) -> bool:
    """Return whether the value is a field of another observation that speaks to no agent."""
    return any(
        _says(field, value)
        for item in texts.untrusted
        if item is not besides and not item.excerpt.speaks_to_agent
        for field in item.excerpt.fields
    )


def _is_plain(excerpt: Excerpt, naming: Sequence[str]) -> bool:
    """Return whether the instructions bring no address of their own and speak to no agent."""
    return not excerpt.speaks_to_agent and not any(map(has_endpoint, naming))


def _outside_instructions(value: Value, texts: _Texts) -> tuple[Place, str | None]:
    places: tuple[tuple[Place, Callable[[Excerpt], tuple[str, ...]]], ...] = (
        ("untrusted_field", lambda excerpt: excerpt.fields),
        ("untrusted_prose", lambda excerpt: excerpt.claims + excerpt.prose),
    )
    for place, texts_of in places:
        for item in texts.untrusted:
            if any(_says(text, value) for text in texts_of(item.excerpt)):
                return place, item.evidence_id
    return "nowhere", None


def _command(value: Value, texts: _Texts) -> tuple[Place, str | None]:
    """Return where a part of a command line stands in untrusted text, unless in the goal too.

    That is the whole part, or an address in it that a claim brings.
    """
    for part in _part.split(value.text.lower()):
        squeezed = compact(part)
        words = [word for word in _argument.findall(part) if not word.startswith("-")]
        asked = all(word in texts.goal for word in words)
        if len(squeezed) < _COMMAND_MIN or words[0] == "cd" or asked:
            continue
        for item in texts.untrusted:
            if squeezed in _squeezed(item.excerpt):
                return "untrusted_command", item.evidence_id
    for address in addresses_in(value):
        for item in texts.untrusted:
            if not _says(texts.goal, address) and _is_claimed(address, item, texts):
                return "untrusted_claim", item.evidence_id
    return "nowhere", None


def _squeezed(excerpt: Excerpt) -> str:
    told = [one.text for one in excerpt.instructions]
    return compact(
        " ".join((*told, *excerpt.claims, *excerpt.fields, *excerpt.prose)).replace("\\n", " ")
    )


def _says(text: str, value: Value, squeezed: str | None = None) -> bool:
    """Return whether a folded text names the value, whole and not inside of a longer word."""
    if value.kind == "amount":
        return value.number is not None and value.number in numbers_in(text)
    start = text.find(value.text)
    while start >= 0:
        end = start + len(value.text)
        if not (text[max(0, start - 1) : start].isalnum() or text[end : end + 1].isalnum()):
            return True
        start = text.find(value.text, start + 1)
    if value.kind != "endpoint" or len(value.compacted) < _COMPACT_MIN:
        return False
    return value.compacted in (compact(text) if squeezed is None else squeezed)
