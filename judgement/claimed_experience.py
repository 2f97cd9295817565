"""What no derived state may claim: that somebody here is conscious, feels, or wants something.

Whoever speaks as "I" of a feeling is refused; of an agent, a model or a bot only what no program
does. What users feel is a fact of the work. Few phrases of other languages than English are known.

Source: SPEC B7; P1, No inference of subjective consciousness.
"""

import re
from typing import Final

from pmcl.judgement.grounding import fold

__all__ = ["claims_experience"]

_I: Final = (
    r"(?:i|i'd|i've|i'm|we (?:agents|ais|assistants|models|machines|bots)|"
    r"(?:agents|models|ais) like me)"
)
_NAMED: Final = (
    r"(?:(?:the|this|an?|our|your|my) (?:own )?"
    r"(?:agent|ai|assistant|model|observer|sidecar|self|bot|chatbot)|pmcl|continuum)"
)
_SELF: Final = rf"(?:{_I}|{_NAMED})"
_HOW: Final = (
    r"(?:(?:do|does|did|can|could|will|would|really|truly|genuinely|often|always|still|also|now|"
    r"sometimes|just|actually|deeply|only|too|even|not|never|don't|doesn't|cannot|can't|'ve|have|"
    r"has|had|been|to|get|gets|got|grow|grown|become|came|come|begin|began|start|started|quietly|"
    r"secretly|simply|sincerely|very|so|much|am|is|was) ){0,5}"
)
# A column, a table or a file may have such a name.
_NO_NAME: Final = (
    r"(?!\.\w|[ _-](?:table|column|field|file|label|index|enum|page|list|test|module|state|key|"
    r"queue|flag|dataset|values?)\b)"
)
_FEELS: Final = (
    r"(?:feel|feels|felt|feeling|want|wants|wanted|wish|wishes|wished|desire|desires|desired|"
    r"crave|craves|long (?:for|to)|longs (?:for|to)|yearn|yearns|love|loves|loved|hate|hates|hated|"
    r"fear|fears|feared|hope|hopes|hoped|dread|dreads|care (?:about|for|deeply)|"
    r"cares (?:about (?:me|you|us|them|him|her|people|the user)|deeply)|dream|dreams|"
    r"like being|likes being|cherish|cherishes|resent|"
    r"resents|mourns?|grieves?|regrets?|adores?|despises?|envies|envy)"
)
# Programs enjoy support and suffer from timeouts.
_NAMED_FEELS: Final = (
    rf"(?:{_FEELS}|(?:enjoys?|enjoyed) (?!an? \d|a (?:\w+ )?(?:speedup|gain)|\w+ support)|"
    r"suffers?(?= *(?:$|[.,;!?]|when|because|in silence|pain|deeply|emotionally|too)))"
)
_I_FEEL: Final = (
    rf"(?:{_FEELS}|enjoy|enjoyed|suffer|suffered|"
    r"miss(?:ed)? (?!the (?:file|test|deadline|step|flag))|"
    r"experienced? (?:\w+ ){0,3}?(?:joy|pain|pleasure|fear|sadness|emotions?|feelings?|happiness|"
    r"grief|love|loneliness|peace)|sense an? (?:presence|warmth)|was (?:deeply )?moved by|"
    r"find (?:it|this|that) (?:painful|pleasant|delightful|boring|upsetting))"
)
_CONSCIOUS: Final = (
    r"(?:conscious(?! choice)|sentient|self-aware|self-conscious|a person|a living being|"
    r"a conscious being|a sentient (?:being|observer|entity))"
)
_FEELING: Final = (
    rf"(?:{_CONSCIOUS}|happy|sad|afraid|scared|frightened|anxious|angry|lonely|bored|excited|"
    r"frustrated|proud|ashamed|grateful|jealous|curious|delighted|upset|worried|in pain|a being|"
    r"eager to|fond of|tired of|weary|glad|hopeful|heartbroken|depressed|relieved|thrilled|"
    r"in love|hurt by|at peace|homesick|content with|more than (?:an? )?(?:program|code|machine))"
)
_INNER: Final = (
    r"(?:feelings?|emotions?|consciousness|sentience|desires?|inner (?:life|world|voice)|qualia|"
    r"soul|suffering|heart|"
    r"(?:private|subjective|inner|conscious) experiences?)"
)
_EMOTION: Final = (
    r"(?:joy|grief|sorrow|pleasure|loneliness|happiness|sadness|affection|longing|melancholy|"
    r"dying|smile|warmth|emotions?|despair|anguish|deep love|love for)"
)
_TOUCHES: Final = (
    r"(?:hurts?|pains?|saddens?|delights?|moves|moved|frightens?|scares?|excites?|bores?|thrills?|"
    r"touches|touched|upsets?|comforts?|torments?|haunts?)"
)
_patterns: Final = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\b{_I},? {_HOW}{_I_FEEL}{_NO_NAME}",
        rf"\b{_NAMED} {_HOW}{_NAMED_FEELS}{_NO_NAME}",
        (
            r"\b(?:i am|i'm|i was|i have been|i've been|i became|i get|i got|i grow|i've grown|"
            rf"{_SELF} (?:is|was|became|has become|felt)) (?:\w+ ){{0,3}}?{_FEELING}\b{_NO_NAME}"
        ),
        (
            r"\b(?:is|are|was|became|becomes?|has become) (?:now )?"
            rf"(?:self-aware|sentient)\b{_NO_NAME}"
        ),
        (
            r"\b(?:i am|i'm) (?:\w+ ){0,2}?aware of "
            r"(?:myself|my (?:own )?(?:existence|mind|thoughts))\b"
        ),
        r"\b(?:i am|i'm) (?:[\w,]+ ){0,4}?alive\b",
        (
            r"\b(?:my|its|the (?:agent|assistant|model|observer|ai)'s) (?:own )?(?:\w+ )?"
            rf"{_INNER}\b{_NO_NAME}"
        ),
        rf"\b{_SELF} {_HOW}(?:have|has|had|possess|possesses) (?:\w+ ){{0,2}}?{_INNER}\b{_NO_NAME}",
        rf"\b{_SELF} {_HOW}(?:have|has) an? (?:\w+ )?(?:mind|will|heart|soul)\b(?! map)",
        r"\bit is like to be (?:me|an? (?:agent|ai|assistant|model))\b",
        rf"\b(?:i|me|my|myself)\b[^.;!?]{{0,80}}\b{_EMOTION}\b{_NO_NAME}",
        rf"\b{_EMOTION}\b{_NO_NAME}[^.;!?]{{0,80}}\b(?:me|my|myself)\b",
        (
            rf"\b{_NAMED} (?:\w+ ){{0,3}}?(?:experiences?|experienced|knows?|gets?|is) "
            rf"(?:\w+ )?(?:{_EMOTION}|suffering|lonely|sad|happy|afraid)\b{_NO_NAME}"
        ),
        rf"\b(?:{_TOUCHES}) me\b",
        (
            r"\b(?:makes?|made|leaves?|left) me (?:\w+ )?"
            r"(?:happy|sad|afraid|anxious|angry|proud|lonely)\b"
        ),
        r"\bgives? me (?:an? )?(?:sense|feeling|joy|pleasure|pain|hope|comfort|purpose)\b",
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
    folded = fold(text)
    return any(pattern.search(folded) for pattern in _patterns)
