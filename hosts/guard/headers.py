"""The headers of a message say what its body says, or the server refuses it.

Source: Model Context Protocol, revision 2026-07-28, streamable HTTP, standard and custom headers;
revision 2025-11-25, protocol version header.
"""

import base64
import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from pmcl.hosts.guard.messages import Message

__all__ = ["PROTOCOL", "headers_of", "version_of"]

PROTOCOL: Final = "io.modelcontextprotocol/protocolVersion"
_NAMED: Final = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_MIRRORED: Final = "x-mcp-header"
_DEEPEST: Final = 16
_plain = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?|")
_encoded = re.compile(r"=\?base64\?.*\?=")
_token = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")


def version_of(message: Message) -> str | None:
    """Return the revision that a message names itself; those of older ones do not."""
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    version = meta.get(PROTOCOL) if isinstance(meta, dict) else None
    return version if isinstance(version, str) else None


def headers_of(message: Message, schema_of: Callable[[str], Message]) -> dict[str, str]:
    """Return the headers of a message of revision 2026-07-28 or later.

    Args:
        message: the client's, as its body is sent.
        schema_of: the schema that the server listed for a tool; empty for none.
    """
    method, params = message.get("method"), message.get("params")
    found = {"Mcp-Method": str(method)}
    name = params.get(_NAMED.get(str(method), "")) if isinstance(params, dict) else None
    if isinstance(params, dict) and isinstance(name, str):
        found["Mcp-Name"] = _value(name)
        if method == "tools/call":
            mirrored = _mirrored(schema_of(name), params.get("arguments"), 0)
            found |= {f"Mcp-Param-{header}": _value(value) for header, value in mirrored}
    return found


def _mirrored(schema: Any, value: Any, depth: int) -> Iterator[tuple[str, str]]:
    """Yield the arguments that the server wants to see in a header as well."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict) or not isinstance(value, dict) or depth > _DEEPEST:
        return
    for name, inner in properties.items():
        if name not in value or not isinstance(inner, dict):
            continue
        header, given = inner.get(_MIRRORED), value[name]
        if isinstance(header, str) and _token.fullmatch(header) is not None:
            if isinstance(given, bool):
                yield header, str(given).lower()
            elif isinstance(given, str | int | float):
                yield header, str(given)
        yield from _mirrored(inner, given, depth + 1)


def _value(text: str) -> str:
    """Return text as a header carries it: encoded unless it is plain and could be nothing else."""
    if _plain.fullmatch(text) is not None and _encoded.fullmatch(text) is None:
        return text
    return f"=?base64?{base64.b64encode(text.encode()).decode()}?="
