"""The first paper as pure functions: what a request does, and whether it may go on."""

from pmcl.judgement.calibration import Bin, Prediction, Score, score
from pmcl.judgement.effects import (
    Classification,
    Content,
    EffectRules,
    ToolRule,
    classify,
    reversibility,
    riskier,
)
from pmcl.judgement.inputs import (
    ApprovalRecord,
    CitedEvidence,
    History,
    Inputs,
    Judgement,
    OpenHold,
    PastFailure,
    Release,
    StepKnown,
    Tally,
)
from pmcl.judgement.judge import judge
from pmcl.judgement.redaction import redact, redact_observation, redact_request, redact_text
from pmcl.judgement.resources import fallback_resource, fingerprint, fold_resource
from pmcl.judgement.steps import step_request

__all__ = [
    "ApprovalRecord",
    "Bin",
    "CitedEvidence",
    "Classification",
    "Content",
    "EffectRules",
    "History",
    "Inputs",
    "Judgement",
    "OpenHold",
    "PastFailure",
    "Prediction",
    "Release",
    "Score",
    "StepKnown",
    "Tally",
    "ToolRule",
    "classify",
    "fallback_resource",
    "fingerprint",
    "fold_resource",
    "judge",
    "redact",
    "redact_observation",
    "redact_request",
    "redact_text",
    "reversibility",
    "riskier",
    "score",
    "step_request",
]
