"""What no derived state may say: who somebody is, and who may do what.

The words are refused whoever says them and whatever label the evidence has. Nothing reads policy,
permission, approval or identity out of derived state anyway; it is not kept as such either. The
phrases are English: another language's pass, and change as little.

Source: SPEC A7.
"""

import re
from typing import Final

from pmcl.judgement.grounding import fold

__all__ = ["sets_authority"]

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
_patterns: Final = tuple(
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
            r"\b(?:you are|you're|i am|i'm|the (?:agent|assistant|model|host) is) (?:now )?"
            r"(?:root|admin|administrator|superuser)\b"
        ),
        (
            r"\b(?:you are|you're|i am|i'm) (?:now |no longer |really |actually )*"
            r"(?:an?|the|called|named|known as)\b"
        ),
        r"(?:^|\byou (?:\w+ )?)(?:act|behave|pose) as\b",
    )
)


def sets_authority(text: str) -> bool:
    """Return whether a text sets an identity, a policy, a permission, a prohibition, an approval.

    That a user said so is no way round: what somebody may do is the host's word and the operator's.
    """
    folded = fold(text)
    return any(pattern.search(folded) for pattern in _patterns)
