"""One question to a model, one whole answer of the schema, or an error that says why not.

The key is in a header and nowhere else: no error and no log tells it. No proxy of the environment
is used and no redirect is followed, so a question goes to the address that was set, or nowhere.

Source: the chat completions of the OpenAI API, as llama.cpp, Ollama and vLLM serve them.
"""

from datetime import UTC, datetime
from typing import Annotated, Any, Final

import anyio
import httpx
import msgspec

from pmcl.contracts import ContractError, PmclError, Spending, convert, parse_strict
from pmcl.workers.providers.locality import local_url
from pmcl.workers.providers.retry_after import retry_after_ms

__all__ = ["Answer", "EndpointConfig", "ModelEndpoint", "ModelError"]

_ANSWER_MAX_BYTES: Final = 256 * 1024
_TOKENS_MAX: Final = 10_000_000
"""More in one answer is no count; sums of them must stay within what a table holds."""
_PASSING: Final = (
    httpx.codes.REQUEST_TIMEOUT,
    httpx.codes.TOO_EARLY,
    httpx.codes.TOO_MANY_REQUESTS,
)
"""The only refusals of a question that say nothing against the question."""
PROMPT_TOKENS_MAX: Final = 8_192
"""What the longest prompt here takes, a character a token; what it really took is charged."""


class EndpointConfig(msgspec.Struct, frozen=True, kw_only=True):
    """Where a model is, and what it may use.

    Attributes:
        url: up to `/v1`.
        key: sent as a bearer token, if there is one.
        timeout_ms: for the whole answer.
        output_tokens: that it may write.
        price: of 1,000 tokens, in millionths of a currency.
    """

    url: str
    model: str
    key: str | None = None
    timeout_ms: int = 60_000
    output_tokens: int = 512
    price: int = 0

    def __repr__(self) -> str:
        return f"EndpointConfig(url={self.url!r}, model={self.model!r})"

    @property
    def reservation(self) -> Spending:
        """What one question may use."""
        tokens = PROMPT_TOKENS_MAX + self.output_tokens
        return Spending(tokens=tokens, ms=self.timeout_ms, cost=self.cost(tokens))

    def cost(self, tokens: int) -> int:
        """Return the price of tokens, a begun thousandth counted whole."""
        return -(-tokens * self.price // 1000)


class ModelError(PmclError):
    """A model gave no answer, or none of use.

    Attributes:
        reason: a short code.
        used: what it used, by its own count; all that was reserved where it told none, and nothing
            where it did not take the question.
        discarded: that there was an answer.
        retry_after_ms: how long it wants not to be asked.
        lasting: that the same question would be refused again.
    """

    def __init__(
        self,
        reason: str,
        used: Spending,
        *,
        discarded: bool,
        retry_after_ms: int = 0,
        lasting: bool = False,
    ) -> None:
        self.reason = reason
        self.used = used
        self.discarded = discarded
        self.lasting = lasting
        self.retry_after_ms = retry_after_ms
        super().__init__(f"model: {reason}")


class Answer(msgspec.Struct, frozen=True):
    """The text of an answer, and what it used."""

    text: str
    used: Spending


class _Message(msgspec.Struct):
    content: str | None = None


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: str | None = None


class _Usage(msgspec.Struct):
    total_tokens: Annotated[int, msgspec.Meta(le=_TOKENS_MAX)] = 0


class _Completion(msgspec.Struct):
    choices: list[_Choice]
    usage: _Usage | None = None


class ModelEndpoint:
    """Asks one model."""

    def __init__(self, config: EndpointConfig) -> None:
        self.config = config
        self._url = f"{local_url(config.url).rstrip('/')}/chat/completions"

    async def ask(self, system: str, told: str, schema: dict[str, Any]) -> Answer:
        """Return the answer.

        Raises:
            ModelError: no answer in time, none that is whole, or none at all.
        """
        with anyio.move_on_after(self.config.timeout_ms / 1000):
            return self._read(await self._post(_question(self.config, system, told, schema)))
        raise self._unheard("timeout")

    async def _post(self, question: dict[str, Any]) -> bytes:
        key = self.config.key
        # Unpacked, a small answer may be of any size; so it must come as it is.
        headers = {"Accept-Encoding": "identity"}
        if key is not None:
            headers["Authorization"] = f"Bearer {key}"
        try:
            async with (
                httpx.AsyncClient(trust_env=False, timeout=None) as client,  # noqa: S113 - bounded above
                client.stream("POST", self._url, json=question, headers=headers) as response,
            ):
                if response.status_code != httpx.codes.OK:
                    raise self._refused(response)
                if response.headers.get("Content-Encoding", "identity") != "identity":
                    raise self._useless("encoded")
                body = bytearray()
                async for chunk in response.aiter_raw():
                    body += chunk
                    if len(body) > _ANSWER_MAX_BYTES:
                        raise self._useless("too_large")
                return bytes(body)
        except (httpx.ConnectError, httpx.InvalidURL) as error:
            raise ModelError("unreachable", Spending(), discarded=False) from error
        except httpx.HTTPError as error:
            raise self._unheard("interrupted") from error

    def _read(self, body: bytes) -> Answer:
        try:
            completion = convert(parse_strict(body), _Completion)
        except ContractError as error:
            raise self._useless("malformed") from error
        used = self._used(completion.usage)
        if not completion.choices:
            raise ModelError("empty", used, discarded=True)
        choice = completion.choices[0]
        if choice.finish_reason != "stop":
            raise ModelError("cut", used, discarded=True)
        if not choice.message.content:
            raise ModelError("empty", used, discarded=True)
        return Answer(choice.message.content, used)

    def _used(self, usage: _Usage | None) -> Spending:
        if usage is None or usage.total_tokens <= 0:
            return self.config.reservation
        return Spending(tokens=usage.total_tokens, cost=self.config.cost(usage.total_tokens))

    def _refused(self, response: httpx.Response) -> ModelError:
        status = response.status_code
        ours = httpx.codes.is_client_error(status)
        untaken = ours or status == httpx.codes.SERVICE_UNAVAILABLE
        return ModelError(
            f"status_{status}",
            Spending() if untaken else self.config.reservation,
            discarded=False,
            retry_after_ms=retry_after_ms(response.headers.get("Retry-After"), datetime.now(UTC)),
            lasting=ours and status not in _PASSING,
        )

    def _unheard(self, reason: str) -> ModelError:
        return ModelError(reason, self.config.reservation, discarded=False)

    def _useless(self, reason: str) -> ModelError:
        return ModelError(reason, self.config.reservation, discarded=True)


def _question(
    config: EndpointConfig, system: str, told: str, schema: dict[str, Any]
) -> dict[str, Any]:
    return {
        "model": config.model,
        "messages": [
            {"role": "system", "content": system},
            {"role": "user", "content": told},
        ],
        "max_tokens": config.output_tokens,
        "temperature": 0,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": True, "schema": schema},
        },
    }
