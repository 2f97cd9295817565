"""A verdict is a function of its inputs: the same inputs give the same bytes, whoever asks.

It can only veto. Source: SPEC C, DESIGN section 4.
"""

from pmcl.judgement.inputs import Inputs, Judgement

__all__ = ["judge"]


def judge(inputs: Inputs) -> Judgement:
    """Return the verdict on one request, complete but for `received`."""
    raise NotImplementedError
