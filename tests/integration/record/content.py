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


def words(seed: str, count: int = 12) -> str:
    """Words that no file has by chance and that no detector of secrets knows."""
    chosen = random.Random(seed)
    return " ".join("".join(chosen.choices(_SYLLABLES, k=5)) for _ in range(count))


def is_in(data: bytes, text: str) -> bool:
    """Whether the data has a piece of the text."""
    return any(_has_run(data, coded, length) for coded, length in _forms(text))


def files_with(folder: Path, *texts: str) -> dict[str, list[str]]:
    """Which files below the folder hold a piece of which text."""
    return _held(((path.relative_to(folder).as_posix(), path) for path in _files(folder)), texts)


def open_files_with(pids: Iterable[int], *texts: str) -> dict[str, list[str]]:
    """The same of all files that the processes have open, also those that have no name any more."""
    return _held(((str(path.readlink()), path) for pid in pids for path in _open(pid)), texts)


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


def _has_run(data: bytes, coded: bytes, length: int) -> bool:
    """Whether so much of `coded` in a row is in the data."""
    for start, part in _parts(coded):
        at = -1
        while (at := data.find(part, at + 1)) >= 0:
            before = _alike(reversed(coded[:start]), reversed(data[max(0, at - length) : at]))
            behind = _alike(coded[start + _PART :], data[at + _PART : at + _PART + length])
            if before + _PART + behind >= length:
                return True
    return False


def _parts(coded: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield parts with their places, so that twelve bytes in a row have one of them."""
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


def _held(files: Iterable[tuple[str, Path]], texts: Iterable[str]) -> dict[str, list[str]]:
    """Look at each file once, however many texts there are, and closer where it has a part."""
    texts = list(texts)
    having: dict[bytes, list[str]] = {}
    for text in texts:
        for coded, _ in _forms(text):
            for _, part in _parts(coded):
                having.setdefault(part, []).append(text)
    found: dict[str, list[str]] = {}
    for name, path in files:
        data = _bytes_of(path)
        parts = set(having).intersection(
            data[at : at + _PART] for at in range(len(data) - _PART + 1)
        )
        near = {text for part in parts for text in having[part]}
        if held := [text for text in texts if text in near and is_in(data, text)]:
            found[name] = held
    return found
