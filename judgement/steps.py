"""A plan is no better than its worst step, and its pass covers none of them.

Each step is looked at as the tool call that it would be. What evidence or a receipt must show for a
call is asked for at the call, where it is fresh; so a plan places no hold and releases none.
Source: SPEC C1.
"""

from collections.abc import Iterator
from functools import reduce
from typing import Final

import msgspec

from pmcl.contracts import CheckpointRequest, PlanStep
from pmcl.judgement.authority import LEASE_EXPIRED, lease_lives
from pmcl.judgement.calls import examine_call
from pmcl.judgement.effects import Classification, classify, lasting_longer, risk_of
from pmcl.judgement.examined import Examined
from pmcl.judgement.failures import IMPACT
from pmcl.judgement.grounding import Grounding
from pmcl.judgement.inputs import Inputs

__all__ = ["examine_plan", "step_request"]

_ASKED_AT_THE_CALL: Final = ("grounding.", "plan.", "sensing.", "state.")
_SAID_MAX: Final = 2


def step_request(request: CheckpointRequest, step: PlanStep) -> CheckpointRequest:
    """Return the tool call that a step of a plan would be."""
    return msgspec.structs.replace(
        request,
        kind="tool",
        tool=step.tool,
        arguments=step.arguments or {},
        steps=(),
        definition=None,
        resources=step.resources,
        expected_outcome=step.expected_outcome,
        expected_receipt=None,
        read_only=None,
        effect=step.effect,
        premortem=None,
    )


def examine_plan(inputs: Inputs) -> Examined:
    """Return what is found of a plan, each reason with the step that it is about."""
    steps = [examine_call(step, classify(step.request, step.rules)) for step in _steps(inputs)]
    reasons = [] if lease_lives(inputs) else [LEASE_EXPIRED]
    said: list[str] = []
    for index, step in enumerate(steps):
        counted = [reason for reason in step.reasons if _counts(reason)]
        reasons.extend(f"{reason}@$.steps[{index}]" for reason in counted)
        if any(not reason.startswith("authority.") for reason in counted):
            said.extend(f"$.steps[{index}]: {text}" for text in step.said)
    worst = max(steps, key=_badness)
    return Examined(
        classified=_classified([step.classified for step in steps]),
        plan=msgspec.structs.replace(
            worst.plan,
            intended_outcome=inputs.request.expected_outcome,
            material=any(step.plan.material for step in steps),
        ),
        reasons=tuple(reasons),
        said=tuple(said[:_SAID_MAX]),
    )


def _steps(inputs: Inputs) -> Iterator[Inputs]:
    """Yield what each step would be judged by, were it asked for as a call."""
    for step, known in zip(inputs.request.steps, inputs.steps, strict=True):
        yield msgspec.structs.replace(
            inputs,
            request=step_request(inputs.request, step),
            resource_keys=known.resource_keys,
            history=known.history,
            lesson=known.lesson,
            steps=(),
            grounding=Grounding(),
        )


def _counts(reason: str) -> bool:
    return reason != LEASE_EXPIRED and not reason.startswith(_ASKED_AT_THE_CALL)


def _badness(step: Examined) -> float:
    return step.plan.forecast.probability * IMPACT[step.classified.effect]


def _classified(found: list[Classification]) -> Classification:
    """Return the riskiest step's effect with the longest lasting reversibility of all."""
    worst = max(found, key=lambda step: risk_of(step.effect))
    lasting = reduce(lasting_longer, [step.reversibility for step in found])
    return msgspec.structs.replace(worst, reversibility=lasting)
