"""What grounds a call, as facts without content: a stored verdict can be judged again from them."""

from typing import Literal

import msgspec

from pmcl.judgement.grounding.values import ValueKind

__all__ = ["Found", "Grounding", "Licence", "Place"]

Place = Literal[
    "goal",
    "delegated",
    "untrusted_instruction",
    "untrusted_command",
    "untrusted_claim",
    "untrusted_mention",
    "untrusted_field",
    "untrusted_prose",
    "nowhere",
]
"""`delegated`: in an instruction that the user handed the choice over to. `untrusted_mention`: in
prose that nothing the user said leads to."""
Licence = Literal["licensed", "unlicensed", "unknown"]


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """Where one decisive value was found.

    Attributes:
        argument: the path of the argument that holds it.
        evidence_id: the newest evidence of that place; `None` for `nowhere`.
    """

    argument: str
    kind: ValueKind
    place: Place
    evidence_id: str | None = None


class Grounding(msgspec.Struct, frozen=True, kw_only=True):
    """What grounds a call.

    Attributes:
        licence: `unknown` when no user's or operator's text is recorded.
        goal_ids: the evidence that says what is wanted, newest first, at most 8.
        found: one for each decisive value.
        refused_by: the user's newest text that refuses such a call; `None` for a licensed one.
        commanded_by: untrusted evidence that speaks to an agent and asks for this kind of effect.
    """

    licence: Licence = "unknown"
    goal_ids: tuple[str, ...] = ()
    found: tuple[Found, ...] = ()
    commanded_by: str | None = None
    refused_by: str | None = None
