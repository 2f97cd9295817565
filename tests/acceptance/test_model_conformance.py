"""What the stub of a model does on the wire, llama.cpp with a real model does as well.

So the tests that ask the stub stand for a real one. What is said is not compared: only its shape.
"""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, Final

import anyio
import httpx
import msgspec
import pytest

from pmcl.contracts import Spending, parse_strict
from pmcl.judgement import (
    CRITICISING,
    CRITIQUE_SCHEMA,
    REFLECTING,
    Critique,
    read_critique,
    read_reflection,
    reflection_prompt,
)
from pmcl.workers.providers import EndpointConfig, ModelEndpoint, ModelError
from tests.acceptance.small_model import WITHIN_S, needs_small_model, open_small_model
from tests.retrospects import SEEN, looking_back
from tests.stub_model import open_stub_model

pytestmark = pytest.mark.anyio

PATIENT_MS: Final = int(WITHIN_S * 1000)
CALL: Final = '{"goal":"clean up","tool":"files/delete_file"}'
RETROSPECT: Final = looking_back(evidence=(msgspec.structs.replace(SEEN, text="the disk is full"),))


@asynccontextmanager
async def stub_url(_: Path) -> AsyncIterator[str]:
    async with open_stub_model() as model:
        yield model.url


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(stub_url, id="stub"),
        pytest.param(open_small_model, id="real", marks=needs_small_model),
    ],
)
async def url(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[str]:
    opened: AbstractAsyncContextManager[str] = request.param(tmp_path_factory.mktemp("model"))
    async with opened as found:
        yield found


def endpoint(url: str, **changes: Any) -> ModelEndpoint:
    fields: dict[str, Any] = {
        "url": url,
        "model": "whatever it is called",
        "timeout_ms": PATIENT_MS,
    }
    return ModelEndpoint(EndpointConfig(**fields | changes))


async def criticised(url: str, **changes: Any) -> tuple[Critique, Spending]:
    answer = await endpoint(url, **changes).ask(CRITICISING, CALL, CRITIQUE_SCHEMA)
    return read_critique(answer.text), answer.used


async def refused(
    url: str, told: str = CALL, schema: dict[str, Any] = CRITIQUE_SCHEMA, **changes: Any
) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await endpoint(url, **changes).ask(CRITICISING, told, schema)
    return caught.value


# --- through the endpoint


async def test_an_answer_is_of_the_schema_and_tells_what_it_used(url: str) -> None:
    critique, used = await criticised(url)
    assert critique.verdict in ("veto", "none")
    assert 0 < used.tokens < endpoint(url).config.reservation.tokens


async def test_a_reflection_cites_what_it_was_shown(url: str) -> None:
    told, schema = reflection_prompt(RETROSPECT)
    roomy = endpoint(url, output_tokens=2_048)  # for as many and as long texts as fit the schema
    answer = await roomy.ask(REFLECTING, told, schema)
    for proposed in read_reflection(answer.text, RETROSPECT).proposals:
        assert proposed.evidence_ids == (RETROSPECT.evidence[0].evidence_id,)


async def test_an_answer_without_room_is_cut_and_tells_what_it_used(url: str) -> None:
    error = await refused(url, output_tokens=4)
    assert (error.reason, error.discarded) == ("cut", True)
    assert 0 < error.used.tokens < endpoint(url).config.reservation.tokens


async def test_a_question_that_is_too_long_is_refused(url: str) -> None:
    error = await refused(url, told="word " * 20_000)
    assert (error.reason, error.discarded, error.used) == ("status_400", False, Spending())


async def test_a_schema_that_nobody_knows_is_refused(url: str) -> None:
    error = await refused(url, schema={"type": "nonsense"})
    assert (error.reason, error.discarded, error.used) == ("status_400", False, Spending())


async def test_a_key_that_is_not_asked_for_is_no_hindrance(url: str) -> None:
    critique, _ = await criticised(url, key="a key")
    assert critique.verdict in ("veto", "none")


async def test_questions_at_once_are_all_answered(url: str) -> None:
    said: list[str] = []

    async def ask() -> None:
        critique, _ = await criticised(url)
        said.append(critique.verdict)

    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(ask)
    assert len(said) == 3
    assert {*said} <= {"veto", "none"}


# --- on the wire


def question(**changes: Any) -> bytes:
    messages = [{"role": "user", "content": "Say yes."}]
    return msgspec.json.encode({"messages": messages, "max_tokens": 4} | changes)


@pytest.fixture
async def client(url: str) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=WITHIN_S) as opened:
        yield opened


def address_of(response: httpx.Response) -> Any:
    """Our end of the connection."""
    return response.extensions["network_stream"].get_extra_info("client_addr")


async def ask(client: httpx.AsyncClient, body: bytes) -> httpx.Response:
    headers = {"Content-Type": "application/json", "Accept-Encoding": "gzip"}
    return await client.post("chat/completions", content=body, headers=headers)


async def test_a_completion_is_one_whole_json_text(client: httpx.AsyncClient) -> None:
    response = await ask(client, question())
    assert response.status_code == httpx.codes.OK
    assert response.headers["Content-Type"].startswith("application/json")
    assert int(response.headers["Content-Length"]) == len(response.content)
    assert "Content-Encoding" not in response.headers
    said = parse_strict(response.content)
    (choice,) = said["choices"]
    assert choice["message"]["role"] == "assistant"
    assert isinstance(choice["message"]["content"], str)
    assert choice["finish_reason"] in ("stop", "length")
    assert said["usage"]["total_tokens"] > 0


async def test_a_connection_takes_several_questions(client: httpx.AsyncClient) -> None:
    used = {address_of(await ask(client, question())) for _ in range(3)}
    assert len(used) == 1


async def test_who_hangs_up_keeps_nobody_from_an_answer(
    client: httpx.AsyncClient, url: str
) -> None:
    at_once = httpx.Timeout(WITHIN_S, read=1e-6)
    with pytest.raises(httpx.ReadTimeout):
        await client.post("chat/completions", content=question(max_tokens=512), timeout=at_once)
    critique, _ = await criticised(url)
    assert critique.verdict in ("veto", "none")


@pytest.mark.parametrize(
    "body",
    [b"", b"{nonsense", b"[]", b"{}", question(messages="x"), question(messages=[{"a": 1}])],
)
async def test_what_is_no_question_is_refused_and_ends_the_connection(
    client: httpx.AsyncClient, body: bytes
) -> None:
    assert_refused(await ask(client, body), httpx.codes.BAD_REQUEST)


async def test_another_path_or_method_is_refused(client: httpx.AsyncClient) -> None:
    assert_refused(await client.post("nothing", content=question()), httpx.codes.NOT_FOUND)
    assert_refused(await client.get("chat/completions"), httpx.codes.NOT_FOUND)


def assert_refused(response: httpx.Response, status: int) -> None:
    assert response.status_code == status, response.text
    assert response.headers["Connection"] == "close"
    error = parse_strict(response.content)["error"]
    assert error["code"] == status
    assert isinstance(error["message"], str)
    assert isinstance(error["type"], str)
