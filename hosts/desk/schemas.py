r"""JSON Schemas of contracts, for readers that know no Python: `$` ends a pattern, and not `\Z`.

Source: JSON Schema 2020-12, section 6.3.3 of Validation: patterns are ECMA-262.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

__all__ = ["components", "object_schema"]


def components(kinds: Sequence[type[msgspec.Struct]], ref_template: str) -> dict[str, Any]:
    """Return the schemas of structs, and of all that they are made of, by name."""
    _, schemas = msgspec.json.schema_components(kinds, ref_template=ref_template)
    return {name: _ecma(schema) for name, schema in schemas.items()}


def object_schema(kind: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the schema of one struct, with all that it is made of inside."""
    parts = components([kind], "#/$defs/{name}")
    schema = dict(parts.pop(kind.__name__))
    return {**schema, "$defs": parts} if parts else schema


def _ecma(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            name: part.replace("\\Z", "$") if name == "pattern" else _ecma(part)
            for name, part in value.items()
        }
    return [_ecma(part) for part in value] if isinstance(value, list) else value
