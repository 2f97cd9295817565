"""What a model reads of a result becomes text; what it sees or hears is named by its digest.

Source: SPEC B1; Model Context Protocol, content blocks and resource contents.
"""

import base64
import binascii
import json
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from pmcl.contracts import sha256
from pmcl.hosts.guard.messages import Message

__all__ = ["text_of"]

_SILENT: Final = frozenset({"_meta", "isError", "resultType", "nextCursor", "requestState"})
_LISTS: Final = frozenset({"content", "contents", "messages"})


def text_of(message: Message) -> str:
    """Return the text of a response, one part a line."""
    if "error" in message:
        return _json(message["error"])
    result = message.get("result")
    if not isinstance(result, dict):
        return _json(result)
    return "\n".join(part for part in _parts(result) if part)


def _parts(result: Message) -> Iterator[str]:
    blocks = [block for name in sorted(_LISTS) for block in _list(result.get(name))]
    texts = [_block(block) for block in blocks]
    yield from texts
    for name, value in result.items():
        if name in _SILENT or (name in _LISTS and isinstance(value, list)):
            continue
        if name == "structuredContent" and any(_is_json_of(text, value) for text in texts):
            continue  # the same again, for programs
        yield value if isinstance(value, str) else _json(value)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _block(block: Any) -> str:
    """Return the text of a content block, of resource contents or of a prompt's message."""
    if not isinstance(block, dict):
        return _json(block)
    match block:
        case {"type": "text", "text": str(text)}:
            return text
        case {"type": "image" | "audio" as kind, "data": str(data)}:
            return _binary(kind, block.get("mimeType"), data)
        case {"type": "resource", "resource": dict(resource)}:
            return _block(resource)
        case {"uri": str(uri), "text": str(text)}:
            return f"{uri}\n{text}"
        case {"uri": str(uri), "blob": str(data)}:
            return f"{uri}\n{_binary('blob', block.get('mimeType'), data)}"
        case {"role": str(), "content": dict() | list() as content}:
            inner = content if isinstance(content, list) else [content]
            return "\n".join(_block(each) for each in inner)
        case _:
            return _json(block)


def _binary(kind: str, mime: Any, data: str) -> str:
    try:
        raw = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raw = data.encode("utf-8", "replace")
    named = mime if isinstance(mime, str) else "unknown"
    return f"[{kind} {named}, {len(raw)} bytes, sha256 {sha256(raw)}]"


def _is_json_of(text: str, value: Any) -> bool:
    """Return whether the text says the value: as JSON, or as the SDK for Python wraps a text."""
    if value == {"result": text}:
        return True
    try:
        return bool(msgspec.json.decode(text) == value)
    except (ValueError, msgspec.MsgspecError, RecursionError):
        return False


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
