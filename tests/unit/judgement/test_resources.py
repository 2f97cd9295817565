from typing import Any

import pytest

from pmcl.contracts import ContractError, Resource, Tool
from pmcl.judgement import fallback_resource, fingerprint, fold_resource
from pmcl.judgement.hostnames import fold_host

TOOL = Tool(server="mail", name="send", definition_hash="d" * 64)


@pytest.mark.parametrize(
    ("name", "folded"),
    [
        ("Example.COM", "example.com"),
        ("example.com.", "example.com"),
        ("b\u00fccher.example", "xn--bcher-kva.example"),
        ("\uff45xample.com", "example.com"),
        ("example\u3002com", "example.com"),
        ("127.0.0.1", "127.0.0.1"),
        ("::1", "::1"),
        ("", None),
        (".", None),
        ("a" * 254, None),
        ("\u00e4" * 254, None),
        ("\u00e4" * 64 + ".com", None),
        ("b\u00fccher..example", None),
        ("fa\u00df.example", None),
        ("a\u200db.example", None),
    ],
)
def test_host_folds_to_one_spelling_or_none(name: str, folded: str | None) -> None:
    assert fold_host(name) == folded


@pytest.mark.parametrize(
    ("kind", "one", "other"),
    [
        ("path", "/a//b/./c", "/a/b/c"),
        ("path", "/e\u0301", "/\u00e9"),
        ("host", "EXAMPLE.com.", "example.com"),
        ("recipient", "Bob@Example.com", " bob@example.com"),
        ("account", "\uff21cme", "acme"),
        ("database", "Main", "main"),
    ],
)
def test_spellings_of_one_resource_fold_together(kind: Any, one: str, other: str) -> None:
    first = Resource(kind=kind, value=one, argument="x")
    assert fold_resource(first) == fold_resource(Resource(kind=kind, value=other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("path", "/a/b"), ("path", "/a/B")),
        (("path", "/a/../b"), ("path", "/b")),
        (("path", "a.b"), ("host", "a.b")),
        (("other", "Main"), ("other", "main")),
    ],
)
def test_different_resources_fold_apart(one: tuple[Any, str], other: tuple[Any, str]) -> None:
    first = Resource(kind=one[0], value=one[1])
    assert fold_resource(first) != fold_resource(Resource(kind=other[0], value=other[1]))


def test_fallback_covers_server_tool_and_arguments_and_no_key_order() -> None:
    plain = fallback_resource(TOOL, {"a": 1, "b": 2})
    assert plain.kind == "other"
    assert plain.value.startswith("call:")
    assert plain == fallback_resource(TOOL, {"b": 2, "a": 1})
    assert plain != fallback_resource(TOOL, {"a": 1, "b": 3})
    other = Tool(server="mail", name="draft", definition_hash="d" * 64)
    assert plain != fallback_resource(other, {"a": 1, "b": 2})
    other = Tool(server="post", name="send", definition_hash="d" * 64)
    assert plain != fallback_resource(other, {"a": 1, "b": 2})


def test_fallback_ignores_the_definition() -> None:
    changed = Tool(server="mail", name="send", definition_hash="e" * 64)
    assert fallback_resource(TOOL, {}) == fallback_resource(changed, {})


def test_fallback_refuses_arguments_without_canonical_form() -> None:
    with pytest.raises(ContractError):
        fallback_resource(TOOL, {"n": 2**60})


def test_fingerprint_ignores_the_order_of_resources_only() -> None:
    assert fingerprint("s", "t", ("a", "b")) == fingerprint("s", "t", ("b", "a"))
    assert len({fingerprint("s", "t", ("a",)), fingerprint("st", "", ("a",))}) == 2
    assert fingerprint("s", "t", ("a",)) != fingerprint("s", "t", ("a", "b"))
