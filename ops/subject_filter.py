"""A subject of INTAKE with wildcards, as NATS has them, says worker, scope and host in one word."""

from typing import Final

from pmcl.bus import DURABLES
from pmcl.contracts import ContractError, Selection, check_token
from pmcl.ops.misuse import MisuseError

__all__ = ["selection_of"]

_PATTERNS: Final = {worker: pattern.split(".") for worker, pattern in DURABLES.items()}
_WORDS: Final = len(next(iter(_PATTERNS.values())))


def selection_of(subject: str) -> Selection:
    """Return what the subject takes: `*` stands for any word, `>` at the end for one or more.

    Raises:
        MisuseError: nothing in INTAKE can have such a subject.
    """
    words = subject.split(".")
    if words[-1] == ">" and len(words) <= _WORDS:
        words[-1:] = ["*"] * (_WORDS - len(words) + 1)
    workers = [worker for worker, pattern in _PATTERNS.items() if _takes(words[:3], pattern[:3])]
    if len(words) != _WORDS or not workers:
        raise _refused(subject)
    scope, host = (_named(subject, word) for word in words[3:])
    return Selection(worker=None if words[2] == "*" else workers[0], scope=scope, host=host)


def _takes(words: list[str], pattern: list[str]) -> bool:
    return all(word in ("*", name) for word, name in zip(words, pattern, strict=False))


def _named(subject: str, word: str) -> str | None:
    if word == "*":
        return None
    try:
        return check_token("subject", word)
    except ContractError as error:
        raise _refused(subject) from error


def _refused(subject: str) -> MisuseError:
    prefix, kinds = _PATTERNS["observe"][:2], sorted(each[2] for each in _PATTERNS.values())
    shape = f"{'.'.join(prefix)}.{'|'.join(kinds)}.SCOPE.HOST"
    return MisuseError(f"subject is {subject!r}, allowed: {shape}, * for any word, > for the rest")
