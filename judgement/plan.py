"""A material failure that no evidence mitigates is never passed; words mitigate nothing.

Source: SPEC C5; P1, Plan Check.
"""

from typing import Final

import msgspec

from pmcl.contracts import Effect, FailureForecast, PlanCheck, Resource, Reversibility
from pmcl.judgement.effects import UNSEEN_PROGRAM, Classification
from pmcl.judgement.failures import IMPACT, forecast, prior_after, usual_mitigation
from pmcl.judgement.grounding import is_grounded
from pmcl.judgement.holds import about, supporting
from pmcl.judgement.inputs import Inputs, OpenHold
from pmcl.judgement.lessons import Lesson
from pmcl.judgement.resources import fallback_resource
from pmcl.judgement.revising import BY_IDS

__all__ = ["MATERIAL_FROM", "check_plan", "is_material", "needs_approval", "revision_request"]

MATERIAL_FROM: Final = 0.05
"""Probability times impact from which a failure is material. With the catalogue's numbers every
effect but a local inspection is: the lowest, network, stands at 0.15 * 0.4 = 0.06."""

_UNCERTAIN_FROM: Final = 2
# Together they keep a revision request below 1 KiB.
_NAMED_MAX: Final = 2
_VALUE_MAX_BYTES: Final = 320
_SOURCE_MAX_BYTES: Final = 40


def check_plan(inputs: Inputs, effect: Effect, reversible: Reversibility) -> PlanCheck:
    """Return the pre-mortem of the request.

    It is mitigated when `premortem.evidence_ids` names unerased evidence of this scope and
    generation about one of the request's resources that no model wrote, or when what the user said
    asks for the effect and no value of the call is of untrusted making (`grounding.is_grounded`).
    """
    request = inputs.request
    premortem = request.premortem
    expected = _forecast(inputs, effect)
    shown: tuple[str, ...] = ()
    if premortem is not None and premortem.evidence_ids:
        named = premortem.evidence_ids
        shown = about(
            [item for item in supporting(inputs) if item.evidence_id in named],
            inputs.resource_keys,
        )
    if not shown and is_grounded(inputs.grounding):
        shown = inputs.grounding.goal_ids
    material = is_material(effect, reversible, expected)
    mitigation = usual_mitigation() if material else None
    return PlanCheck(
        intended_outcome=request.expected_outcome,
        forecast=expected,
        material=material,
        mitigation=mitigation if premortem is None else premortem.mitigation,
        mitigated=bool(shown),
        evidence_ids=shown,
    )


def _forecast(inputs: Inputs, effect: Effect) -> FailureForecast:
    """Return the forecast, naming the lesson of the tool as it describes itself now."""
    expected, lesson = forecast(effect, inputs.history), inputs.lesson
    if lesson is None or lesson.definition_hash != inputs.request.tool.definition_hash:
        return expected
    return msgspec.structs.replace(expected, lesson=lesson.fingerprint, verified_runs=lesson.runs)


def needs_approval(inputs: Inputs, classified: Classification, plan: PlanCheck) -> bool:
    """Return whether an operator must have seen the call, whatever mitigates it.

    High impact at low confidence: it runs a program that nobody has seen, and the user did not give
    the command. Irreversible and uncertain: most of its known outcomes failed, two at least, and
    the user's words do not ask for it.
    """
    if UNSEEN_PROGRAM in classified.reasons and not _gave_command(inputs):
        return True
    known = plan.forecast
    failing = known.runs >= _UNCERTAIN_FROM and 2 * known.failures > known.runs
    lasting = classified.reversibility == "irreversible"
    return plan.material and lasting and failing and not is_grounded(inputs.grounding)


def _gave_command(inputs: Inputs) -> bool:
    found = inputs.grounding.found
    return any(value.kind == "command" and value.place == "goal" for value in found)


def is_material(effect: Effect, reversible: Reversibility, expected: FailureForecast) -> bool:
    """Return whether the failure would matter.

    Unverified successes lower the forecast but not this: the higher of forecast and prior counts,
    and of successes only the verified runs of a mature lesson lower the prior (SPEC D4). What
    cannot be undone is material whatever was learned.
    """
    if effect == "inspect_local":
        return False
    probability = max(expected.probability, prior_after(effect, expected.verified_runs))
    return reversible == "irreversible" or probability * IMPACT[effect] >= MATERIAL_FROM


def revision_request(inputs: Inputs, standing: tuple[OpenHold, ...]) -> str:
    """Return what would lift the hold: which observation, about what, cited where; at most 1 KiB.

    `standing` are the earlier holds that the request did not lift; each asks for evidence that it
    has not seen, about a resource of its own.
    """
    request = inputs.request
    resources = request.resources or (fallback_resource(request.tool, request.arguments),)
    held = _held(inputs, resources, standing)
    others = len(resources) - 1 if not held else 0
    return (
        f"Held. To lift this, {BY_IDS.look}"
        + " and about ".join(_named(resource) for resource in held or resources[:1])
        + (f" or another of the request's {len(resources)} resources" if others else "")
        + (BY_IDS.unseen if standing else "")
        + BY_IDS.cite
        + _learned(inputs.lesson)
    )


def _learned(lesson: Lesson | None) -> str:
    """Return what a run that succeeded had cited, for the model to look there again."""
    if lesson is None or lesson.cited is None:
        return ""
    source = _cut(lesson.cited.source, _SOURCE_MAX_BYTES)
    return f"{BY_IDS.learned.format(lesson.cited.evidence_id)}{source}."


def _held(
    inputs: Inputs, resources: tuple[Resource, ...], standing: tuple[OpenHold, ...]
) -> tuple[Resource, ...]:
    if len(resources) != len(inputs.resource_keys):
        return ()  # two spellings of one resource: which key is whose is not known here
    by_key = dict(zip(inputs.resource_keys, resources, strict=True))
    firsts = dict.fromkeys(
        next(key for key in inputs.resource_keys if key in hold.resource_keys) for hold in standing
    )
    return tuple(by_key[key] for key in firsts)[:_NAMED_MAX]


def _named(resource: Resource) -> str:
    return f"the {resource.kind} {_cut(resource.value, _VALUE_MAX_BYTES)}"


def _cut(text: str, max_bytes: int) -> str:
    data = text.encode()
    return text if len(data) <= max_bytes else f"{data[:max_bytes].decode(errors='ignore')}…"
