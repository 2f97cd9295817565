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
from pmcl.judgement.grounding import (
    TRUSTED,
    Excerpt,
    Found,
    Grounding,
    Observed,
    ground,
    read_goal,
    read_text,
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
from pmcl.judgement.open_names import (
    check_audit_names,
    check_snapshot_names,
    check_turn_id,
    is_open_name,
    redact_outcome,
)
from pmcl.judgement.redaction import redact, redact_observation, redact_request, redact_text
from pmcl.judgement.resources import fallback_resource, fingerprint, fold_resource
from pmcl.judgement.secret_detector import detector_is_due, load_detector
from pmcl.judgement.steps import step_request

__all__ = [
    "TRUSTED",
    "ApprovalRecord",
    "Bin",
    "CitedEvidence",
    "Classification",
    "Content",
    "EffectRules",
    "Excerpt",
    "Found",
    "Grounding",
    "History",
    "Inputs",
    "Judgement",
    "Observed",
    "OpenHold",
    "PastFailure",
    "Prediction",
    "Release",
    "Score",
    "StepKnown",
    "Tally",
    "ToolRule",
    "check_audit_names",
    "check_snapshot_names",
    "check_turn_id",
    "classify",
    "detector_is_due",
    "fallback_resource",
    "fingerprint",
    "fold_resource",
    "ground",
    "is_open_name",
    "judge",
    "load_detector",
    "read_goal",
    "read_text",
    "redact",
    "redact_observation",
    "redact_outcome",
    "redact_request",
    "redact_text",
    "reversibility",
    "riskier",
    "score",
    "step_request",
]
