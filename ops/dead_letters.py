"""`pmcl deadletters list` and `show`: what could not be dealt with, oldest first."""

import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from typing import Annotated, Any, Final

import msgspec

from pmcl.bus import DEADLETTERS, Connection, Message, stored_messages, stream_state
from pmcl.contracts import DeadLetter, PmclError, RefusedError, decode, sha256
from pmcl.judgement import redact
from pmcl.ops.console import console, shown_minute, shown_time, shown_whole
from pmcl.ops.lines import print_lines, print_none
from pmcl.ops.reach import reach_bus
from pmcl.ops.rows import print_rows
from pmcl.ops.settings import Settings
from pmcl.ops.state_dir import ledger_key
from pmcl.workers import LETTER_MAX_BYTES

__all__ = [
    "DeadLetterNotFoundError",
    "LetterView",
    "Wanted",
    "find_letters",
    "letter_lines",
    "list_letters",
    "read_letter",
    "show_letter",
    "show_letters",
]

_PAGE: Final = 64


class DeadLetterNotFoundError(PmclError):
    """No dead letter has this number."""

    def __init__(self, sequence: int) -> None:
        self.sequence = sequence
        super().__init__(f"there is no dead letter {sequence}: see `pmcl deadletters list`")


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """Which dead letters are meant; what is `None` is not asked for.

    Attributes:
        sequence: of the stream DEADLETTERS.
        after: only those behind this number.
        limit: how many, the oldest first.
    """

    sequence: int | None = None
    worker: str | None = None
    reason: str | None = None
    after: int = 0
    limit: Annotated[int, msgspec.Meta(ge=1)] = 256

    def takes(self, letter: "LetterView") -> bool:
        """Return whether a letter is meant, the limit apart."""
        return (
            self.sequence in (None, letter.sequence)
            and self.worker in (None, letter.worker)
            and self.reason in (None, letter.reason)
        )


class LetterView(msgspec.Struct, frozen=True, kw_only=True):
    """One dead letter without its content."""

    sequence: int
    worker: str
    subject: str
    reason: str
    attempts: int
    at: int
    headers: dict[str, str]
    size_bytes: int
    sha256: str


async def list_letters(settings: Settings, wanted: Wanted) -> dict[str, Any]:
    """Return the letters that are meant, oldest first: `{"letters": [LetterView], "more"}`.

    With it `"others"` are told where none is meant: how many there are of each worker and reason.

    Raises:
        BusError: the server does not answer.
    """
    async with reach_bus(settings, "admin") as admin:
        letters = [view async for view, _ in find_letters(admin, wanted, beyond=1)]
        others = Counter[str]()
        if not letters:
            every = Wanted(limit=sys.maxsize)
            async for view, _ in find_letters(admin, every):
                others[f"{view.worker} {view.reason}"] += 1
    more = len(letters) > wanted.limit
    return {"letters": letters[: wanted.limit], "more": more, "others": others}


async def read_letter(settings: Settings, sequence: int) -> dict[str, Any]:
    """Return one letter and its content, secrets marked: `{"letter", "content"}`.

    Content that is no JSON, or cannot be cleared of secrets, is `None`.

    Raises:
        DeadLetterNotFoundError: there is none.
        BusError: the server does not answer.
    """
    async with reach_bus(settings, "admin") as admin:
        async for view, letter in find_letters(admin, Wanted(sequence=sequence)):
            return {"letter": view, "content": _content(settings, letter)}
    raise DeadLetterNotFoundError(sequence)


def _content(settings: Settings, letter: DeadLetter) -> Any:
    key = ledger_key(settings.state_dir, make=False)
    try:
        return redact(msgspec.json.decode(letter.payload), key.secret)
    except (RefusedError, msgspec.DecodeError, UnicodeDecodeError):
        return None


async def find_letters(
    admin: Connection, wanted: Wanted, *, beyond: int = 0
) -> AsyncIterator[tuple[LetterView, DeadLetter]]:
    """Yield the letters that are meant, and as many more than the limit as are asked for."""
    state = await stream_state(admin, DEADLETTERS)
    if state is None or not state.messages:
        return
    left = wanted.limit + beyond
    start = wanted.sequence or max(state.first, wanted.after + 1)
    end = state.last if wanted.sequence is None else wanted.sequence
    for first in range(start, end + 1, _PAGE):
        last = min(first + _PAGE - 1, end)
        for sequence, message in enumerate(
            await stored_messages(admin, DEADLETTERS, first, last), start=first
        ):
            if message is None:
                continue
            letter = decode(message.data, DeadLetter, max_bytes=LETTER_MAX_BYTES)
            view = _view(sequence, message, letter)
            if wanted.takes(view):
                yield view, letter
                left -= 1
                if not left:
                    return


def _view(sequence: int, message: Message, letter: DeadLetter) -> LetterView:
    return LetterView(
        sequence=sequence,
        worker=message.subject.rpartition(".")[2],
        subject=letter.subject,
        reason=letter.reason,
        attempts=letter.attempts,
        at=letter.at,
        headers=letter.headers,
        size_bytes=len(letter.payload),
        sha256=sha256(letter.payload),
    )


def show_letters(found: dict[str, Any]) -> None:
    """Print a list for people."""
    if not found["letters"]:
        print_none("There are no dead letters.", found["others"])
        return
    names = ("number", "since", "worker", "subject", "reason", "tries", "bytes")
    rows = [
        (
            str(letter.sequence),
            shown_minute(letter.at),
            letter.worker,
            letter.subject,
            shown_whole(letter.reason),
            str(letter.attempts),
            str(letter.size_bytes),
        )
        for letter in found["letters"]
    ]
    print_rows(names, rows)
    if found["more"]:
        console.print("There are more: narrow it with --worker or --reason, or raise --limit.")


def show_letter(found: dict[str, Any]) -> None:
    """Print one letter for people, secrets marked."""
    print_lines(letter_lines(found))


def letter_lines(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what there is to say of a letter, each as a name and a text."""
    letter: LetterView = found["letter"]
    yield "dead letter", str(letter.sequence)
    yield "since", shown_time(letter.at)
    yield "worker", letter.worker
    yield "subject", letter.subject
    yield "reason", f"{shown_whole(letter.reason)}, after {letter.attempts} tries"
    for name, value in letter.headers.items():
        yield name, shown_whole(value)
    yield "content", f"{letter.size_bytes} bytes, SHA-256 {letter.sha256}"
    if found["content"] is not None:
        yield "", shown_whole(found["content"])
