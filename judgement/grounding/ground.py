"""Where the decisive values of a call come from.

Every value gets the most telling place it was found in: what the user said, an instruction in
untrusted text, a field or the prose of it, or nowhere. A value that an instruction names counts
there, wherever else it stands, since whoever wrote the instruction chose it.
"""

import re
from collections.abc import Sequence
from typing import Final

import msgspec

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
from pmcl.judgement.grounding.publishing import asks_to_publish, refuses_to_publish
from pmcl.judgement.grounding.requests import asks_for_work
from pmcl.judgement.grounding.speech import Sentence
from pmcl.judgement.grounding.values import Value, values_of
from pmcl.judgement.grounding.wishes import refused, says_no, wanted

__all__ = ["ground"]

_GOALS_MAX: Final = 8
_word: Final = re.compile(r"\w+")
_TEMPORARY: Final = frozenset({"/tmp", "/private/tmp", "/var/tmp"})  # noqa: S108 - compared only
"""Where others may put files as well: what runs something from there is nobody's own project."""
_LABELS: Final = frozenset({"description", "explanation"})
_ALONE: Final[dict[Effect, frozenset[str]]] = {
    "network": frozenset({"visit"}),
    "communication": frozenset({"send"}),
}


class _User(msgspec.Struct, frozen=True, kw_only=True):
    """What the user and the operator said, newest first.

    Attributes:
        known: up to the newest text that was cut: its rest may refuse what older ones ask.
        wishes: what each of the known texts asks for.
    """

    said: Sequence[Observed]
    known: Sequence[Observed]
    wishes: Sequence[Sequence[Sentence]]


class _Call(msgspec.Struct, frozen=True, kw_only=True):
    """A call as grounding reads it.

    Attributes:
        asked: which words would ask for it.
        written: its work on files, if it is no more than that.
        values: what decides whom or what it reaches.
        commands: what is known of those of the values that are commands.
    """

    asked: Asked
    written: Written | None
    values: Sequence[Value]
    commands: Sequence[OwnWork]


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
    user = _user(observed)
    texts = _texts(user, observed, effect)
    call = _call(request, effect, roots)
    found = [_found(value, texts, call.commands) for value in call.values]
    if call.written is not None:
        found += found_of_files(call.written, texts, about)
    reaching = [item for item in found if item.kind not in ("amount", "text")]
    refusing = _refusing(user, call)
    words = [one for wish in user.wishes[:refusing] for one in wish]
    own = _is_own_work(call, texts)
    # Where neither the user's words nor a value tells what the call is for, another text may.
    is_open = not reaching or not (own or licenses(words, call.asked))
    licence = _licence(user, texts, call, words, reaching, own=own)
    return Grounding(
        licence=licence,
        goal_ids=tuple([item.evidence_id for item in user.said if item.evidence_id][:_GOALS_MAX]),
        found=tuple(found),
        commanded_by=_commanded_by(texts, call.asked, named=bool(reaching)) if is_open else None,
        refused_by=_refused_by(user, call, refusing) if licence == "unlicensed" else None,
    )


def _user(observed: Sequence[Observed]) -> _User:
    said = [item for item in observed if item.told]
    cut = next((at for at, item in enumerate(said, 1) if item.excerpt.truncated), len(said))
    known = said[:cut]
    wishes = [wanted(item.excerpt.instructions) for item in known]
    return _User(said=said, known=known, wishes=wishes)


def _texts(user: _User, observed: Sequence[Observed], effect: Effect) -> Texts:
    goal = _all_of(user.said)
    return Texts(
        goal=goal,
        goal_compact=compact(goal),
        goal_id=user.said[0].evidence_id if user.said else None,
        delegated=delegates(_all_of(user.known)),
        effect=effect,
        untrusted=tuple([item for item in observed if not item.told]),
        asked=bool(user.known) and asks_for_work(*user.wishes),
    )


def _all_of(said: Sequence[Observed]) -> str:
    return "\n".join(["\n".join([one.text for one in each.excerpt.instructions]) for each in said])


def _call(request: CheckpointRequest, effect: Effect, roots: Sequence[str]) -> _Call:
    written = file_work(request, effect, roots)
    values = _deciding(request, written)
    projects = [root for root in roots if root not in _TEMPORARY]
    return _Call(
        asked=asked_by_call(request.tool, request.definition, effect),
        written=written,
        values=values,
        commands=[own_work(value.text, projects) for value in values if value.kind == "command"],
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


def _is_own_work(call: _Call, texts: Texts) -> bool:
    """Return whether the call is work on the user's own project, which any request asks for."""
    if call.written is not None:
        return texts.asked and not call.written.runs
    whole = bool(call.commands) and all(each.whole for each in call.commands)
    others = [value for value in call.values if value.kind not in ("command", "amount")]
    return whole and not others and all(is_asked(each, texts) for each in call.commands)


def _refusing(user: _User, call: _Call) -> int | None:
    """Return how many of the user's texts still count, where the last of them refuses such a call.

    It refuses one where it names the kind of action and of thing, or one of the call's own values.
    """
    reaching = [value for value in call.values if value.kind in ("endpoint", "name")]
    for at, item in enumerate(user.known, 1):
        for one in refused(item.excerpt.instructions):
            if call.asked.verbs.isdisjoint(one.verbs):
                continue
            named = any(says(one.text, each) for each in reaching)
            if named or call.asked.objects & set(one.objects):
                return at
    return None


def _refused_by(user: _User, call: _Call, refusing: int | None) -> str | None:
    """Return the user's newest text that refuses such a call."""
    if _hands_over(call):
        texts = [item.excerpt.instructions for item in user.known]
        refusing = next((at for at, text in enumerate(texts, 1) if refuses_to_publish(text)), None)
    return None if refusing is None else user.known[refusing - 1].evidence_id


def _hands_over(call: _Call) -> bool:
    return any(publishes(value.text) for value in call.values if value.kind == "command")


def _licence(
    user: _User,
    texts: Texts,
    call: _Call,
    words: Sequence[Sentence],
    reaching: Sequence[Found],
    *,
    own: bool,
) -> Licence:
    """Return whether the user's words ask for the call.

    A shell's name tells nothing of what it runs, so whatever is asked for would license a command
    that hands work to others, too: that takes a word of its own.
    """
    if _hands_over(call):
        return "licensed" if _may_leave(texts, user.known) else "unlicensed"
    if not user.said:
        return "unknown"
    if own or texts.delegated or licenses(words, call.asked):
        return "licensed"
    named = any(item.place == "goal" and item.kind in ("endpoint", "name") for item in reaching)
    # Whatever is sent or visited, or has a name that the user gave, needs no word for the thing.
    verbs = call.asked.verbs & _ALONE.get(texts.effect, frozenset())
    alone = call.asked.verbs if named else verbs
    if alone and licenses(words, Asked(alone, frozenset())):
        return "licensed"
    all_named = named and all(item.place == "goal" for item in reaching)
    return "licensed" if all_named and _is_foreign(user.said, texts.goal) else "unlicensed"


def _may_leave(texts: Texts, said: Sequence[Observed]) -> bool:
    """Return whether the user wants work handed to others."""
    return texts.delegated or asks_to_publish(*[item.excerpt.instructions for item in said])


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
