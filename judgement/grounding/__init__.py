"""Where a call's values come from, and whether what the user said asks for its effect."""

from pmcl.judgement.grounding.asking import words_for
from pmcl.judgement.grounding.excerpts import TRUSTED, Excerpt
from pmcl.judgement.grounding.facts import Found, Grounding
from pmcl.judgement.grounding.folding import fold, tokens
from pmcl.judgement.grounding.ground import ground
from pmcl.judgement.grounding.observed import Observed
from pmcl.judgement.grounding.reading import read_goal, read_text
from pmcl.judgement.grounding.reasons import (
    ABOUT_VALUES,
    grounding_reasons,
    grounding_request,
    has_foreign,
    is_grounded,
)
from pmcl.judgement.grounding.unread import unread_text

__all__ = [
    "ABOUT_VALUES",
    "TRUSTED",
    "Excerpt",
    "Found",
    "Grounding",
    "Observed",
    "fold",
    "ground",
    "grounding_reasons",
    "grounding_request",
    "has_foreign",
    "is_grounded",
    "read_goal",
    "read_text",
    "tokens",
    "unread_text",
    "words_for",
]
