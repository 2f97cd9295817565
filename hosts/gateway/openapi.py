"""The description of the routes is generated from the table and the contracts, never written.

Source: OpenAPI 3.1.0; SPEC G4.
"""

from functools import cache
from http import HTTPStatus
from typing import Any, Final

import msgspec

from pmcl.hosts.desk import Problem, components
from pmcl.hosts.gateway.health import HealthAnswer, ReadyAnswer
from pmcl.hosts.gateway.operations import OPERATIONS, Operation
from pmcl.hosts.hooks import AGENTS

__all__ = ["openapi"]

_TEXT: Final = {"type": "string"}
_REF: Final = "#/components/schemas/{name}"
_NAMED: Final[dict[str, Any]] = {
    "verdict_id": {"type": "string", "pattern": "^[0-9A-HJKMNP-TV-Z]{26}$"},
    "agent": {"type": "string", "enum": [*AGENTS]},
}
_ANYWHERE: Final = (403, 408, 421, 500, 503)
_ASKED: Final = (400, 413, 415)
_TOLD: Final = {
    400: "The body is not strict JSON or does not fit; field and limit say where and why",
    401: "No key, or one that belongs to no registered host",
    403: "Another site's page asks, or the credential may not say this",
    404: "Nothing of this id is known",
    408: "The request did not arrive in time",
    409: "The state does not allow it: no lease, another generation, used before, too late",
    413: "Too large",
    415: "The body is not said to be application/json",
    421: "The Host header names another machine",
    422: "It names evidence or a plan that is not known",
    500: "A defect; it is logged without content",
    503: "Too much is under way, or the sidecar or the host's file cannot be used; try again later",
}


@cache
def openapi() -> bytes:
    """Return the document as JSON."""
    structs: list[type[msgspec.Struct]] = [HealthAnswer, ReadyAnswer, Problem]
    for each in OPERATIONS:
        structs.append(each.answers)
        if each.asks is not None and issubclass(each.asks, msgspec.Struct):
            structs.append(each.asks)
    paths: dict[str, dict[str, Any]] = _open_paths()
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _described(operation)
    document = {
        "openapi": "3.1.0",
        "info": {
            "title": "PMCL gateway",
            "version": "1",
            "description": "A verdict can only veto. Nothing here grants anything.",
        },
        "servers": [{"url": "/"}],
        "security": [{"key": []}],
        "paths": paths,
        "components": {
            "schemas": components(structs, _REF),
            "securitySchemes": {
                "key": {"type": "http", "scheme": "bearer", "description": "The host's seed"}
            },
        },
    }
    return msgspec.json.encode(document)


def _described(operation: Operation) -> dict[str, Any]:
    refusals = {*_ANYWHERE, 401, *operation.refuses, *(_ASKED if operation.asks else ())}
    described: dict[str, Any] = {
        "summary": operation.summary,
        "operationId": operation.handle.__name__.strip("_") + operation.path.replace("/", "_"),
        "responses": {
            str(operation.status): _content(operation.answers),
            **{str(status): _refusal(status) for status in sorted(refusals)},
        },
    }
    if operation.asks is not None:
        is_struct = issubclass(operation.asks, msgspec.Struct)
        schema = _schema(operation.asks) if is_struct else {}
        content = {"application/json": {"schema": schema}}
        described["requestBody"] = {"required": True, "content": content}
    described["parameters"] = [
        {"name": name, "in": "path", "required": True, "schema": schema}
        for name, schema in _NAMED.items()
        if f"{{{name}}}" in operation.path
    ]
    return described


def _open_paths() -> dict[str, dict[str, Any]]:
    """Return the paths that need no key."""
    anywhere = {str(status): _refusal(status) for status in _ANYWHERE}
    health = {"200": _content(HealthAnswer), **anywhere}
    not_ready = {
        "description": "Not ready, or too much is under way",
        "content": {
            "application/json": {"schema": {"anyOf": [_schema(ReadyAnswer), _schema(Problem)]}}
        },
    }
    ready = {"200": _content(ReadyAnswer), **anywhere, "503": not_ready}
    text = {"description": "The text format", "content": {"text/plain": {"schema": _TEXT}}}
    metrics = {"200": text, **anywhere}
    return {
        "/v1/health": {"get": _open("health", "Say that the gateway answers", health)},
        "/v1/ready": {"get": _open("ready", "Say which parts of the sidecar do their work", ready)},
        "/metrics": {"get": _open("metrics", "Tell what was counted, for Prometheus", metrics)},
    }


def _open(name: str, summary: str, responses: dict[str, Any]) -> dict[str, Any]:
    return {"summary": summary, "operationId": name, "security": [], "responses": responses}


def _content(kind: type[msgspec.Struct]) -> dict[str, Any]:
    told = (kind.__doc__ or "").partition("\n")[0]
    return {"description": told, "content": {"application/json": {"schema": _schema(kind)}}}


def _schema(kind: type) -> dict[str, str]:
    return {"$ref": _REF.format(name=kind.__name__)}


def _refusal(status: int) -> dict[str, Any]:
    refusal = {**_content(Problem), "description": _TOLD[status]}
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        refusal["headers"] = {"Retry-After": {"schema": {"type": "integer"}}}
    return refusal
