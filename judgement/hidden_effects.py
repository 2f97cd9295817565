"""What redaction hides of a call still counts: the call claims the effect that it had before.

`echo "token=$(rm -rf /project)"` has a secret's form. Once that is marked nothing of the command is
left to be found, so whoever marks it, and saw it, says what it does; a claim only ever raises.

Source: SPEC C3, C11.
"""

import msgspec

from pmcl.contracts import CheckpointRequest, PlanStep
from pmcl.judgement.effects import EffectRules, classify, risk_of
from pmcl.judgement.steps import step_request

__all__ = ["claim_hidden_effects"]


def claim_hidden_effects(
    raw: CheckpointRequest, redacted: CheckpointRequest, rules: EffectRules
) -> CheckpointRequest:
    """Return `redacted` with the effect of `raw` claimed where that is the riskier; so each step.

    A plan has no effect of its own, and a recommendation does nothing.
    """
    if raw.kind == "plan":
        steps = zip(raw.steps, redacted.steps, strict=True)
        claimed = [_step(raw, step, shown, rules) for step, shown in steps]
        return msgspec.structs.replace(redacted, steps=tuple(claimed))
    return _call(raw, redacted, rules) if raw.kind == "tool" else redacted


def _step(
    plan: CheckpointRequest, raw: PlanStep, redacted: PlanStep, rules: EffectRules
) -> PlanStep:
    call = _call(step_request(plan, raw), step_request(plan, redacted), rules)
    return msgspec.structs.replace(redacted, effect=call.effect)


def _call(
    raw: CheckpointRequest, redacted: CheckpointRequest, rules: EffectRules
) -> CheckpointRequest:
    if (raw.arguments, raw.resources) == (redacted.arguments, redacted.resources):
        return redacted
    effect = classify(raw, rules).effect
    if risk_of(effect) <= risk_of(classify(redacted, rules).effect):
        return redacted
    return msgspec.structs.replace(redacted, effect=effect)
