"""Tables of words are written as one text, so that they read as lists and break where they may."""

__all__ = ["word_set"]


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text, which blanks part."""
    return frozenset(text.split())
