from typing import Any

import pytest

from pmcl.hosts.guard.headers import headers_of, version_of

SCHEMA = {
    "type": "object",
    "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "flags": {
            "type": "object",
            "properties": {"dry": {"type": "boolean", "x-mcp-header": "Dry"}},
        },
        "count": {"type": "integer", "x-mcp-header": "Count"},
        "bad": {"type": "string", "x-mcp-header": "no token"},
        "plain": {"type": "string"},
    },
}


def headers(method: str, **params: Any) -> dict[str, str]:
    return headers_of({"method": method, "params": params}, lambda name: SCHEMA)


@pytest.mark.parametrize(
    ("method", "params", "name"),
    [
        ("tools/call", {"name": "t"}, "t"),
        ("prompts/get", {"name": "p"}, "p"),
        ("resources/read", {"uri": "u:1"}, "u:1"),
        ("tools/call", {"name": "wörter"}, "=?base64?d8O2cnRlcg==?="),
        ("tools/call", {"name": " t"}, "=?base64?IHQ=?="),
        ("tools/call", {"name": "=?base64?dA==?="}, "=?base64?PT9iYXNlNjQ/ZEE9PT89?="),
        ("tools/list", {"name": "t"}, None),
        ("tools/call", {"name": 5}, None),
    ],
)
def test_the_headers_name_what_the_body_names(
    method: str, params: dict[str, Any], name: str | None
) -> None:
    found = headers(method, **params)
    assert found["Mcp-Method"] == method
    assert found.get("Mcp-Name") == name


def test_arguments_are_mirrored_where_the_schema_asks_for_it() -> None:
    arguments = {"region": "ü", "flags": {"dry": True}, "count": 3, "bad": "b", "plain": "p"}
    found = headers("tools/call", name="t", arguments=arguments)
    del found["Mcp-Method"], found["Mcp-Name"]
    assert found == {
        "Mcp-Param-Region": "=?base64?w7w=?=",
        "Mcp-Param-Dry": "true",
        "Mcp-Param-Count": "3",
    }


def test_a_message_names_its_revision_in_its_meta() -> None:
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    assert version_of({"params": {"_meta": meta}}) == "2026-07-28"
    others: list[Any] = [{}, {"_meta": {}}, {"_meta": 5}, [], None]
    for params in others:
        assert version_of({"params": params}) is None
