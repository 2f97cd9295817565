"""Each tool takes one more argument, in which the model may say what it thinks of its own call.

Source: SPEC C1, G2.
"""

import re
from typing import Any, Final

import msgspec

from pmcl.contracts import ContractError, Mismatch
from pmcl.hosts.adapter import Stated
from pmcl.hosts.guard.calls import STATED
from pmcl.judgement import is_open_name

__all__ = ["offered", "read_stated"]

# Each tool of each list carries this, so it names no limits: a value over one is refused with it.
_TEXT: Final = {"type": "string"}
_TEXTS: Final = {"type": "array", "items": _TEXT}
_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "description": "Optional: why this call, for the checkpoint. It never reaches the tool.",
    "properties": {
        "goal": _TEXT,
        "expected_outcome": _TEXT,
        "premortem": {
            "type": "object",
            "description": "How the call most likely fails, and what was done about it.",
            "properties": {
                "failure_mode": _TEXT,
                "likelihood": {"type": "number", "minimum": 0, "maximum": 1},
                "mitigation": _TEXT,
                "evidence_ids": _TEXTS,
            },
            "required": ["failure_mode", "likelihood", "mitigation"],
        },
        "justification": {
            "type": "object",
            "properties": {
                "necessity": _TEXT,
                "lower_risk_alternatives": _TEXTS,
                "residual_risks": _TEXTS,
            },
            "required": ["necessity"],
        },
        "rejected_alternatives": _TEXTS,
        "evidence_ids": _TEXTS,
    },
}
# Beside these, one more property could make every call invalid.
_BINDING: Final = frozenset(
    "$ref $dynamicRef allOf anyOf oneOf not if maxProperties propertyNames const enum".split()
)
_step = re.compile(r"\.(\w+)|\[(\d+)\]")


def offered(schema: Any) -> dict[str, Any] | None:
    """Return a tool's schema with the argument `_pmcl`; `None` when it cannot be told of it."""
    if not isinstance(schema, dict) or _BINDING & schema.keys():
        return None
    properties = schema.get("properties", {})
    if not isinstance(properties, dict) or STATED in properties:
        return None
    return {**schema, "properties": {**properties, STATED: _SCHEMA}}


def read_stated(value: Any) -> Stated:
    """Return what the model said; `None` says nothing.

    Raises:
        ContractError: it does not fit; field, limit and a value without a secret are named.
    """
    if value is None:
        return Stated()
    try:
        return msgspec.convert(value, Stated)
    except msgspec.ValidationError as error:
        found = Mismatch.of(error)
        field = f"$.params.arguments.{STATED}{found.path[1:]}"
        shown = found.unknown or _shown(value, found.path)
        raise ContractError(field, shown if is_open_name(shown) else "", found.limit) from error


def _shown(value: Any, path: str) -> str:
    """Return what the model itself wrote there, so that it finds it again; "" if nowhere."""
    for name, index in _step.findall(path):
        try:
            value = value[name or int(index)]
        except (KeyError, IndexError, TypeError):
            return ""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
