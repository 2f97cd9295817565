"""Content that is looked for, byte by byte, in every file of a folder; fragments of it, too."""

import base64
import random
from pathlib import Path

_SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]
_FRAGMENT = 12


def words(seed: str, count: int = 12) -> str:
    """Words that no file has by chance and that no detector of secrets knows."""
    chosen = random.Random(seed)
    return " ".join("".join(chosen.choices(_SYLLABLES, k=5)) for _ in range(count))


def fragments(text: str) -> set[bytes]:
    """Pieces of the text, and of what base64 makes of it at each of its three offsets."""
    pieces = {text[at : at + _FRAGMENT].encode() for at in range(0, len(text) - _FRAGMENT, 5)}
    for offset in range(3):
        coded = base64.b64encode(text[offset:].encode()).rstrip(b"=")
        pieces |= {coded[at : at + 16] for at in range(8, len(coded) - 24, 4)}
    return pieces


def files_with(folder: Path, *texts: str) -> dict[str, list[str]]:
    """Which files hold a piece of which text."""
    pieces = {text: fragments(text) for text in texts}
    found: dict[str, list[str]] = {}
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        data = path.read_bytes()
        held = [text for text, parts in pieces.items() if any(part in data for part in parts)]
        if held:
            found[path.relative_to(folder).as_posix()] = held
    return found
