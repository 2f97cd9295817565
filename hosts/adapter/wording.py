"""What a model is told of a held call: what it can do itself, and what is the operator's alone.

It sees no id of evidence or of a call: its adapter cites what it was shown about the resources, and
gives each call an id. The demand is the sidecar's; only the words differ.
"""

import re
from collections.abc import Iterator
from typing import Final

import msgspec

from pmcl.hosts.verdict import Verdict
from pmcl.judgement import Phrases, reword

__all__ = ["BY_CALLS", "BY_PROMPT", "in_words", "told_of"]

BY_CALLS: Final = Phrases(
    look="let a tool show you something about ",
    unseen=", after this answer",
    cite=", then make the same call again: the output of a call that names it is cited for you."
    " Where no tool can show it, tell the user.",
    recent="first let a tool show you, within 5 minutes, something about what the call names",
    again="make exactly the same call again.",
    ask="ask, and let the answer name the value",
    answered="; it counts once a hook or a program has recorded it as theirs.",
    learned=" Verified runs of this action rested on the output of ",
)
"""Behind an adapter that hears no user."""
BY_PROMPT: Final = msgspec.structs.replace(
    BY_CALLS, answered="; it is recorded when it is given, then make the call again."
)
"""Behind one that records what the user says."""

_PROFILE: Final = frozenset(
    {
        "authority.effect_prohibited",
        "authority.host_not_allowed",
        "authority.path_outside_roots",
        "authority.tool_prohibited",
    }
)
_FINAL: Final = {
    "authority.approval_denied": "An operator denied exactly this call.",
    "authority.lease_expired": "The session's lease ended meanwhile: make the same call again.",
    "authority.operators_own": (
        "This belongs to the operator, who alone runs, reads or changes it: tell the user."
    ),
    "authority.stopped": "An operator stopped everything but local inspections.",
}


_UNJUDGED: Final = (
    "Nobody could judge it: only local inspections go on until the operator's sidecar answers."
)
_call = re.compile(r"the other call:[0-9a-f]{64}")


def in_words(text: str, phrases: Phrases) -> str:
    """Return a revision request in an adapter's phrases; a call without resources is itself one."""
    return _call.sub("exactly this call", reword(text, phrases))


def told_of(verdict: Verdict, revision: str | None) -> Iterator[str]:
    """Yield what can be done about a held call, line by line; `revision` comes first."""
    if revision is not None:
        yield revision
    for reason, said in _FINAL.items():
        if reason in verdict.reasons:
            yield said
    if verdict.evaluation is None:
        yield _UNJUDGED
    outside = [reason for reason in verdict.reasons if reason in _PROFILE]
    if outside and verdict.evaluation is not None:
        yield (
            f"Only the operator can lift {' and '.join(outside)}, in this host's profile: neither"
            f" evidence nor another tool does. It says what that takes: pmcl judge"
            f" {verdict.evaluation.evaluation_id}"
        )
    if verdict.approval_id is not None and "authority.approval_denied" not in verdict.reasons:
        yield f"It waits for an operator: pmcl approvals show {verdict.approval_id}"
