"""What is wrong is refused in one JSON object that names it, and nothing is told beyond that."""

import json
from collections.abc import Callable, Iterator

import pytest
import structlog

from pmcl.bus.keys import new_seed
from tests.integration.gateway.conftest import House
from tests.integration.gateway.wire import ANYTHING, Answer, Wire

pytestmark = pytest.mark.anyio

SECURITY = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
TEXT = {"goal": "g", "text": "t"}


@pytest.fixture
def logged() -> Iterator[list[structlog.typing.EventDict]]:
    with structlog.testing.capture_logs() as entries:
        yield entries


def assert_refused(answer: Answer, status: int, code: str, field: str) -> None:
    assert (answer.status, answer.body["code"], answer.body["field"]) == (status, code, field)
    assert set(answer.body) == {"code", "field", "value", "limit", "message"}
    assert answer.body["limit"]
    assert SECURITY.items() <= answer.headers.items()


def _unregistered(key: str) -> str:
    return f"Bearer {new_seed()}"


def _mistyped(key: str) -> str:
    return f"Bearer {key[:-1]}{'A' if key[-1] != 'A' else 'B'}"


def _cut(key: str) -> str:
    return f"Bearer {key[:-1]}"


@pytest.mark.parametrize(
    "shown",
    [
        lambda key: None,
        lambda key: "",
        lambda key: "Bearer",
        lambda key: f"Basic {key}",
        lambda key: f"Bearer {key} {key}",
        lambda key: f"Bearer {key.lower()}",
        lambda key: "Bearer " + "S" * 5000,
        lambda key: "Bearer \u00fc" + key[1:],
        _unregistered,
        _cut,
        _mistyped,
    ],
)
async def test_wrong_keys_are_answered_alike_and_shown_nowhere(
    wire: Wire,
    shown: Callable[[str], str | None],
    logged: list[structlog.typing.EventDict],
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert wire.key is not None
    key = shown(wire.key)
    refused = await wire.send("GET", "/v1/lease", authorization=key)
    bare = await Wire(f"http://127.0.0.1:{wire.port}", None).get("/v1/lease")
    assert_refused(refused, 401, "wrong_key", "authorization")
    assert refused.headers["www-authenticate"] == "Bearer"
    apart = {"date": ""}
    assert (refused.headers | apart, refused.body) == (bare.headers | apart, bare.body)
    told = json.dumps([refused.body, refused.headers, str(logged), *capfd.readouterr()])
    assert wire.key not in told
    assert not key or len(key) < 10 or key[7:] not in told


async def test_key_alone_says_scope_and_host(house: House, wire: Wire) -> None:
    for name in ("scope", "host"):
        spoken = await wire.post("/v1/checks/recommendation", {**TEXT, name: "s0"})
        assert_refused(spoken, 400, "malformed", "$")
        assert spoken.body["value"] == name
    verdict = await wire.check("read_file", "/work/a")
    other = house.wire()
    await other.begin()
    assert_refused(await other.claim(verdict, "/work/a"), 404, "unknown_verdict", "$.verdict_id")
    assert (await wire.claim(verdict, "/work/a")).status == 201
    theirs = await other.outcome(verdict, "succeeded")
    assert_refused(theirs, 404, "unknown_verdict", "$.verdict_id")
    assert (await wire.outcome(verdict, "succeeded")).status == 200


async def test_label_that_the_credential_may_not_assert_is_refused(wire: Wire) -> None:
    observed = {"source": "s", "summary": "t", "trust": "operator"}
    refused = await wire.post("/v1/observations", observed)
    assert_refused(refused, 403, "trust_not_allowed", "$.trust")
    refused = await wire.post("/v1/observations/batch", {"observations": [observed]})
    assert_refused(refused, 403, "trust_not_allowed", "$.observations[0].trust")


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "localhost:1", "127.0.0.1.nip.io"])
async def test_rebound_name_is_misdirected(wire: Wire, host: str) -> None:
    for path in ("/v1/health", "/openapi.json", "/v1/lease"):
        assert_refused(await wire.send("GET", path, host=host), 421, "wrong_host", "host")


async def test_own_names_are_answered(wire: Wire) -> None:
    for host in (f"127.0.0.1:{wire.port}", f"localhost:{wire.port}"):
        own = await wire.send("GET", "/v1/lease", host=host, origin=f"http://{host}")
        assert own.status == 200
        assert SECURITY.items() <= own.headers.items()


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://127.0.0.1:1", "file://"]
)
async def test_page_of_another_origin_is_refused_and_no_cors_is_granted(
    wire: Wire, origin: str
) -> None:
    for method, path in (("GET", "/v1/health"), ("POST", "/v1/turns"), ("OPTIONS", "/v1/turns")):
        refused = await wire.send(method, path, origin=origin)
        assert_refused(refused, 403, "foreign_origin", "origin")
        assert not [name for name in refused.headers if name.startswith("access-control")]


async def test_unknown_route_and_method_are_named(wire: Wire) -> None:
    for path in ("/", "/v1", "/v1/lease/", "/v2/lease", "/v1/dispatches/x/y/outcome", "//v1/lease"):
        assert_refused(await wire.get(path), 404, "unknown_route", "path")
    for method in ("PUT", "PATCH", "HEAD", "OPTIONS", "TRACE", "BREW"):
        if method == "HEAD":  # an answer without a body
            continue
        refused = await wire.send(method, "/v1/lease")
        assert_refused(refused, 405, "wrong_method", "method")
        assert refused.headers["allow"] == "DELETE, GET, POST"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"goal":"g","goal":"h","text":"t"}',
        b'{"goal":"g","text":"t","evidence_ids":[NaN]}',
        b'{"goal":"g","text":"t","premortem":{"failure_mode":"m","likelihood":1e400,"mitigation":""}}',
        b'{"goal":"g","text":"\\ud800"}',
        b'{"goal":"g","text":"\xff"}',
        b'{"goal":' + b"[" * 5000 + b"]" * 5000 + b"}",
        b'{"goal":"g","text":"t"} {}',
        b'{"goal":7,"text":"t"}',
        b'{"goal":"g","text":"t","effect":"magic"}',
        b'{"goal":"g","text":"t","call_id":"a b"}',
        b'{"goal":"g","text":"' + b"x" * 4097 + b'"}',
        b'{"goal":"g","text":"t","Goal":"h"}',
    ],
)
async def test_what_does_not_fit_is_malformed(wire: Wire, body: bytes) -> None:
    refused = await wire.send("POST", "/v1/checks/recommendation", body)
    assert (refused.status, refused.body["code"]) == (400, "malformed")
    assert refused.body["field"].startswith("$")
    assert len(refused.body["message"]) < 500


async def test_secret_as_a_field_is_not_quoted(wire: Wire) -> None:
    secret = "ghp_" + "a1B2c3D4" * 5
    for body in ({**TEXT, secret: 1}, {**TEXT, "goal": {secret: 1}}, {**TEXT, "effect": secret}):
        refused = await wire.post("/v1/checks/recommendation", body)
        assert refused.status == 400
        assert secret not in json.dumps(refused.body)


async def test_number_without_a_canonical_form_is_refused(wire: Wire) -> None:
    asked = {"goal": "g", "tool": {"server": "s", "name": "n"}, "arguments": {"n": 2**60}}
    refused = await wire.post("/v1/checks/tool", asked)
    assert (refused.status, refused.body["code"]) == (400, "malformed")


async def test_body_must_be_said_to_be_json(wire: Wire) -> None:
    for media in (None, "text/plain", "application/x-www-form-urlencoded", "application/jsonp"):
        refused = await wire.send("POST", "/v1/turns", b'{"turn_id":"t"}', content_type=media)
        assert_refused(refused, 415, "wrong_media_type", "content-type")
    charset = "Application/JSON; charset=utf-8"
    told = await wire.send("POST", "/v1/turns", b'{"turn_id":"t"}', content_type=charset)
    assert told.status == 200


async def test_snapshot_with_a_secret_is_refused_and_leaves_the_lease(wire: Wire) -> None:
    verdict = await wire.check("read_file", "/work/a")
    tools = {"token=ghp_" + "a1B2c3D4" * 5: "grant"}
    refused = await wire.post("/v1/lease", {"authority": {**ANYTHING, "tools": tools}})
    assert (refused.status, refused.body["code"]) == (400, "secret_in_name")
    assert "ghp_" not in json.dumps(refused.body)
    assert (await wire.get("/v1/lease")).body["generation"] == 1
    assert (await wire.claim(verdict, "/work/a")).status == 201
