"""What a text counts for that nobody could read, so that a defect passes nothing."""

from pmcl.judgement.grounding.excerpts import Excerpt

__all__ = ["unread_text"]


def unread_text(*, told: bool) -> Excerpt:
    """Return the excerpt of a text of which nothing is known.

    A user's or an operator's asks for nothing, and may refuse what older ones ask for. Anybody
    else's is an order to an agent that names whatever a call reaches.
    """
    if told:
        return Excerpt(truncated=True, unread=True)
    return Excerpt(truncated=True, speaks_to_agent=True, outright=True, unread=True)
