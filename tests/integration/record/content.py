"""Content that is looked for, byte by byte, in every file of a folder; pieces of it, too.

A piece is any twelve bytes in a row, as they are, as JSON escapes them, in hexadecimal digits, or
in base64 at each of its three offsets. An index of words keeps no such run of a text that it
shares between neighbours, so there single words are looked for.
"""

import base64
import json
import os
import random
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

_SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]
_BYTES = 12
_PART = 6

_Place = tuple[str, bytes, int, int]
"""A text, one of its forms, where a part of that begins, and how much of it is a piece."""


def words(seed: str, count: int = 12) -> str:
    """Words that no file has by chance and that no detector of secrets knows."""
    chosen = random.Random(seed)
    return " ".join("".join(chosen.choices(_SYLLABLES, k=5)) for _ in range(count))


def is_in(data: bytes, text: str) -> bool:
    """Whether the data has a piece of the text."""
    return bool(_held(data, _places([text])))


def files_with(folder: Path, *texts: str) -> dict[str, list[str]]:
    """Which files below the folder hold a piece of which text."""
    return _holding(((path.relative_to(folder).as_posix(), path) for path in _files(folder)), texts)


def open_files_with(pids: Iterable[int], *texts: str) -> dict[str, list[str]]:
    """The same of all files that the processes have open, also those that have no name any more."""
    return _holding(((str(path.readlink()), path) for pid in pids for path in _open(pid)), texts)


def words_left(folder: Path, text: str) -> set[str]:
    """Parts of words, as an index keeps them: without what a stem or a neighbour has taken."""
    data = b"".join(_bytes_of(path) for path in _files(folder))
    return {part for word in text.split() if (part := word[3:9]).encode() in data}


def _forms(text: str) -> Iterator[tuple[bytes, int]]:
    """Yield what the text may have become, and how much of that twelve bytes are at least."""
    raw = text.encode()
    assert len(raw) >= _BYTES
    escaped = json.dumps(text)[1:-1]
    digits = raw.hex()
    yield from ((form, _BYTES) for form in {raw, escaped.encode(), _upper(escaped).encode()})
    yield from ((form.encode(), 2 * _BYTES) for form in (digits, digits.upper()))
    for offset in range(3):  # twelve bytes fill three groups of four at least
        whole = len(raw[offset:]) // 3 * 3
        coded = base64.b64encode(raw[offset:][:whole])
        yield from ((form, 12) for form in {coded, coded.translate(_URL)})


_URL = bytes.maketrans(b"+/", b"-_")


def _upper(escaped: str) -> str:
    head, *rest = escaped.split("\\u")
    return "\\u".join([head, *(part[:4].upper() + part[4:] for part in rest)])


def _places(texts: Iterable[str]) -> dict[bytes, list[_Place]]:
    """Return where in which form of which text each part is, wherever it begins."""
    places: dict[bytes, list[_Place]] = {}
    for text in texts:
        for coded, length in _forms(text):
            for start in range(len(coded) - _PART + 1):
                place = (text, coded, start, length)
                places.setdefault(coded[start : start + _PART], []).append(place)
    return places


def _held(data: bytes, places: dict[bytes, list[_Place]]) -> set[str]:
    """Return the texts of which the data has a piece: each has a whole part of the data in it."""
    held: set[str] = set()
    for at, part in _parts(data):
        for text, coded, start, length in places.get(part, ()):
            if text not in held and _run(data, at, coded, start, length) >= length:
                held.add(text)
    return held


def _run(data: bytes, at: int, coded: bytes, start: int, length: int) -> int:
    """Return how much in a row is the same around a part."""
    before = _alike(reversed(coded[:start]), reversed(data[max(0, at - length) : at]))
    behind = _alike(coded[start + _PART :], data[at + _PART : at + _PART + length])
    return before + _PART + behind


def _parts(coded: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield parts with their places, so that twelve bytes in a row have a whole one."""
    for start in range(0, len(coded) - _PART + 1, _PART):
        yield start, coded[start : start + _PART]


def _alike(one: Iterable[int], other: Iterable[int]) -> int:
    count = 0
    for first, second in zip(one, other, strict=False):
        if first != second:
            break
        count += 1
    return count


def _files(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.rglob("*")) if path.is_file()]


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""  # the server has renamed or removed it meanwhile


def _open(pid: int) -> list[Path]:
    """The regular files among the descriptors of a process."""
    found = []
    for path in Path(f"/proc/{pid}/fd").iterdir():
        try:
            if stat.S_ISREG(os.stat(path).st_mode):
                found.append(path)
        except OSError:
            continue  # it was closed meanwhile
    return found


def _holding(files: Iterable[tuple[str, Path]], texts: Iterable[str]) -> dict[str, list[str]]:
    """Look at each file once, however many texts there are."""
    texts = list(texts)
    places = _places(texts)
    held = {name: _held(_bytes_of(path), places) for name, path in files}
    return {
        name: [text for text in texts if text in having] for name, having in held.items() if having
    }
