"""The text of what a tool returned, with all that a model would read of it."""

from collections.abc import Iterator
from typing import Any

__all__ = ["text_of"]


def text_of(response: Any) -> str:
    """Return the text of a response; a picture is only named."""
    return "\n".join(_lines(response))


def _lines(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _lines(item)
    elif isinstance(value, dict):
        yield from _members(value)
    elif value is not None:
        yield str(value)


def _members(value: dict[str, Any]) -> Iterator[str]:
    if value.get("type") in ("image", "audio") or "inlineData" in value:
        yield f"[{value.get('type', 'data')}]"
        return
    for name, member in value.items():
        if isinstance(member, dict | list):
            yield from _lines(member)
        elif member is not None:
            yield member if name == "text" else f"{name}: {member}"
