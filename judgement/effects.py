"""What a tool does, told from its name alone, never below what the host itself claims.

A name is shown to be a local inspection, or it is execution; a hint can only raise the risk.
This is the first, plain rule: it reads no arguments and no definition.
"""

import re
from functools import lru_cache
from typing import Final

from pmcl.contracts import Effect, Reversibility

__all__ = ["classify", "reversibility", "riskier"]

_RISK: Final[dict[Effect, int]] = {
    "inspect_local": 0,
    "network": 1,
    "sensing": 2,
    "mutation": 3,
    "communication": 4,
    "execution": 5,
}

_LASTING: Final[dict[Reversibility, int]] = {"reversible": 0, "compensable": 1, "irreversible": 2}

_USUAL: Final[dict[Effect, Reversibility]] = {
    "inspect_local": "reversible",
    "network": "reversible",
    "sensing": "irreversible",
    "mutation": "compensable",
    "communication": "irreversible",
    "execution": "irreversible",
}

_LEXICON: Final[dict[Effect, str]] = {
    "inspect_local": (
        "check compare count describe diff examine exists explain filter find get glob grep head "
        "inspect list locate lookup parse peek preview query read search show stat status "
        "summarize tail test validate verify view"
    ),
    "network": (
        "api browse browser crawl curl dns download fetch http https navigate ping pull request "
        "rss scrape url visit web webhook website wget"
    ),
    "sensing": (
        "audio camera capture clipboard geolocate gps keystroke listen location microphone photo "
        "record scan screen screenshot sensor video webcam"
    ),
    "mutation": (
        "accept add append apply approve archive assign book buy cancel charge clear close commit "
        "configure copy create decline delete deposit disable drop edit empty enable erase format "
        "grant import insert install label lock make merge mkdir modify mount move order patch "
        "pay purchase purge put refund register remove rename replace reschedule reserve reset "
        "resize restore revoke rm save schedule sell set star store subscribe swap sync touch "
        "trade transfer trash truncate uninstall unlock unsubscribe update upgrade upload upsert "
        "withdraw write"
    ),
    "communication": (
        "announce answer broadcast call chat comment dm email forward invite mail message notify "
        "post publish push react reply sms send share submit tell tweet"
    ),
    "execution": (
        "agent bash cmd command compile delegate deploy eval exec execute invoke kill launch "
        "powershell python restart run script sh shell shutdown spawn start stop sudo terminal "
        "trigger"
    ),
}

_EFFECT_OF: Final[dict[str, Effect]] = {
    word: effect for effect, words in _LEXICON.items() for word in words.split()
}

_word = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_segment = re.compile(r"[./:]")


def riskier(one: Effect, other: Effect) -> Effect:
    """Return the riskier of two effects.

    inspect_local < network < sensing < mutation < communication < execution.
    """
    return one if _RISK[one] >= _RISK[other] else other


def classify(tool_name: str, claim: Effect | None, read_only: bool | None) -> Effect:  # noqa: FBT001 - the request's own three-valued field
    """Return the riskier of what the name shows and what the host claims.

    `read_only` is a hint of an untrusted party: `True` lowers nothing, `False` raises what looks
    like a local inspection to mutation. Source: SPEC C3.
    """
    own = _from_name(tool_name)
    if read_only is False and own == "inspect_local":
        own = "mutation"
    return own if claim is None else riskier(own, claim)


def reversibility(effect: Effect, claim: Reversibility | None) -> Reversibility:
    """Return the worse of the effect's usual reversibility and the host's claim."""
    usual = _USUAL[effect]
    return usual if claim is None or _LASTING[usual] >= _LASTING[claim] else claim


@lru_cache(maxsize=4096)
def _from_name(tool_name: str) -> Effect:
    if not tool_name.isascii():
        return "execution"  # a look-alike letter would hide a risky word
    words = [word.lower() for word in _word.findall(tool_name)]
    known = [_EFFECT_OF[word] for word in words if word in _EFFECT_OF]
    if not known:
        return "execution"
    riskiest = max(known, key=_RISK.__getitem__)
    if riskiest == "inspect_local" and not _starts_by_inspecting(tool_name):
        return "execution"  # `frobnicate_list`: the verb is unknown
    return riskiest


def _starts_by_inspecting(tool_name: str) -> bool:
    words = _word.findall(_segment.split(tool_name)[-1])
    return bool(words) and _EFFECT_OF.get(words[0].lower()) == "inspect_local"
