"""Two spellings of one resource have one folded form, and every call has a resource.

Source: SPEC C1 (the fallback), C7 (holds are keyed by resource).
"""

import unicodedata

from pmcl.contracts import Resource, Tool, canonical, sha256
from pmcl.judgement.hostnames import fold_host
from pmcl.judgement.paths import components

__all__ = ["fallback_resource", "fingerprint", "fold_resource"]


def fallback_resource(tool: Tool, arguments: dict[str, object]) -> Resource:
    """Return the resource that stands for an empty list: server, tool and arguments, hashed.

    `arguments` are the sanitized ones. Raises `ContractError` when they have no canonical form.
    """
    return Resource(
        kind="other", value="call:" + sha256(canonical([tool.server, tool.name, arguments]))
    )


def fold_resource(resource: Resource) -> bytes:
    """Return the bytes to key a resource by: kind and folded value, without the argument."""
    return canonical([resource.kind, _fold(resource)])


def fingerprint(server: str, tool: str, resource_keys: tuple[str, ...]) -> bytes:
    """Return the bytes that are the same for the same action again, in any resource order."""
    return canonical([server, tool, sorted(resource_keys)])


def _fold(resource: Resource) -> str:
    value = resource.value
    if resource.kind == "path":
        parts = components(value)
        return _composed(value if parts is None else "/" + "/".join(parts))
    if resource.kind == "host":
        return fold_host(value) or value.lower()
    if resource.kind == "other":
        return _composed(value)
    folded = unicodedata.normalize("NFKC", value).strip().casefold()
    return unicodedata.normalize("NFKC", folded)


def _composed(value: str) -> str:
    return value if value.isascii() else unicodedata.normalize("NFC", value)
