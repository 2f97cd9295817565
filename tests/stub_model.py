"""A model's address that answers as it is told: it stands for llama.cpp and its like."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, suppress
from typing import Any

import msgspec

__all__ = ["StubModel", "judged", "open_stub_model", "said"]


def said(**changes: Any) -> str:
    """Return a reflection of one proposal about the first piece of evidence."""
    proposal = {"kind": "memory", "text": "the disk was full", "evidence": ["e1"], **changes}
    return msgspec.json.encode({"proposals": [proposal]}).decode()


def judged(verdict: str = "veto", failure_mode: str = "data_loss") -> str:
    """Return what a critic says."""
    return msgspec.json.encode({"verdict": verdict, "failure_mode": failure_mode}).decode()


class StubModel:
    """One answer for every question, until it is told another.

    Attributes:
        url: up to `/v1`.
        asked: the head of each question, and its JSON.
        body: sent in place of a completion.
        cut_after: so many bytes of the body are sent, then the connection ends.
        open: cleared, questions wait for their answer until it is set again.
    """

    def __init__(self) -> None:
        self.url = ""
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.status = "200 OK"
        self.body: bytes | None = None
        self.cut_after: int | None = None
        self.content = said()
        self.finish_reason: str | None = "stop"
        self.usage: dict[str, int] | None = {"total_tokens": 120}
        self.open = asyncio.Event()
        self.open.set()

    def answer(self) -> bytes:
        """Return a completion of the OpenAI API."""
        choice = {"message": {"content": self.content}, "finish_reason": self.finish_reason}
        completion: dict[str, Any] = {"choices": [choice]}
        if self.usage is not None:
            completion["usage"] = self.usage
        return msgspec.json.encode(completion)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the one question of a connection."""
        with closing(writer), suppress(asyncio.IncompleteReadError, ConnectionError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            fields = dict(line.lower().split(": ", 1) for line in head.splitlines()[1:] if line)
            question = await reader.readexactly(int(fields["content-length"]))
            self.asked.append((head, msgspec.json.decode(question)))
            if not await self._opened(reader):
                return
            body = self.answer() if self.body is None else self.body
            writer.write(f"HTTP/1.1 {self.status}\r\nContent-Length: {len(body)}\r\n\r\n".encode())
            writer.write(body[: self.cut_after])
            await writer.drain()

    async def _opened(self, reader: asyncio.StreamReader) -> bool:
        """Return whether it may answer; False once whoever asked has gone."""
        opened = asyncio.ensure_future(self.open.wait())
        gone = asyncio.ensure_future(reader.read())
        done, waiting = await asyncio.wait((opened, gone), return_when=asyncio.FIRST_COMPLETED)
        for task in waiting:
            task.cancel()
        return opened in done


@asynccontextmanager
async def open_stub_model() -> AsyncIterator[StubModel]:
    """Yield a model on a free port of the loopback."""
    model = StubModel()
    server = await asyncio.start_server(model.serve, "127.0.0.1", 0)
    model.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    async with server:
        yield model
