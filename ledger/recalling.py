"""Recalling items: memories, beliefs and lessons by what they say and by how new they are.

How many texts there are of a word, or of a kind, makes no difference to what is read.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from pmcl.contracts import EVERY_VISIBILITY, ItemKind, Visibility
from pmcl.judgement import Finds, most_telling, rank, words_to_ask
from pmcl.ledger.items import Item, newest
from pmcl.ledger.payloads import mark_words
from pmcl.ledger.proposals import read_proposal
from pmcl.store import Transaction, load_queries

__all__ = ["relevant"]

_queries = load_queries("pmcl.ledger", "recalling")

_FOUND_MAX: Final = 64
"""Of the newest texts that hold a word."""
_READ_MAX: Final = 64
"""Of the texts that hold any of the words; to read one costs more than to find many."""
_NEWEST_MAX: Final = 16
"""Of each kind, whatever they say."""
_RECALLED: Final[tuple[ItemKind, ...]] = ("belief", "lesson", "memory")


def relevant(
    tx: Transaction,
    scope: str,
    question: str,
    now_ms: int,
    visible: Sequence[Visibility] = EVERY_VISIBILITY,
) -> list[Item]:
    """Return live memories, beliefs and lessons, what the question asks for first.

    Looked at are the newest that hold one of its words, of these what tells most, and the newest of
    each kind.
    """
    finds = _finds(tx, scope, question, visible)
    items = {item.payload: item for item in _telling(tx, scope, finds, visible)}
    for kind in _RECALLED:
        for item in newest(tx, scope, kind, _NEWEST_MAX, visible):
            items[item.payload] = item
    ages = {number: now_ms - item.admitted_at for number, item in items.items()}
    return [items[number] for number in rank(finds, ages)]


def _finds(
    tx: Transaction, scope: str, question: str, visible: Sequence[Visibility]
) -> list[Finds]:
    last = tx.one(_queries.newest_payload)
    assert last is not None
    return [_holding(tx, scope, word, last["payload"], visible) for word in words_to_ask(question)]


def _holding(
    tx: Transaction, scope: str, word: str, last: int, visible: Sequence[Visibility]
) -> Finds:
    marked = " OR ".join(f'"{mark_words(scope, each, (word,))}"' for each in visible)
    rows = tx.all(_queries.holding, word=marked, max_rows=_FOUND_MAX)
    numbers = tuple(row["payload"] for row in rows)
    return Finds(numbers=numbers, cut=len(numbers) == _FOUND_MAX, newest=last)


def _telling(
    tx: Transaction, scope: str, finds: list[Finds], visible: Sequence[Visibility]
) -> list[Item]:
    wanted = msgspec.json.encode(most_telling(finds, _READ_MAX)).decode()
    rows = tx.all(_queries.numbered, scope=scope, payloads=wanted)
    items = [read_proposal(Item, row) for row in rows]
    return [item for item in items if item.visibility in visible]
