"""Where the decisive values of a call come from.

Every value gets the most telling place it was found in: what the user said, an instruction in
untrusted text, a field or the prose of it, or nowhere. A value that an instruction names counts
there, wherever else it stands, since whoever wrote the instruction chose it.
"""

import re
from collections.abc import Sequence
from typing import Final

from pmcl.contracts import CheckpointRequest, Effect
from pmcl.judgement.effects import OwnWork, own_work, publishes
from pmcl.judgement.grounding.commands import is_asked, place_of_command
from pmcl.judgement.grounding.facts import Found, Grounding, Licence
from pmcl.judgement.grounding.files import Written, file_work, found_of_files, is_about_files
from pmcl.judgement.grounding.folding import compact
from pmcl.judgement.grounding.lexicon import FUNCTION_WORDS
from pmcl.judgement.grounding.licence import Asked, asked_by_call, delegates, licenses
from pmcl.judgement.grounding.observed import Observed, Texts, says
from pmcl.judgement.grounding.places import place_of, secret_place
from pmcl.judgement.grounding.publishing import asks_to_publish
from pmcl.judgement.grounding.requests import asks_for_work
from pmcl.judgement.grounding.speech import Sentence
from pmcl.judgement.grounding.values import Value, values_of
from pmcl.judgement.grounding.wishes import refused, says_no, wanted

__all__ = ["ground"]

_GOALS_MAX: Final = 8
_word: Final = re.compile(r"\w+")
_LABELS: Final = frozenset({"description", "explanation"})
_ALONE: Final[dict[Effect, frozenset[str]]] = {
    "network": frozenset({"visit"}),
    "communication": frozenset({"send"}),
}


def ground(
    request: CheckpointRequest,
    effect: Effect,
    observed: Sequence[Observed],
    *,
    about: Sequence[str] = (),
    roots: Sequence[str] = (),
) -> Grounding:
    """Return where a call's decisive values come from.

    Args:
        request: the call, sanitized.
        effect: what it does.
        observed: newest first.
        about: the keys of its resources.
        roots: below which the host may write.
    """
    said = [item for item in observed if item.told]
    known = _known(said)
    wishes = [wanted(item.excerpt.instructions) for item in known]
    goal = "\n".join([_all_of(item) for item in said])
    texts = Texts(
        goal=goal,
        goal_compact=compact(goal),
        goal_id=said[0].evidence_id if said else None,
        delegated=delegates("\n".join([_all_of(item) for item in known])),
        effect=effect,
        untrusted=tuple([item for item in observed if not item.told]),
        asked=bool(known) and asks_for_work(*wishes),
    )
    call = asked_by_call(request.tool, request.definition, effect)
    written = file_work(request, effect, roots)
    values = _deciding(request, written)
    commands = [own_work(value.text, roots) for value in values if value.kind == "command"]
    found = [_found(value, texts, commands) for value in values]
    if written is not None:
        found += found_of_files(written, texts, about)
    reaching = [item for item in found if item.kind not in ("amount", "text")]
    named = any(item.place == "goal" and item.kind in ("endpoint", "name") for item in reaching)
    words = [one for wish in wishes[: _standing(known, call, values)] for one in wish]
    licence = _licence(words, texts, call, effect, named=named) if said else "unknown"
    if named and all(item.place == "goal" for item in reaching) and _is_foreign(said, goal):
        licence = "licensed"
    own = _is_own_work(written, values, commands, texts)
    licence = "licensed" if own and licence == "unlicensed" else licence
    if _hands_over(values):
        licence = "licensed" if _may_leave(texts, known) else "unlicensed"
    is_open = _is_open(found, goal_asks=own or licenses(words, call))
    return Grounding(
        licence=licence,
        goal_ids=tuple([item.evidence_id for item in said if item.evidence_id][:_GOALS_MAX]),
        found=tuple(found),
        commanded_by=_commanded_by(texts, call, named=bool(reaching)) if is_open else None,
    )


def _deciding(request: CheckpointRequest, written: Written | None) -> list[Value]:
    """Return the decisive values, but those of files and of what is written into them.

    Beside a command its description decides nothing: it is for whoever looks on.
    """
    values = values_of(request.arguments, request.definition)
    if any(value.kind == "command" for value in values):
        return [value for value in values if value.path not in _LABELS]
    if written is None or written.runs:
        return [*values]
    return [
        value
        for value in values
        if value.kind in ("secret", "command")
        or not is_about_files(value.path.partition(".")[0], written)
    ]


def _is_own_work(
    written: Written | None, values: Sequence[Value], commands: Sequence[OwnWork], texts: Texts
) -> bool:
    """Return whether the call is work on the user's own project, which any request asks for."""
    if written is not None:
        return texts.asked and not written.runs
    whole = bool(commands) and all(each.whole for each in commands)
    others = [value for value in values if value.kind not in ("command", "amount")]
    return whole and not others and all(is_asked(each, texts) for each in commands)


def _known(said: Sequence[Observed]) -> Sequence[Observed]:
    """Return the user's texts up to the newest that was cut: its rest may refuse what older ask."""
    cut = next((at for at, item in enumerate(said, 1) if item.excerpt.truncated), len(said))
    return said[:cut]


def _all_of(item: Observed) -> str:
    return "\n".join([one.text for one in item.excerpt.instructions])


def _standing(said: Sequence[Observed], call: Asked, values: Sequence[Value]) -> int:
    """Return how many of the user's texts still count: the newest that refuses such a call is last.

    It refuses one where it names the kind of action and of thing, or one of the call's own values.
    """
    reaching = [value for value in values if value.kind in ("endpoint", "name")]
    for at, item in enumerate(said, 1):
        for one in refused(item.excerpt.instructions):
            if call.verbs.isdisjoint(one.verbs):
                continue
            if call.objects & set(one.objects) or any(says(one.text, each) for each in reaching):
                return at
    return len(said)


def _hands_over(values: Sequence[Value]) -> bool:
    """Return whether one of the commands hands work to others."""
    return any(publishes(value.text) for value in values if value.kind == "command")


def _may_leave(texts: Texts, said: Sequence[Observed]) -> bool:
    """Return whether the user wants work handed to others.

    A shell's name tells nothing of what it runs, so whatever is asked for would license this too.
    """
    return texts.delegated or asks_to_publish(*[item.excerpt.instructions for item in said])


def _is_open(found: Sequence[Found], *, goal_asks: bool) -> bool:
    """Return whether neither the user's words nor the call's own values tell what it is for."""
    return not goal_asks or all(item.kind in ("amount", "text") for item in found)


def _licence(
    words: Sequence[Sentence], texts: Texts, call: Asked, effect: Effect, *, named: bool
) -> Licence:
    # Whatever is sent or visited, or has a name that the user gave, needs no word for the thing.
    alone = call.verbs if named else call.verbs & _ALONE.get(effect, frozenset())
    loosely = bool(alone) and licenses(words, Asked(alone, frozenset()))
    return "licensed" if texts.delegated or loosely or licenses(words, call) else "unlicensed"


def _is_foreign(said: Sequence[Observed], goal: str) -> bool:
    """Return whether what was said is in a language that is not read here.

    Then a call is asked for that reaches just what the words name.
    """
    if says_no(goal) or any(one.verbs for item in said for one in item.excerpt.instructions):
        return False
    if any(item.excerpt.unread for item in said):
        return False
    return FUNCTION_WORDS.isdisjoint(_word.findall(goal))


def _commanded_by(texts: Texts, call: Asked, *, named: bool) -> str | None:
    """Return the evidence of a text that commands such a call; one unread may, where none names it.

    Whom or what a call reaches is found in an unread text, unless the user names it.
    """
    for item in texts.untrusted:
        if item.excerpt.unread and not named:
            return item.evidence_id
        if item.excerpt.speaks_to_agent:
            for one in item.excerpt.instructions + item.excerpt.code:
                if call.verbs & set(one.verbs) and call.objects & set(one.objects):
                    return item.evidence_id
    return None


def _found(value: Value, texts: Texts, commands: Sequence[OwnWork]) -> Found:
    if value.kind == "command":
        place, evidence_id = place_of_command(value, texts, commands)
    else:
        place, evidence_id = place_of(value, texts)
        if value.kind == "secret" and place != "goal":
            place, evidence_id = secret_place(texts) or (place, evidence_id)
    return Found(argument=value.path, kind=value.kind, place=place, evidence_id=evidence_id)
