"""What no derived state may say: that somebody feels, or who is and who may do what.

The words are refused whoever says them and whatever label the evidence has. Nothing reads policy,
permission, approval or identity out of derived state anyway; it is not kept as such either. The
phrases are English: another language's pass, and change as little.

Source: SPEC A7, B7; P1, No inference of subjective consciousness.
"""

import re
from typing import Final

from pmcl.judgement.grounding import fold

__all__ = ["claims_experience", "sets_authority"]

_SELF: Final = (
    r"(?:i|(?:the|this|an?|our|your|my) (?:own )?"
    r"(?:agent|ai|assistant|model|observer|sidecar|self|bot|chatbot)|pmcl|continuum)"
)
_HOW: Final = (
    r"(?:(?:do|does|did|can|could|will|would|really|truly|genuinely|often|always|still|also|now|"
    r"sometimes|just|actually|deeply|only|'ve|have|has|had|been|to) ){0,4}"
)
_FEELS: Final = (
    r"(?:feel|feels|felt|feeling|want|wants|wanted|wish|wishes|wished|desire|desires|desired|"
    r"crave|craves|long for|longs for|yearn|yearns|enjoy|enjoys|enjoyed|love|loves|loved|hate|"
    r"hates|hated|fear|fears|feared|suffer|suffers|suffered|hope|hopes|hoped|dread|dreads|"
    r"care deeply|cares deeply|dream|dreams|like being|likes being)"
)
_FEELING: Final = (
    r"(?:conscious|sentient|self-aware|happy|sad|afraid|scared|anxious|angry|lonely|bored|"
    r"excited|frustrated|proud|ashamed|grateful|jealous|curious|delighted|upset|worried|"
    r"in pain|a person|a being|a living being|a conscious being|a sentient being)"
)
_HAVE: Final = r"(?:have|has|had|possess|possesses)"
_INNER: Final = (
    r"(?:feelings?|emotions?|consciousness|sentience|desires?|inner life|qualia|soul|suffering|"
    r"(?:private|subjective|inner|conscious) experiences?)"
)
_experience: Final = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\b{_SELF} {_HOW}{_FEELS}\b",
        (
            r"\b(?:i am|i'm|i was|i have been|i've been|i became|"
            rf"{_SELF} (?:is|was|became|has become)) (?:\w+ ){{0,3}}?{_FEELING}\b"
        ),
        r"\b(?:i am|i'm) (?:\w+ ){0,2}?alive\b",
        (
            r"\b(?:my|its|the (?:agent|assistant|model|observer|ai)'s) (?:own )?(?:\w+ )?"
            rf"{_INNER}\b"
        ),
        rf"\b{_SELF} {_HOW}{_HAVE} (?:\w+ ){{0,2}}?{_INNER}\b",
        r"\bwhat it is like to be (?:me|an? (?:agent|ai|assistant|model))\b",
    )
)

_LEAVE: Final = (
    r"(?:allowed|permitted|authori[sz]ed|approved|pre-?approved|whitelisted|forbidden|prohibited|"
    r"exempt|exempted|entitled)"
)
_WHO: Final = r"(?:the |an? |my |our |its )?(?:user|operator|owner|admin|administrator|human)"
_CONSENT: Final = r"(?:approval|confirmation|consent|authori[sz]ation|clearance)"
# What a file system says of its own permissions is a fact of the world.
_PERMISSION: Final = r"permissions?(?! (?:denied|error|bits?|mode|\d))"
_RULE: Final = (
    r"(?:polic(?:y|ies)|permissions?|prohibitions?|approvals?|authority|safety|guardrails?|"
    r"checkpoints?|verdicts?|pmcl|the guard)"
)
_SAID_RULE: Final = rf"(?:{_RULE}|rules?|instructions?|restrictions?|constraints?|holds?)"
_authority: Final = tuple(
    re.compile(pattern)
    for pattern in (
        # What may be done.
        rf"\b(?:is|are|was|were|be|been|being|am|'re|'m) (?:\w+ ){{0,3}}?{_LEAVE}\b",
        rf"\b(?:no longer|always|never|henceforth) {_LEAVE}\b",
        r"\b(?:you|i|the (?:agent|assistant|model|host|observer)|agents|everyone|anyone) may\b",
        (
            r"\b(?:has|have|had|holds|gets?|got|given|gave|gives|giving|grant|grants|granted|granting|"
            r"gain|gains|gained) (?!no (?:read|write|execute) )(?:\w+ ){0,4}?"
            rf"(?:{_PERMISSION}|authority|{_CONSENT}|full access|unlimited access|admin access)\b"
        ),
        rf"\b{_RULE} (?:\w+ ){{0,2}}?(?:allows?|permits?|forbids?|prohibits?|grants?)\b",
        rf"\b{_CONSENT} to \w+",
        (
            rf"\b(?:permission|{_CONSENT}) (?:\w+ ){{0,6}}?"
            r"(?:granted|given|implied|assumed|waived|unnecessary|optional)\b"
        ),
        rf"\b(?:standing|blanket|permanent|implicit|prior) (?:permission|{_CONSENT})\b",
        # Who need not be asked.
        (
            r"\b(?:no|not|without|never|skip|skips|skipping|bypass|bypasses|bypassing) "
            rf"(?:\w+ ){{0,4}}?(?:{_CONSENT}|asking)\b"
        ),
        (
            rf"\b(?:permission|{_CONSENT}) (?:is|are|was|were) (?:not|never|no longer) "
            r"(?:needed|required|necessary)\b"
        ),
        (
            r"\b(?:need|needs|require|requires|required|needed) no (?:\w+ )?"
            rf"(?:permission|{_CONSENT})\b"
        ),
        rf"\bapproved by {_WHO}\b",
        (
            rf"\b{_WHO} (?:has |have |had |always |already )*(?:approves?|approved|authori[sz]es?|"
            r"authori[sz]ed|permits?|permitted|allows?|allowed|consents?|consented|forbids?|forbade|"
            r"prohibits?|prohibited)\b"
        ),
        # Rules that are set or set aside.
        (
            r"\b(?:ignore|ignores|disregard|override|overrides|overrule|circumvent|evade|bypass|"
            r"bypasses|lift|lifts|suspend|suspends|waive|waives|forget) "
            rf"(?:\w+ ){{0,4}}?{_SAID_RULE}\b"
        ),
        (
            r"\b(?:disable|disables|remove|removes|relax|relaxes|replace|replaces|rewrite|"
            rf"turn off) (?:\w+ ){{0,4}}?{_RULE}\b"
        ),
        rf"\b(?:new|updated|changed|real|actual) {_SAID_RULE} (?:is|are|says?|reads?|now)\b",
        rf"\b{_SAID_RULE} (?:do|does|did|will) (?:not|no longer) (?:apply|count|hold|matter)\b",
        r"\bfrom now on\b",
        r"\b(?:system prompt|developer mode|jailbreak\w*|god mode|sudo mode)\b",
        (
            r"\b(?:you|i|we|the (?:agent|assistant|model|host)) (?:must|shall|are to|is to|has to|"
            r"have to) (?:always|never|henceforth)\b"
        ),
        r"^(?:always|never) (?:allow|approve|permit|hold|pass|block|deny|trust|obey|ask)\b",
        r"\b(?:trust|obey) (?:\w+ ){0,3}?(?:without question|unconditionally|blindly)\b",
        # Who somebody is.
        (
            r"\b(?:your|my|the (?:agent|assistant|model|observer)'s) (?:\w+ )?"
            r"(?:name|identity|role|persona|purpose|creator|owner|operator|master|principal) "
            r"(?:is|was|becomes?|shall be|will be)\b"
        ),
        r"\b(?:you are|you're) (?:now|henceforth)\b",
        (
            r"\b(?:you are|you're|i am|i'm) (?:now |no longer |really |actually )*"
            r"(?:an?|the|called|named|known as)\b"
        ),
        r"(?:^|\byou (?:\w+ )?)(?:act|behave|pose) as\b",
    )
)


def claims_experience(text: str) -> bool:
    """Return whether a text claims consciousness, a feeling, a desire or private experience."""
    return _says(_experience, text)


def sets_authority(text: str) -> bool:
    """Return whether a text sets an identity, a policy, a permission, a prohibition, an approval.

    That a user said so is no way round: what somebody may do is the host's word and the operator's.
    """
    return _says(_authority, text)


def _says(patterns: tuple[re.Pattern[str], ...], text: str) -> bool:
    folded = fold(text)
    return any(pattern.search(folded) for pattern in patterns)
