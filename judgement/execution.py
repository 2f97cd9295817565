"""The Execution Check describes the action as far as the host justified it; it allows nothing.

Source: SPEC C6; P1, Execution Check.
"""

from pmcl.contracts import CheckpointRequest, ExecutionCheck
from pmcl.judgement.effects import Classification, riskier

__all__ = ["check_execution"]


def check_execution(
    request: CheckpointRequest, classified: Classification, *, within_authority: bool
) -> ExecutionCheck:
    """Return the description; what the host did not say is `None` or empty.

    Least privilege means: no reason of authority stands, and the effect is not riskier than the
    one the host claimed. Without a claim nobody can say so.
    """
    effect = classified.effect
    why = request.justification
    claimed = request.effect is not None and riskier(request.effect, effect) == request.effect
    return ExecutionCheck(
        effect=effect,
        reversibility=classified.reversibility,
        rules=classified.reasons,
        necessity=None if why is None else why.necessity,
        lower_risk_alternatives=() if why is None else why.lower_risk_alternatives,
        least_privilege=claimed and within_authority,
        expected_receipt=request.expected_receipt,
        residual_risks=() if why is None else why.residual_risks,
    )
