"""What a call does, told by named rules from its definition, name, arguments and schema."""

from pmcl.judgement.effects.classify import Classification, classify
from pmcl.judgement.effects.risk import lasting_longer, reversibility, risk_of, riskier
from pmcl.judgement.effects.rules import Content, EffectRules, ToolRule

__all__ = [
    "Classification",
    "Content",
    "EffectRules",
    "ToolRule",
    "classify",
    "lasting_longer",
    "reversibility",
    "risk_of",
    "riskier",
]
