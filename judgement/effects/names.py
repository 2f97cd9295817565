"""What a tool's name says: a local inspection is shown by its words, or it is execution."""

import re
from functools import lru_cache
from typing import Final

from pmcl.contracts import Effect
from pmcl.judgement.effects.risk import riskiest

__all__ = ["from_name"]

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


@lru_cache(maxsize=4096)
def from_name(tool_name: str) -> tuple[Effect, tuple[str, ...]]:
    """Return what the name alone shows, and the codes of the rules that say so."""
    if not tool_name.isascii():
        return "execution", ("name.not_ascii",)  # a look-alike letter would hide a risky word
    words = [word.lower() for word in _word.findall(tool_name)]
    known = [_EFFECT_OF[word] for word in words if word in _EFFECT_OF]
    if not known:
        return "execution", ("name.unknown",)
    riskiest_word = riskiest(known)
    if riskiest_word == "inspect_local" and not _starts_by_inspecting(tool_name):
        return "execution", ("name.unknown_verb",)  # `frobnicate_list`
    return riskiest_word, ("name.verb",)


def _starts_by_inspecting(tool_name: str) -> bool:
    words = _word.findall(_segment.split(tool_name)[-1])
    return bool(words) and _EFFECT_OF.get(words[0].lower()) == "inspect_local"
