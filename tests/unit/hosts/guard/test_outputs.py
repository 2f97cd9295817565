import base64
from typing import Any

import pytest

from pmcl.contracts import sha256
from pmcl.hosts.guard.outputs import text_of

PNG = b"\x89PNG"
PNG_TEXT = base64.b64encode(PNG).decode()


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "a\nb"),
        ({"content": [{"type": "text", "text": "bad"}], "isError": True}, "bad"),
        ({"content": [], "structuredContent": {"a": "ü"}}, '{"a": "ü"}'),
        ({"content": [{"type": "text", "text": "t"}], "structuredContent": {"result": "t"}}, "t"),
        (
            {"content": [{"type": "text", "text": "t"}], "structuredContent": {"result": "u"}},
            't\n{"result": "u"}',
        ),
        (
            {"content": [{"type": "text", "text": '{"a":1}'}], "structuredContent": {"a": 1}},
            '{"a":1}',
        ),
        (
            {"content": [{"type": "resource", "resource": {"uri": "u:1", "text": "t"}}]},
            "u:1\nt",
        ),
        ({"contents": [{"uri": "u:1", "text": "t", "mimeType": "text/plain"}]}, "u:1\nt"),
        (
            {"messages": [{"role": "user", "content": {"type": "text", "text": "hi"}}]},
            "hi",
        ),
        ({"description": "d", "messages": []}, "d"),
        ({"content": "not a list"}, "not a list"),
        ({"resultType": "complete", "_meta": {"a": 1}, "content": []}, ""),
    ],
)
def test_the_text_is_what_a_model_reads(result: dict[str, Any], text: str) -> None:
    assert text_of({"id": 1, "result": result}) == text


@pytest.mark.parametrize(
    "block",
    [
        {"type": "image", "data": PNG_TEXT, "mimeType": "image/png"},
        {"type": "audio", "data": PNG_TEXT, "mimeType": "image/png"},
        {"type": "resource", "resource": {"uri": "u:1", "blob": PNG_TEXT, "mimeType": "image/png"}},
    ],
)
def test_binary_content_is_named_by_digest_and_type(block: dict[str, Any]) -> None:
    text = text_of({"id": 1, "result": {"content": [block]}})
    assert f"image/png, 4 bytes, sha256 {sha256(PNG)}" in text
    assert PNG_TEXT not in text


def test_a_link_is_told_whole() -> None:
    link = {"type": "resource_link", "uri": "u:1", "name": "n", "description": "read me"}
    text = text_of({"id": 1, "result": {"content": [link]}})
    assert "u:1" in text
    assert "read me" in text


def test_an_errors_words_are_told() -> None:
    text = text_of({"id": 1, "error": {"code": -1, "message": "m", "data": {"more": "d"}}})
    assert '"m"' in text
    assert '"d"' in text


def test_what_a_server_asks_of_the_user_is_told() -> None:
    asked = {"resultType": "input_required", "inputRequests": {"a": {"message": "Which?"}}}
    assert "Which?" in text_of({"id": 1, "result": asked})


@pytest.mark.parametrize(
    "result", [None, 5, "x", [1], {"content": [5]}, {"content": [{"type": "x"}]}]
)
def test_what_no_revision_knows_is_told_as_it_is(result: Any) -> None:
    assert isinstance(text_of({"id": 1, "result": result}), str)
