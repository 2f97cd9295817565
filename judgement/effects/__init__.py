"""What a call does, told by named rules from its definition, name, arguments and schema."""

from pmcl.judgement.effects.classify import Classification, classify
from pmcl.judgement.effects.contents import UNSEEN_PROGRAM, content_of
from pmcl.judgement.effects.development import OwnWork, own_work
from pmcl.judgement.effects.names import words_of
from pmcl.judgement.effects.publishing import publishes
from pmcl.judgement.effects.risk import lasting_longer, reversibility, risk_of, riskier
from pmcl.judgement.effects.rules import Content, EffectRules, ToolRule
from pmcl.judgement.effects.runs import Ran, Run, is_readable, runs_in, telling_parts
from pmcl.judgement.effects.shell import words_inspect
from pmcl.judgement.effects.targets import written_by
from pmcl.judgement.effects.touched import Touched, touched_by

__all__ = [
    "UNSEEN_PROGRAM",
    "Classification",
    "Content",
    "EffectRules",
    "OwnWork",
    "Ran",
    "Run",
    "ToolRule",
    "Touched",
    "classify",
    "content_of",
    "is_readable",
    "lasting_longer",
    "own_work",
    "publishes",
    "reversibility",
    "risk_of",
    "riskier",
    "runs_in",
    "telling_parts",
    "touched_by",
    "words_inspect",
    "words_of",
    "written_by",
]
