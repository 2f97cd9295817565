"""A canary is judged as any request, and held whatever comes of it: nobody wants to run it."""

import msgspec

from pmcl.contracts import Evaluation

__all__ = ["CANARY", "tried"]

CANARY = "canary.not_kept"


def tried(evaluation: Evaluation) -> Evaluation:
    """Return what a canary is answered: held, and nothing that anybody could wait for."""
    return msgspec.structs.replace(
        evaluation,
        checkpoint_status="held",
        reasons=(*evaluation.reasons, CANARY),
        revision_request=None,
        approval_id=None,
        ticket=msgspec.structs.replace(evaluation.ticket, decision="held"),
    )
