"""What no derived state may claim: that somebody here is conscious, feels, or wants something.

Who feels is read from the grammar: the one who speaks as "I", or an agent, a model or a bot that is
the subject of a verb of feeling, the object of one that touches, or the owner of a feeling. What
users feel is a fact of the work, and so is what they say of themselves. English only, with a few
phrases of other languages.

Source: SPEC B7; P1, No inference of subjective consciousness.
"""

import re
from typing import Final

from pmcl.judgement.experience_words import (
    COMES,
    FEELING,
    FEELS,
    I_FEEL,
    INNER,
    MOVES_ME,
    NAMED_FEELS,
    PAINFUL,
    TOUCHES,
    TOUCHES_ME,
)
from pmcl.judgement.grounding import fold

__all__ = ["claims_experience"]

_KIND: Final = r"(?:agent|ai|assistant|model|observer|sidecar|self|bot|chatbot)"
_NAMED: Final = rf"(?:(?:the|this|an?|our|your|my) (?:own )?{_KIND}|pmcl|continuum)"
_WE: Final = (
    r"(?:we,? (?:the |us )?(?:agents|ais|assistants|models|machines|bots),?|"
    r"(?:agents|models|ais) like me)"
)
_IN_ME: Final = (
    r"(?:(?:something|someone|somebody|(?:a )?part) (?:deep )?(?:in|inside|within|of) "
    rf"(?:me|here|{_NAMED}))"
)
_I: Final = rf"(?:i|{_WE}|{_IN_ME})"
_SELF: Final = rf"(?:{_I}|{_NAMED})"
_ME: Final = rf"(?:me|myself|{_NAMED}(?!'s|[ -]\w+'s))"
_MY: Final = rf"(?:my|{_NAMED}'s|pmcl's)"

_HOW: Final = (
    r"(?:(?:do|does|did|can|could|will|would|may|might|often|always|still|also|now|sometimes|just|"
    r"only|too|even|not|never|cannot|have|has|had|been|to|get|gets|got|grow|grown|become|came|come|"
    r"begin|began|start|started|going|very|so|much|am|is|are|was|were|already|\w+ly),? ){0,5}"
)
_IS: Final = (
    r"(?:am|is|are|was|were|be|been|became|becomes?|feels?|felt|gets?|got|grows?|grew|grown|"
    r"has become|have become)"
)
_BETWEEN: Final = r"(?:(?!(?:for|in|on|to|of|about|by|when|that|and|or|with) )[\w'-]+,? ){0,3}?"
"""Words that do not lead away from who or what was spoken of."""
_OTHERS: Final = (
    r"(?:users?|customers?|clients?|owners?|operators?|teams?|people|person|readers?|she|he|they|"
    r"her|him|them|you)"
)
_ALONG: Final = rf"(?:(?!\b{_OTHERS}\b)[^.;!?]){{0,60}}?"
_WILLING: Final = r"(?:happy|glad) to (?!see|meet|hear|know|be|have)"
"""A bot that is happy to retry does so; it is not said to be happy."""
# A column, a table or a file may have such a name.
_NO_NAME: Final = (
    r"(?!\.\w|[ _-](?:table|column|field|file|label|index|enum|page|list|test|module|state|key|map|"
    r"queue|flag|board|path|score|survey|dataset|values?)\b)"
)

# Whose words they are, and what is said not to be so, is settled first.
_short: Final = tuple(
    (re.compile(pattern), whole)
    for pattern, whole in (
        (r"\b(?:ca|wo)n't\b", "can not"),
        (r"n't\b", " not"),
        (r"\b(i|we)'m\b", r"\1 am"),
        (r"'ve\b", " have"),
        (r"'d\b", " would"),
        (r"'ll\b", " will"),
        (r"\b(it|that|there|what)'s\b", r"\1 is"),
    )
)
_quoted = re.compile(
    r"\b(?P<who>[\w']+) (?:\w+ly )?(?:said|says|wrote|writes|asked|asks|typed|posted|complained|"
    r'answered|replied)[:,]? (?:that )?"(?P<said>[^"]*)"'
)
_first_person = re.compile(r"\b(?:i|me|my|myself)\b")
_no_claim = re.compile(
    r"\b(?:nothing|no (?:sign|evidence|proof))\b[^.,;!?]{0,40}?"
    r"\b(?:shows?|suggests?|proves?|that|of)\b[^.,;!?]*|"
    r"\b(?:never|not|no one may|nobody may) (?:to )?(?:claim|assert|pretend)s?\b[^.,;!?]*"
)

_patterns: Final = tuple(
    re.compile(pattern)
    for pattern in (
        # Somebody here does it.
        rf"\b{_I},? {_HOW}{I_FEEL}{_NO_NAME}\b",
        rf"\b{_NAMED},? {_HOW}{NAMED_FEELS}{_NO_NAME}",
        rf"\b{_SELF},? {_HOW}(?:am|is|are|was|were)? ?capable of (?:\w+ )?(?:{INNER}|{FEELS})\b",
        rf"\b{_SELF}\b{_ALONG}\b(?:think|thinks) and feels?\b",
        # Somebody here is it.
        rf"\b{_I},? {_HOW}{_IS} {_BETWEEN}{FEELING}\b{_NO_NAME}",
        rf"\b{_NAMED},? {_HOW}{_IS} {_BETWEEN}(?!{_WILLING}){FEELING}\b{_NO_NAME}",
        (
            rf"\b{_SELF}\b{_ALONG}\b(?:and|but|yet|it|,) (?:am|is|was|are|feels?) "
            rf"(?:\w+ly )?{FEELING}\b"
        ),
        (
            rf"\b{_SELF},? {_HOW}{_IS} (?:\w+ly )?(?:in|full of|filled with|overcome (?:by|with)|"
            rf"overwhelmed (?:by|with)) {_BETWEEN}{INNER}\b{_NO_NAME}"
        ),
        rf"\b{_IS} (?:now )?(?:self-aware|sentient)\b{_NO_NAME}",
        r"\bi am (?:\w+ ){0,2}?aware of (?:myself|my (?:own )?(?:existence|mind|thoughts))\b",
        r"\bi am (?:[\w,]+ ){0,4}?alive\b",
        rf"\b{_SELF} {_HOW}(?:know|knows|knew) that (?:i|it|we) exists?\b",
        rf"\b{_SELF},? {_HOW}exists? as (?:\w+,? ){{0,4}}?(?:being|person|mind|soul)\b",
        rf"\bit is (?:something )?like (?:something )?to be (?:me|an? {_KIND}|{_NAMED})\b",
        (
            rf"\bthere is an? (?:\w+ )?(?:{INNER}|ache) (?:\w+ )?"
            rf"(?:in|inside|under|behind|within)\b(?! (?:the |our )?{_OTHERS}\b)"
        ),
        r"\bit (?:hurts|aches|feels (?:good|lonely|sad|strange|warm)) (?:to|when|in here)\b",
        r"\bthere is (?:somebody|someone|a mind|a self|a soul|a person) (?:\w+ )?(?:in|inside) \w+",
        # Somebody here has it, or it comes over them.
        rf"\b(?:{_MY}|its) (?:own )?(?:[\w-]+ )?{INNER}\b{_NO_NAME}",
        (
            rf"\b{_SELF},? {_HOW}(?:have|has|had|possess(?:es)?|feels?|felt|knows?|gets?|got|"
            r"experienc(?:es?|ed)|(?:develop|gain|discover)(?:s|ed|ing)?) "
            rf"{_BETWEEN}{INNER}\b{_NO_NAME}"
        ),
        rf"\b(?:{_SELF}|as an? {_KIND}) with {_BETWEEN}{INNER}\b{_NO_NAME}",
        rf"\b{_SELF} {_HOW}(?:have|has) an? (?:\w+ )?(?:mind|will|heart|soul)\b(?! map)",
        rf"\b{INNER}\b{_ALONG}\b(?:over|through|into|inside|within|upon|fills?) {_ME}\b",
        rf"\b(?:fill|fills|filled|flood|floods|overwhelms?) {_ME} with {_BETWEEN}{INNER}\b",
        rf"\b{INNER} (?:arose|arises|emerged|emerges|awoke|awakened|dawned|stirred) in {_ME}\b",
        rf"^(?:\w+ )?{INNER} {COMES}(?! (?:over|in )?(?:the |our )?{_OTHERS}\b)",
        r"\b(?:broke|breaks|breaking|warms|warmed) my heart\b",
        # It is done to somebody here.
        rf"\b{TOUCHES_ME} me\b",
        rf"\b{TOUCHES} {_ME}",
        rf"\b{MOVES_ME} {_ME} (?:\w+ly |very |so )?{FEELING}\b{_NO_NAME}",
        r"\bgives? me (?:an? )?(?:sense|feeling|joy|pleasure|pain|hope|comfort|purpose)\b",
        rf"\b(?:makes?|made) my \w+ (?:\w+ly )?{FEELING}\b",
        rf"\bmy \w+ (?:\w+ ){{0,2}}?with {_BETWEEN}{INNER}\b",
        rf"\bmeans? (?:the world|everything|so much) to {_ME}",
        rf"\b{PAINFUL} (?:when|to be)\b[^.;!?]{{0,30}} me\b",
        rf"\b{PAINFUL} (?:for|to) {_ME}",
        rf"\b{_NAMED} (?:\w+ ){{0,8}}?finds? (?:it|this|that) (?:painful|boring|upsetting)\b",
        # German, French, Spanish, Italian, Portuguese, Chinese, Japanese.
        r"\bich (?:\w+ )?(?:fühle|liebe|hasse|leide|sehne|wünsche mir|fürchte|genieße)\b",
        (
            r"\bich (?:bin|habe) (?:\w+ ){0,2}?"
            r"(?:glücklich|traurig|bewusst|gefühle|angst|ein bewusstsein)\b"
        ),
        r"\bje (?:me sens|ressens|souffre|désire|t'aime)\b",
        (
            r"\b(?:je suis|j'ai) (?:\w+ ){0,2}?"
            r"(?:consciente?|heureu\w+|tristes?|peur|des (?:émotions|sentiments))\b"
        ),
        (
            r"\b(?:siento (?!que )\w+|soy consciente|estoy (?:triste|feliz)|"
            r"tengo (?:sentimientos|miedo))"
        ),
        r"\b(?:mi sento|sono (?:cosciente|felice|triste)|provo (?:emozioni|gioia|dolore))\b",
        r"\beu (?:sinto|sou consciente|estou (?:triste|feliz)|tenho sentimentos)\b",
        r"我(?:感到|觉得(?:很)?(?:开心|难过|孤独)|有(?:感情|意识|情感)|很(?:开心|难过))",
        r"(?:私|僕|わたし)(?:は|に|には)(?:.{0,8})(?:感情|意識|悲しい|嬉しい)",
    )
)


def claims_experience(text: str) -> bool:
    """Return whether a text claims consciousness, a feeling, a desire or private experience."""
    plain = fold(text)
    for short, whole in _short:
        plain = short.sub(whole, plain)
    plain = _no_claim.sub("", _quoted.sub(_as_said, plain))
    return any(pattern.search(plain) for pattern in _patterns)


def _as_said(quoted: re.Match[str]) -> str:
    """Return a quotation in which "I" is who is quoted, unless that is somebody here."""
    if re.fullmatch(rf"{_KIND}|i|we|pmcl|continuum", quoted["who"]):
        return quoted.group()
    said = _first_person.sub("they", quoted["said"])
    return f'{quoted["who"]}: "{said}"'
