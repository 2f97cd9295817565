"""A model's address that answers as it is told: it stands for llama.cpp and its like.

`tests/acceptance/test_model_conformance.py` holds it to what a real one does.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, suppress
from typing import Any, Final

import msgspec

__all__ = ["StubModel", "judged", "open_stub_model", "said"]

_CONTEXT_TOKENS: Final = 8_192
_TOKEN_CHARS: Final = 4
_TYPES: Final = {"array", "boolean", "integer", "null", "number", "object", "string"}


def said(**changes: Any) -> str:
    """Return a reflection of one proposal about the first piece of evidence."""
    proposal = {"kind": "memory", "text": "the disk was full", "evidence": ["e1"], **changes}
    return msgspec.json.encode({"proposals": [proposal]}).decode()


def judged(verdict: str = "veto", failure_mode: str = "data_loss") -> str:
    """Return what a critic says."""
    return msgspec.json.encode({"verdict": verdict, "failure_mode": failure_mode}).decode()


class StubModel:
    """One answer for every question, until it is told another.

    A good answer keeps the connection and any other ends it. What is no question, asks for an
    unknown schema or is longer than its context is refused whatever it was told.

    Attributes:
        url: up to `/v1`.
        asked: the head of each question that was taken, and its JSON.
        content: None for what the question's schema asks for.
        body: sent in place of a completion.
        cut_after: so many bytes of the body are sent, then the connection ends.
        pace_s: between two bytes of the body.
        open: cleared, questions wait for their answer until it is set again.
        silent: it takes questions and says nothing.
        ill_for: so many questions are answered as it was told, and later ones as by a new stub.
    """

    def __init__(self) -> None:
        self.url = ""
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.status = "200 OK"
        self.body: bytes | None = None
        self.cut_after: int | None = None
        self.pace_s: float | None = None
        self.content: str | None = None
        self.finish_reason: str | None = "stop"
        self.usage: dict[str, int] | None = {"total_tokens": 120}
        self.open = asyncio.Event()
        self.open.set()
        self.silent = False
        self.ill_for: int | None = None

    def answer(self, question: dict[str, Any]) -> bytes:
        """Return a completion of the OpenAI API, cut where the question lets it write no more."""
        content = _fitting(question) if self.content is None else self.content
        room = question.get("max_tokens", _CONTEXT_TOKENS) * _TOKEN_CHARS
        choice = {
            "message": {"role": "assistant", "content": content[:room]},
            "finish_reason": self.finish_reason if len(content) <= room else "length",
        }
        completion: dict[str, Any] = {"object": "chat.completion", "choices": [choice]}
        if self.usage is not None:
            completion["usage"] = self.usage
        return msgspec.json.encode(completion)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the questions of a connection."""
        with closing(writer), suppress(asyncio.IncompleteReadError, ConnectionError):
            while await self._turn(reader, writer):
                pass

    async def _turn(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Return whether the connection goes on."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        fields = dict(line.lower().split(": ", 1) for line in head.splitlines()[1:] if line)
        body = await reader.readexactly(int(fields.get("content-length", "0")))
        question = _taken(head, body)
        if isinstance(question, str):
            refusing = StubModel()
            refusing.status = question
            refusing.body = _error(question)
            return await refusing._send(writer, {})
        self.asked.append((head, question))
        well = self.ill_for is not None and len(self.asked) > self.ill_for
        answering = StubModel() if well else self
        return await answering._opened(reader) and await answering._send(writer, question)

    async def _send(self, writer: asyncio.StreamWriter, question: dict[str, Any]) -> bool:
        body = self.answer(question) if self.body is None else self.body
        goes_on = self.status.startswith("200 ") and self.cut_after is None
        connection = "Keep-Alive: timeout=5" if goes_on else "Connection: close"
        head = (
            f"HTTP/1.1 {self.status}\r\nContent-Type: application/json; charset=utf-8\r\n"
            f"Content-Length: {len(body)}\r\n{connection}\r\n\r\n"
        )
        writer.write(head.encode())
        sent = body[: self.cut_after]
        if self.pace_s is None:
            writer.write(sent)
        else:
            for at in range(len(sent)):
                writer.write(sent[at : at + 1])
                await writer.drain()
                await asyncio.sleep(self.pace_s)
        await writer.drain()
        return goes_on

    async def _opened(self, reader: asyncio.StreamReader) -> bool:
        """Return whether it may answer; False once whoever asked has gone."""
        if self.silent:
            await reader.read()
            return False
        if self.open.is_set():
            return True
        opened = asyncio.ensure_future(self.open.wait())
        gone = asyncio.ensure_future(reader.read())
        done, waiting = await asyncio.wait((opened, gone), return_when=asyncio.FIRST_COMPLETED)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        return opened in done


def _fitting(question: dict[str, Any]) -> str:
    schema = question.get("response_format", {}).get("json_schema", {}).get("schema", {})
    return judged("none") if "verdict" in schema.get("properties", {}) else said()


def _taken(head: str, body: bytes) -> dict[str, Any] | str:
    """Return the question; the status where it is refused."""
    if not head.startswith("POST /v1/chat/completions "):
        return "404 Not Found"
    try:
        question = msgspec.json.decode(body, type=dict[str, Any])
        told = sum(len(message["content"]) for message in question["messages"])
        schema = question.get("response_format", {}).get("json_schema", {}).get("schema", {})
    except (msgspec.DecodeError, LookupError, AttributeError, TypeError):
        return "400 Bad Request"
    fits = told // _TOKEN_CHARS <= _CONTEXT_TOKENS and schema.get("type", "object") in _TYPES
    return question if fits else "400 Bad Request"


def _error(status: str) -> bytes:
    kind = "not_found_error" if status.startswith("404") else "invalid_request_error"
    error = {"code": int(status[:3]), "message": status[4:], "type": kind}
    return msgspec.json.encode({"error": error})


@asynccontextmanager
async def open_stub_model() -> AsyncIterator[StubModel]:
    """Yield a model on a free port of the loopback."""
    model = StubModel()
    server = await asyncio.start_server(model.serve, "127.0.0.1", 0)
    model.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    async with server:
        yield model
