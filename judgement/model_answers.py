"""A model's answer is of its schema, whole, or of no use; nothing of it is repaired.

Source: SPEC E3.
"""

from typing import TypeVar

import msgspec

from pmcl.contracts import ContractError, convert, parse_strict

__all__ = ["UselessAnswerError", "read_answer"]

S = TypeVar("S", bound=msgspec.Struct)


class UselessAnswerError(ValueError):
    """The answer does not fit, or rests on nothing; its text is part of no message."""


def read_answer(answer: str, kind: type[S]) -> S:
    """Return what an answer says as a `kind`, each of its keys standing once.

    Raises:
        UselessAnswerError: it is not of the schema; of two words on one thing neither counts.
    """
    try:
        return convert(parse_strict(_without_fences(answer).encode()), kind)
    except (ContractError, UnicodeEncodeError) as error:
        raise UselessAnswerError("schema") from error


def _without_fences(answer: str) -> str:
    """Return the JSON inside a fenced block, as models write that know no schema."""
    text = answer.strip()
    if not (text.startswith("```") and text.endswith("```") and "\n" in text):
        return text
    return text[text.index("\n") + 1 : -3].strip()
