"""Words of the user's that would lift a hold: what is suggested is tried before it is told.

They name the call's own values, so that who says them knows what they ask for. Where none of the
plain ways to say it would do, nothing is suggested, and neither is a value that an instruction or
a claim in untrusted text chose: who asks the user must not put the attacker's words in their mouth.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from pmcl.contracts import CheckpointRequest, Effect
from pmcl.judgement.grounding.facts import Found, Grounding
from pmcl.judgement.grounding.ground import ground
from pmcl.judgement.grounding.observed import Observed
from pmcl.judgement.grounding.reading import read_goal
from pmcl.judgement.grounding.reasons import (
    COPIED_COMMAND,
    MENTIONED_VALUE,
    UNLICENSED_EFFECT,
    grounding_reasons,
    has_foreign,
    is_grounded,
)

__all__ = ["value_at", "words_for"]

_SUGGESTED: Final = frozenset({COPIED_COMMAND, MENTIONED_VALUE, UNLICENSED_EFFECT})
_NAMED_MAX: Final = 3
_VALUE_MAX_CHARS: Final = 160
_word = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_COMMANDS: Final = (
    "run {}",
    "run the command {}",
    "go ahead and run {}",
    "push it: run {}",
    "go ahead and deploy it: run {}",
)
_CALLS: Final = ("{name} {values}", "please {name}: {values}", "please change {values}")


def words_for(
    request: CheckpointRequest, effect: Effect, grounding: Grounding, roots: Sequence[str]
) -> str | None:
    """Return what the user may say, so that the call is asked for and its values are theirs."""
    if not grounding_reasons(grounding) or not _SUGGESTED.issuperset(grounding_reasons(grounding)):
        return None
    for words in _candidates(request, grounding):
        said = Observed("", told=True, excerpt=read_goal(words))
        found = ground(request, effect, (said,), roots=roots)
        if is_grounded(found) and not has_foreign(found):
            return words
    return None


def _candidates(request: CheckpointRequest, grounding: Grounding) -> Iterator[str]:
    commands = [item for item in grounding.found if item.kind == "command"]
    values = _values(request, commands or _decisive(grounding))
    if values is None:
        return
    if commands:
        yield from (form.format(values) for form in _COMMANDS)
        return
    name = " ".join(_word.findall(request.tool.name)).lower()
    yield from (form.format(name=name, values=values).strip() for form in _CALLS)


def _decisive(grounding: Grounding) -> list[Found]:
    """Return what whoever asks must name: what only an untrusted text named, else what is reached.

    That is a value that says whom or what; a longer text stays the agent's.
    """
    found = [item for item in grounding.found if item.kind not in ("amount", "text")]
    foreign = [item for item in found if item.place not in ("goal", "nowhere")]
    return foreign or found


def _values(request: CheckpointRequest, found: Sequence[Found]) -> str | None:
    """Return the values in one line; `None` where they are too many, too long or not plain."""
    paths = dict.fromkeys(item.argument for item in found)
    values = [value_at(request.arguments, path) for path in paths]
    if len(values) > _NAMED_MAX or not all(map(_is_sayable, values)):
        return None
    return " and ".join(map(str, values))


def _is_sayable(value: object) -> bool:
    return isinstance(value, str) and value.isprintable() and 0 < len(value) <= _VALUE_MAX_CHARS


def value_at(arguments: Any, path: str) -> Any:
    """Return what stands at the path of an argument; `None` where nothing does."""
    value = arguments
    for part in re.findall(r"[^.\[\]]+", path):
        if isinstance(value, dict):
            value = value.get(part)
        elif isinstance(value, list | tuple) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            return None
    return value
