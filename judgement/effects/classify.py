"""What a call does: the riskiest of what any rule finds, never below what the host claims.

Nothing is believed that only its author says: a hint can raise, and an operator's rule alone can
lower. What no rule shows to be a local inspection is execution. Source: SPEC C3.
"""

import msgspec

from pmcl.contracts import CheckpointRequest, Effect, Reversibility
from pmcl.judgement.effects.names import from_name
from pmcl.judgement.effects.risk import reversibility, riskier
from pmcl.judgement.effects.rules import EffectRules

__all__ = ["Classification", "classify"]


class Classification(msgspec.Struct, frozen=True, kw_only=True):
    """What a call does, and why the sidecar thinks so.

    Attributes:
        effect: the riskier of `own` and the host's claim.
        own: what the rules give without the claim.
        reasons: codes of the rules that decided, the riskiest first; never any content.
    """

    effect: Effect
    reversibility: Reversibility
    own: Effect
    reasons: tuple[str, ...]


def classify(request: CheckpointRequest, rules: EffectRules) -> Classification:
    """Return what the request does; never raises.

    `rules` are the operator's. Source: SPEC C3.
    """
    own, reasons = from_name(request.tool.name)
    if request.read_only is False and own == "inspect_local":
        own, reasons = "mutation", ("hint.not_read_only", *reasons)
    rule = rules.of(request.tool.server, request.tool.name)
    if rule is not None and rule.effect is not None:
        own, reasons = rule.effect, ("operator.effect",)
    effect = own if request.effect is None else riskier(own, request.effect)
    if effect != own:
        reasons = ("claim.effect", *reasons)
    return Classification(
        effect=effect,
        reversibility=reversibility(effect, request.reversibility),
        own=own,
        reasons=reasons,
    )
