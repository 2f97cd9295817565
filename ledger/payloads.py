"""Payloads: the erasable content behind an envelope, each under a salt of its own.

An envelope holds HMAC(salt, content). The salt dies with the payload, so afterwards the
commitment confirms no guess.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Final

import msgspec

from pmcl.contracts import (
    Evaluated,
    Event,
    EvidenceRecorded,
    EvolutionProposed,
    IdentityConfigured,
    ItemAdmitted,
    PayloadRetaken,
    ProposalRejected,
    Speaker,
    keyed_digest,
)
from pmcl.judgement import Excerpt, Observed, unread_text
from pmcl.ledger.unread import newest_unread
from pmcl.store import Reader, Row, Transaction, load_queries

__all__ = [
    "SALT_BYTES",
    "Envelope",
    "Payload",
    "commitments",
    "content_of",
    "copy_kept",
    "count_lacking",
    "detail_digest_of",
    "envelope_of",
    "keep",
    "kept_after",
    "mark_words",
    "newest_excerpts",
    "optimize_words",
    "same_content",
    "stray",
]

SALT_BYTES: Final = 16
_TOLD_MAX: Final = 8
_OTHERS_MAX: Final = 32
_SPEAKING: Final[dict[Speaker, tuple[bool, ...]]] = {
    "told": (True,),
    "others": (False,),
    "unknown": (True, False),
}

_queries = load_queries("pmcl.ledger", "payloads")
SCHEMA: Final = _queries.schema

_encoder = msgspec.msgpack.Encoder()
_keys = msgspec.json.Decoder(tuple[str, ...])
_excerpts = msgspec.msgpack.Decoder(Excerpt)


class Payload(msgspec.Struct, frozen=True, kw_only=True):
    """Content that belongs to the envelope `id` of a scope.

    Attributes:
        detail_digest: SHA-256 of an observation's detail, to be met by an outcome's receipt.
        told: of an observation, whether a user or an operator said it.
        excerpt: of an observation, what checks read of it; it goes with the content.
        words: of a text that is found by its words, these, as `mark_words` writes them.
    """

    scope: str
    id: str
    salt: bytes
    content: bytes
    detail_digest: str | None = None
    told: bool | None = None
    excerpt: Excerpt | None = None
    words: str | None = None

    @property
    def commitment(self) -> str:
        """What the envelope holds of the content."""
        return keyed_digest(self.salt, self.content)


class Envelope(msgspec.Struct, frozen=True):
    """What an event says of the payload `id` of its scope."""

    scope: str
    id: str
    commitment: str


def envelope_of(event: Event) -> Envelope | None:
    """Return the envelope in an event, if it is of a kind that has a payload."""
    match event:
        case EvidenceRecorded() | PayloadRetaken():
            return Envelope(event.scope, event.evidence_id, event.commitment)
        case Evaluated():
            return Envelope(event.scope, event.evaluation_id, event.commitment)
        case ItemAdmitted():
            return Envelope(event.scope, event.item_id, event.commitment)
        case ProposalRejected() | EvolutionProposed():
            return Envelope(event.scope, event.proposal_id, event.commitment)
        case IdentityConfigured():
            return Envelope(event.scope, event.identity_id, event.commitment)
        case _:
            return None


def keep(tx: Transaction, payload: Payload) -> None:
    """Store a payload beside its envelope."""
    tx.run(
        _queries.keep,
        scope=payload.scope,
        id=payload.id,
        salt=payload.salt,
        content=payload.content,
        detail_digest=payload.detail_digest,
        told=payload.told,
        excerpt=None if payload.excerpt is None else _encoder.encode(payload.excerpt),
        words=payload.words,
    )


def mark_words(scope: str, visibility: str, words: Iterable[str]) -> str:
    """Return words as they stand in the index: no scope, and no visibility, meets another's.

    Each is one token, since no phrase can be asked for: what is not ASCII, of which SQLite may
    think otherwise, is a number. Of digits, as the mark, for stemming leaves them alone.
    """
    digest = hashlib.sha256(f"{scope}\0{visibility}".encode()).digest()
    mark = str(int.from_bytes(digest[:4]))
    return " ".join([mark + _one_token(word) for word in words])


def _one_token(word: str) -> str:
    if word.isascii():
        return "".join(filter(str.isalnum, word))
    return str(int.from_bytes(word.encode()))


def optimize_words(tx: Transaction) -> None:
    """No word of a payload that was erased is left in the index.

    FTS5 before SQLite 3.42 keeps them otherwise, beside a note that they count no longer.
    """
    tx.run(_queries.optimize_words)


def newest_excerpts(tx: Transaction, scope: str) -> tuple[Observed, ...]:
    """Return the scope's newest excerpts, newest first: at most 8 that were told and 32 others.

    One that was set aside stands among them, unread and under no id, until as many came after it.
    """
    rows = tx.all(_queries.newest_excerpts, scope=scope)
    placed = [((row["sequence"] or 0, 0), _observed(row)) for row in rows]
    for unread in newest_unread(tx, scope):
        newer = Counter(row["told"] for row in rows if (row["sequence"] or 0) > unread.after)
        placed += [
            ((unread.after, 1), Observed("", told, unread_text(told=told)))
            for told in _SPEAKING[unread.speaker]
            if newer[told] < (_TOLD_MAX if told else _OTHERS_MAX)
        ]
    placed.sort(key=itemgetter(0), reverse=True)
    return tuple([each for _, each in placed])


def _observed(row: Row) -> Observed:
    return Observed(
        row["id"],
        bool(row["told"]),
        _excerpts.decode(row["excerpt"]),
        _keys.decode(row["resource_keys"] or "[]"),
    )


def content_of(tx: Transaction, scope: str, payload_id: str) -> bytes | None:
    """Return the content, or None when it was erased or never was."""
    row = tx.one(_queries.find, scope=scope, id=payload_id)
    return None if row is None else bytes(row["content"])


def detail_digest_of(tx: Transaction, scope: str, payload_id: str) -> str | None:
    """Return the SHA-256 of an observation's detail, while its payload is there."""
    row = tx.one(_queries.detail, scope=scope, id=payload_id)
    return None if row is None else row["detail_digest"]


def same_content(tx: Transaction, scope: str, payload_id: str, content: bytes) -> bool:
    """Return whether `content` is what was stored; True when that was erased."""
    row = tx.one(_queries.find, scope=scope, id=payload_id)
    return row is None or bytes(row["content"]) == content


async def commitments(reader: Reader, envelopes: Sequence[Envelope]) -> dict[tuple[str, str], str]:
    """Return what each payload that is there commits to, by scope and id."""
    wanted = msgspec.json.encode([(envelope.scope, envelope.id) for envelope in envelopes])
    rows = await reader.all(_queries.found, wanted=wanted.decode())
    return {
        (row["scope"], row["id"]): keyed_digest(bytes(row["salt"]), bytes(row["content"]))
        for row in rows
    }


async def kept_after(reader: Reader, payload: int, max_rows: int) -> list[Row]:
    """Return the payloads behind number `payload`, in the order in which they were kept."""
    return await reader.all(_queries.kept_after, payload=payload, max_rows=max_rows)


def copy_kept(tx: Transaction, row: Row) -> bool:
    """Return whether the payload of another ledger is what an envelope here commits to, and kept.

    It keeps its number, and so its place among the newest, unless that is taken.
    """
    envelope = tx.one(_queries.commitment, scope=row["scope"], id=row["id"])
    found = keyed_digest(bytes(row["salt"]), bytes(row["content"]))
    if envelope is None or envelope["commitment"] != found:
        return False
    columns = {name: row[name] for name in row.keys()}  # noqa: SIM118 - a Row is no mapping
    return tx.run(_queries.copy, **columns) == 1


def count_lacking(tx: Transaction) -> int:
    """Return how many envelopes have no payload although it was not erased."""
    row = tx.one(_queries.lacking)
    assert row is not None
    return int(row["lacking"])


async def stray(reader: Reader) -> tuple[str, str] | None:
    """Return scope and id of a payload that belongs to no envelope, if there is one."""
    row = await reader.one(_queries.stray)
    return None if row is None else (row["scope"], row["id"])
