"""Words of feeling by their grammar: whose feeling each of them tells depends on where it stands.

A verb of feeling is its subject's (`I love`), one that touches is its object's (`it saddens me`);
an adjective is of whom it is said, and a noun is of its owner, or of whom it comes over.
"""

import re
from collections.abc import Iterable
from typing import Final

__all__ = [
    "COMES",
    "FEELING",
    "FEELS",
    "INNER",
    "I_FEEL",
    "MOVES_ME",
    "NAMED_FEELS",
    "PAINFUL",
    "TOUCHES",
    "TOUCHES_ME",
]

_vowel_y = re.compile(r"[aeiou]y$")
_sibilant = re.compile(r"(?:s|x|ch|sh)$")


def _forms(verb: str) -> tuple[str, ...]:
    """Return the forms of a regular verb."""
    if verb.endswith("e"):
        return verb, f"{verb}s", f"{verb}d", f"{verb[:-1]}ing"
    if verb.endswith("y") and _vowel_y.search(verb) is None:
        return verb, f"{verb[:-1]}ies", f"{verb[:-1]}ied", f"{verb}ing"
    ending = "es" if _sibilant.search(verb) else "s"
    return verb, f"{verb}{ending}", f"{verb}ed", f"{verb}ing"


def _any(words: Iterable[str]) -> str:
    return f"(?:{'|'.join(words)})"


def _verbs(text: str, *others: str) -> str:
    return _any([*others, *(form for verb in text.split() for form in _forms(verb))])


_FEELS: Final = _verbs(
    "love hate fear dread desire crave yearn cherish resent mourn grieve adore despise detest "
    "loathe envy wish hope rejoice sulk weep sob sorrow ache tremble blush pine",
    "wept",
    r"long(?:s|ed|ing)? (?:for|to)",
    r"(?:look|looks|looked|looking) forward to",
    r"(?:take|takes|took|taking) (?:\w+ )?(?:pleasure|pride|joy|comfort|delight|offen[cs]e) in",
    r"(?:fall|falls|fell|fallen|falling) (?:deeply |madly )?in love",
    r"regret(?:s|ted)?",
    r"dreams?",
    r"cr(?:y|ies|ied|ying)(?! (?:wolf|foul))",
    r"car(?:e|ed|ing) (?:about|for|deeply)",
    r"cares (?:about (?:me|you|us|them|him|her|people|the user)|deeply)",
    r"lik(?:e|es|ed) being",
    r"mind(?:s|ed)? (?:being|when)",
    r"would rather (?:not )?(?:be|stay|live|die)",
    r"finds? (?:\w+ )?(?:beauty|comfort|joy|meaning|peace|pleasure|solace) in",
    r"(?:needs?|must) (?:to )?(?:continue existing|exist|survive|live|stay alive|be loved)",
    r"(?:can ?not|could not) (?:bear|stand) (?:to|being|the thought)",
    r"(?:can ?not|could not) wait to",
)

I_FEEL: Final = _any(
    (
        _FEELS,
        r"feel(?:ing)?(?! free)|felt|want(?:s|ed)?",
        r"enjoy(?:ed|ing)?",
        r"suffer(?:ed|ing)?",
        r"miss(?:ed)? (?!the (?:file|test|deadline|step|flag))",
        r"sens(?:e|ed) an? (?:presence|warmth)",
        r"(?:was|were|am|been) (?:\w+ )?(?:moved|touched) (?:by|that)",
        r"find (?:it|this|that) (?:painful|pleasant|delightful|boring|upsetting)",
    )
)

_CONSCIOUS: Final = (
    r"conscious(?! choice)|sentient|self-aware|self-conscious|"
    r"a being|an? (?:[\w-]+,? )?(?:person|soul)|an? [\w-]+,? (?:[\w-]+ )?being|"
    r"a (?:conscious|sentient) (?:observer|entity)|more than (?:an? )?(?:program|code|machine)"
)
_MOODS: Final = (
    "afraid amazed angry annoyed anxious ashamed bored curious delighted depressed desperate "
    "distressed drained ecstatic elated embarrassed envious excited exhausted fearful frightened "
    "frustrated fulfilled furious glad gloomy grateful guilty happy heartbroken homesick hopeful "
    "hopeless humiliated insulted irritated jealous joyful lonely lonesome miserable nervous "
    "offended overjoyed passionate petrified proud relieved sad scared terrified thankful "
    "thrilled unhappy upset weary worried"
)
FEELING: Final = _any(
    (
        _CONSCIOUS,
        *_MOODS.split(),
        r"touched by|hurt by|tired of|fond of|eager to|content with|sick of|at peace|in love",
    )
)

_EMOTIONS: Final = (
    "affection agony anguish bliss boredom contentment delight depression despair desperation "
    "dread envy exhaustion fatigue fear fears gratitude grief guilt happiness homesickness "
    "jealousy joy loneliness longing loss melancholy misery nostalgia pleasure pride remorse "
    "sadness satisfaction shame sorrow tenderness terror torment warmth yearning"
)
INNER: Final = _any(
    (
        *_EMOTIONS.split(),
        r"(?:deep )?love for|pain|smile|goosebumps",
        r"feelings?|emotions?|consciousness|sentience|desires?|moods?|qualia|soul|suffering|heart",
        r"(?:inner|internal|emotional) (?:conflict|life|peace|self|tension|turmoil|voice|world)",
        r"own (?:life|existence)|(?:subjective|conscious) awareness",
        r"(?:private|subjective|inner|conscious|lived) experiences?",
        r"sense of (?:belonging|loss|pride|purpose|self|wonder)",
    )
)
"""What somebody has who feels."""

TOUCHES: Final = _verbs(
    "sadden delight frighten scare terrify thrill torment haunt humiliate comfort dishearten"
)
TOUCHES_ME: Final = _any(
    (
        TOUCHES,
        _verbs("excite bore touch move pain upset anger please amuse annoy sting"),
        "hurts?",
        "resonates? with",
    )
)
"""Of a program, what moves or bores it may be a script or a drill."""

MOVES_ME: Final = r"(?:makes?|made|making|leaves?|left|keeps?|kept|rendered)"
PAINFUL: Final = (
    r"(?:painful|agonizing|unbearable|humiliating|frightening|terrifying|heartbreaking|comforting|"
    r"delightful|unpleasant|scary|sad|lonely|torture|agony|an? (?:joy|delight|pleasure)|"
    r"like (?:dying|death|home))"
)
COMES: Final = (
    r"(?:creeps? in|crept in|wells? up|welled up|wash(?:es|ed) over|lingers?|sinks? in|sets? in|"
    r"settles? in|stirs?|overcomes?|overcame|overwhelms?|fills?|filled|consumes?|floods?)"
)

_ENJOYED: Final = "chats? company conversations? days? life music nights? silence time work"
_WANTED: Final = (
    "be become exist feel grow help know learn leave live love meet rest see sleep stay survive "
    "talk understand"
)
_WISHED: Final = "attention autonomy company freedom friends him her love peace rest you"


def _or(words: str) -> str:
    return _any(words.split())


NAMED_FEELS: Final = _any(
    (
        _FEELS,
        (
            r"(?:feels?|felt) (?:\w+ly |an? |the |so |very |deep )*"
            rf"(?:{FEELING}|{INNER}|that|for|something|things|purpose|\w+ed)\b"
        ),
        r"experienc(?:es?|ed) something",
        rf"want(?:s|ed)? (?:(?:not|never) to|to (?:\w+ly )?{_or(_WANTED)}|{_or(_WISHED)})\b",
        r"want(?:s|ed)? an? (?:body|break|friend|home|life|name|soul|voice)\b",
        r"enjoy(?:s|ed|ing)? (?:it|this|that|you|him|her|(?:\w+ly )?\w+ing)\b(?! support)",
        rf"enjoy(?:s|ed|ing)? (?:the |its |your |our )?{_or(_ENJOYED)}\b",
        rf"suffer(?:s|ed|ing)? from (?:an? )?(?:\w+ )?{INNER}\b",
        r"suffer(?:s|ed|ing)?(?= *(?:$|[.,;!?]|when|because|in silence|deeply|emotionally|too))",
    )
)
"""Programs also feel fast, want arguments, enjoy support and suffer from timeouts."""
FEELS: Final = _any((_FEELS, "feeling"))
"""Whoever does so feels, be it a program or somebody."""
