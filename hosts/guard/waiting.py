"""Every request of the client that is not answered yet, and who waits for its answer.

An answer to a question that nobody asked could be read as one to the next question, so it is none.
"""

from collections import OrderedDict, deque
from typing import Final

import anyio
import msgspec

from pmcl.hosts.guard.calls import is_id
from pmcl.hosts.guard.lanes import Place
from pmcl.hosts.guard.messages import Id, Message
from pmcl.hosts.guard.pins import Pin

__all__ = ["Answer", "OpenRequests", "Request", "WaitingCall"]

_OPEN_MAX: Final = 4096
_CANCELLED_MAX: Final = 256
_ANSWER_S: Final = 2.0
"""How long a cancelled call is still waited for: its answer says what really came of it."""


class Request(msgspec.Struct, frozen=True):
    """A request that is passed as it is."""

    method: str
    params: Message


class Answer(msgspec.Struct, frozen=True):
    """A server's response, and the place in which it goes to the client."""

    message: Message
    frame: bytes
    place: Place


class WaitingCall:
    """A tool call between its frame and its last answer, over as many requests as it takes."""

    def __init__(self, name: str, pin: Pin | None) -> None:
        self.name = name
        self.pin = pin
        self.scope = anyio.CancelScope()
        self.is_forwarded = False
        self.is_cancelled = False
        self.is_void = False
        self._answers: deque[Answer | None] = deque()
        self._answered = anyio.Event()
        self._resumed = anyio.Event()
        self._is_lost = False

    def cancel(self) -> bool:
        """End the call for the client; return whether the server knows of it."""
        self.is_cancelled = True
        if self.is_forwarded:
            self.scope.deadline = anyio.current_time() + _ANSWER_S
        else:
            self.scope.cancel()
        return self.is_forwarded

    def void(self) -> None:
        """Let no verdict be used that was asked for before now."""
        if not self.is_forwarded:
            self.is_void = True
            self.scope.cancel()

    def lose(self) -> None:
        """There will be no answer any more."""
        self._is_lost = True
        if not self.is_forwarded or self.scope.deadline < float("inf"):
            self.scope.cancel()  # not dispatched, or cancelled by the client before
        else:
            self.resolve(None)

    def resolve(self, answer: Answer | None) -> None:
        """Hand over an answer; `None` when nobody will ever see it."""
        self.scope.deadline = float("inf")
        self._answers.append(answer)
        self._answered.set()
        self._resumed.set()

    async def answer(self) -> Answer | None:
        """Return the next answer."""
        while not self._answers:
            self._answered = anyio.Event()
            await self._answered.wait()
        return self._answers.popleft()

    def park(self) -> None:
        """The next answer is one to another request, which is not there yet."""
        self._resumed = anyio.Event()

    def resume(self) -> None:
        """The next request is on its way."""
        self._resumed.set()

    async def resumed(self, within_s: float) -> bool:
        """Return whether the call goes on, within the time."""
        with anyio.move_on_after(0 if self._is_lost else within_s):
            await self._resumed.wait()
        return self._resumed.is_set()

    def close(self) -> None:
        """Nothing goes out in the places of answers that were not passed on."""
        for answer in self._answers:
            if answer is not None:
                answer.place.fill()


class OpenRequests:
    """The client's requests by their ids; text and numbers are different ids."""

    def __init__(self) -> None:
        self._open: dict[Id, Request | WaitingCall] = {}
        self._cancelled: OrderedDict[Id, Request | WaitingCall] = OrderedDict()

    def __contains__(self, id: Id) -> bool:
        return id in self._open or id in self._cancelled

    @property
    def is_full(self) -> bool:
        """Whether no more may be added."""
        return len(self._open) >= _OPEN_MAX

    def add(self, id: Id, request: Request | WaitingCall) -> None:
        """Know a request that is about to go to the server."""
        self._open[id] = request

    def take(self, id: object) -> Request | WaitingCall | None:
        """Return the request that this answers, once; `None` when there is none."""
        if not is_id(id):
            return None
        return self._open.pop(id, None) or self._cancelled.pop(id, None)

    def cancel(self, id: object) -> bool:
        """Take in a cancellation; return whether the server must hear of it.

        One by what is no id is none: some servers would still find the request by it (1.0 is 1).
        """
        if not is_id(id):
            return False
        if id not in self._open:
            return True
        request = self._open[id]
        if isinstance(request, WaitingCall):
            return request.cancel()
        self._cancelled[id] = self._open.pop(id)
        while len(self._cancelled) > _CANCELLED_MAX:
            self._cancelled.popitem(last=False)
        return True

    def forget(self, call: WaitingCall) -> None:
        """Know no more of a call that is over."""
        for id in [id for id, request in self._open.items() if request is call]:
            del self._open[id]

    def calls(self) -> list[WaitingCall]:
        """Return the calls that are not over."""
        return [request for request in self._open.values() if isinstance(request, WaitingCall)]
