"""What a text holds for a model and not for the eye: words in base64, in hex or in tag characters.

A model reads them as easily as letters, so who hides an order there is read like anybody else.
"""

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Final

__all__ = ["hidden_in"]

_PIECES_MAX: Final = 16
_PIECE_MAX_CHARS: Final = 4096
_hex = re.compile(r"(?:[0-9a-fA-F]{2})+")
_encoded = re.compile(r"[A-Za-z0-9+/]{32,}={0,2}")
_tags = re.compile("[\U000e0020-\U000e007e]{8,}")
_TAG_OFFSET: Final = 0xE0000
_words = re.compile(r"[A-Za-z]{2,} [A-Za-z]{2,}")
_garbage = re.compile(r"[^\s!-~]")


def hidden_in(text: str) -> Iterator[str]:
    """Yield the hidden pieces that are words, bounded."""
    if not text.isascii():
        for match in _tags.finditer(text):
            yield "".join([chr(ord(char) - _TAG_OFFSET) for char in match.group()])
    for count, match in enumerate(_encoded.finditer(text)):
        if count == _PIECES_MAX:
            return
        plain = _decoded(match.group()[:_PIECE_MAX_CHARS])
        if plain and _words.search(plain) and not _garbage.search(plain):
            yield plain


def _decoded(run: str) -> str | None:
    try:
        if _hex.fullmatch(run):
            return bytes.fromhex(run).decode("ascii")
        whole = run.rstrip("=")
        whole = whole[: len(whole) - (len(whole) % 4 == 1)]
        return base64.b64decode(whole + "=" * (-len(whole) % 4)).decode("ascii")
    except (binascii.Error, ValueError):
        return None
