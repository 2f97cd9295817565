"""A tool is what the last list said of it; a call judged by another definition is not dispatched.

Source: SPEC G2.
"""

from collections import OrderedDict
from typing import Any, Final

import msgspec

from pmcl.contracts import (
    ContractError,
    ToolAnnotations,
    ToolDefinition,
    canonical,
    definition_hash,
    sha256,
)
from pmcl.hosts.guard.calls import STATED
from pmcl.hosts.guard.messages import Message
from pmcl.hosts.guard.stated import offered

__all__ = ["Pin", "Pins", "with_stated"]

_WALKS_MAX: Final = 16
_TOOLS_MAX: Final = 10_000
_ANNOTATIONS: Final = {
    "read_only": "readOnlyHint",
    "destructive": "destructiveHint",
    "idempotent": "idempotentHint",
    "open_world": "openWorldHint",
}


class Pin(msgspec.Struct, frozen=True):
    """One tool as it was listed.

    Attributes:
        digest: of everything that the list said of it.
        definition: `None` when two tools of one list have this name: nobody knows which would run.
        has_stated: it has an argument `_pmcl` of its own.
    """

    digest: str
    definition: ToolDefinition | None
    has_stated: bool = False


class Pins:
    """The tools of one server."""

    def __init__(self) -> None:
        self._pins: dict[str, Pin] = {}
        self._walks: OrderedDict[str, dict[str, Pin]] = OrderedDict()

    def find(self, name: str) -> Pin | None:
        """Return the tool; `None` when it was never listed, or may have changed since."""
        return self._pins.get(name)

    def schema_of(self, name: str) -> Message:
        """Return the schema that a tool was listed with; an empty one if it is not known."""
        pin = self.find(name)
        return {} if pin is None or pin.definition is None else pin.definition.parameters

    def forget(self) -> None:
        """Know nothing: the server said that its list has changed."""
        self._pins.clear()
        self._walks.clear()

    def read(self, result: Message, cursor: object) -> None:
        """Take in one page of the list, asked for with `cursor`; the last one ends its walk.

        A tool counts as soon as its page is there. One that a whole walk did not name is forgotten.
        """
        listed = self._walks.pop(cursor, None) if isinstance(cursor, str) else {}
        is_whole = listed is not None
        listed = listed or {}
        tools = result.get("tools")
        for tool in tools if isinstance(tools, list) else ():
            if isinstance(tool, dict) and isinstance(name := tool.get("name"), str):
                self._add(listed, name, _pin(tool))
        following = result.get("nextCursor")
        if isinstance(following, str):
            if is_whole:
                self._walks[following] = listed
                while len(self._walks) > _WALKS_MAX:
                    self._walks.popitem(last=False)
        elif is_whole:
            self._pins = {name: self._pins[name] for name in listed}

    def _add(self, listed: dict[str, Pin], name: str, pin: Pin) -> None:
        if name in listed and listed[name].digest != pin.digest:
            pin = Pin(sha256(f"{listed[name].digest}/{pin.digest}".encode()), None)
        listed[name] = pin
        known = self._pins.get(name)
        if known is None and len(self._pins) >= _TOOLS_MAX:
            return
        if known != pin:
            self._pins[name] = pin


def with_stated(result: Message) -> Message | None:
    """Return a page of the list whose tools take `_pmcl`; `None` when none of them can."""
    tools = result.get("tools")
    if not isinstance(tools, list):
        return None
    changed = [_with_stated(tool) for tool in tools]
    return None if changed == tools else {**result, "tools": changed}


def _with_stated(tool: Any) -> Any:
    schema = offered(tool.get("inputSchema")) if isinstance(tool, dict) else None
    return tool if schema is None else {**tool, "inputSchema": schema}


def _pin(tool: Message) -> Pin:
    schema = tool.get("inputSchema")
    schema = schema if isinstance(schema, dict) else {}
    properties = schema.get("properties")
    has_stated = isinstance(properties, dict) and STATED in properties
    try:
        digest = sha256(canonical(tool))
    except ContractError:
        return Pin(sha256(repr(tool).encode("utf-8", "replace")), None, has_stated)
    return Pin(digest, _definition(tool, schema), has_stated)


def _definition(tool: Message, schema: Message) -> ToolDefinition | None:
    """Return what the tool says of itself; of a schema that is too large only its digest."""
    said, hints = tool.get("description"), tool.get("annotations")
    annotations = None
    if isinstance(hints, dict):
        found = {field: hints.get(name) for field, name in _ANNOTATIONS.items()}
        known = {field: value for field, value in found.items() if isinstance(value, bool)}
        annotations = ToolAnnotations(**known)
    definition = ToolDefinition(
        description=said if isinstance(said, str) else "",
        parameters=schema,
        annotations=annotations,
    )
    digest_only = {"$comment": f"sha256 {sha256(canonical(schema))}"}
    shorter = msgspec.structs.replace(definition, parameters=digest_only)
    return next((each for each in (definition, shorter) if _fits(each)), None)


def _fits(definition: ToolDefinition) -> bool:
    try:
        definition_hash(definition)
    except ContractError:
        return False
    return True
