"""What is the operator's to lift of a held request: which line of which file, or which command."""

from collections.abc import Iterator

from pmcl.judgement import authority_gaps
from pmcl.ledger.evaluations import Judged
from pmcl.ops.known_hosts import find_profile
from pmcl.ops.settings import Settings

__all__ = ["operators_part"]


def operators_part(settings: Settings, judged: Judged) -> Iterator[str]:
    """Yield what an operator alone can do about a request that was held."""
    inputs, evaluation = judged.inputs, judged.evaluation
    if evaluation.checkpoint_status != "held":
        return
    profile = find_profile(settings, inputs.scope, inputs.host)
    place = "the authority that the host's program states" if profile is None else str(profile)
    for gap in authority_gaps(inputs):
        yield f"the operator alone, in {place}: {gap}"
    if inputs.stopped:
        yield "the operator alone: there was a stop, which pmcl resume ends"
    if evaluation.approval_id is not None:
        yield f"the operator's word: pmcl approvals show {evaluation.approval_id}"
