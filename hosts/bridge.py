"""Blocking code in any thread shares one event loop, which lives in a thread of its own.

What a call raises is raised where it was called, and ends nothing else. A block that another thread
still has open at the end is left without it, so that the end has a bound.
"""

from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import AbstractAsyncContextManager, AbstractContextManager, contextmanager
from types import TracebackType
from typing import Any, Generic, ParamSpec, TypeVar

import anyio
from anyio.from_thread import BlockingPortal, start_blocking_portal

from pmcl.contracts import HostError

__all__ = ["Bridge"]

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

_LEAVE_S = 10.0


class _LeftOpenError(BaseException):
    """Nobody saw the end of a block; no `Exception`, since the code in it did not fail."""


class Bridge:
    """The way from blocking code into one event loop; several threads may use it at once."""

    def __init__(self, portal: BlockingPortal) -> None:
        self._portal = portal
        self._open: set[_Block[Any]] = set()

    @classmethod
    @contextmanager
    def into(cls, whole: AbstractAsyncContextManager[T]) -> Iterator[tuple["Bridge", T]]:
        """Run `whole` in a new loop; yield the way there, and what `whole` gave.

        At the end blocks that are still open are left, then `whole` is, then calls are cancelled.
        """
        with start_blocking_portal(name="pmcl-host") as portal:
            bridge = cls(portal)
            try:
                with _Block(bridge, whole, set()) as value:
                    try:
                        yield bridge, value
                    finally:
                        portal.call(bridge._leave_open)
            finally:
                portal.call(portal.stop, True)  # noqa: FBT003 - cancels what is left

    def call(self, function: Callable[P, Awaitable[R]], *args: P.args, **kwargs: P.kwargs) -> R:
        """Return what the coroutine returns; it is cancelled when the waiting is interrupted.

        Raises:
            HostError: the host is closed.
        """

        async def call() -> R:
            return await function(*args, **kwargs)

        future = self.start(call)
        try:
            return future.result()
        except CancelledError as error:
            raise HostError("the host was closed during the call") from error
        except BaseException:
            future.cancel()
            raise

    def block(self, block: AbstractAsyncContextManager[T]) -> AbstractContextManager[T]:
        """Return the block to be entered and left here; it runs in the loop, as one task.

        Its `__exit__` raises HostError if the host was closed meanwhile.
        """
        return _Block(self, block, self._open)

    def start(self, function: Callable[[], Awaitable[R]]) -> Future[R]:
        """Start a task in the loop.

        Raises:
            HostError: the host is closed, or this is the loop's own thread.
        """
        try:
            return self._portal.start_task_soon(function)
        except RuntimeError as error:
            raise HostError(f"the host cannot be called: {error}") from error

    async def _leave_open(self) -> None:
        left = [*self._open]
        for block in left:
            await block.leave(_LeftOpenError())
        with anyio.move_on_after(_LEAVE_S):
            for block in left:
                await block.gone.wait()


class _Block(AbstractContextManager[T], Generic[T]):
    """An asynchronous block whose inside is blocking code."""

    def __init__(
        self, bridge: Bridge, block: AbstractAsyncContextManager[T], among: set["_Block[Any]"]
    ) -> None:
        self._bridge = bridge
        self._block = block
        self._among = among  # the loop's own: no other thread touches it
        self._entered: Future[T] = Future()
        self._ended: Future[BaseException | None] | None = None
        self._error: BaseException | None = None
        self._over = anyio.Event()
        self.gone = anyio.Event()

    def __enter__(self) -> T:
        try:
            self._ended = self._bridge.start(self._run)
            return self._entered.result()
        except BaseException:
            if not self._entered.done():  # the waiting was interrupted
                self._bridge.start(lambda: self.leave(_LeftOpenError()))
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        raised = self._leave(error)
        if error is not None:
            error.__traceback__ = trace  # without the loop's own frames
            if raised is error or isinstance(raised, _LeftOpenError):
                return False
        elif isinstance(raised, _LeftOpenError):
            raise HostError("the host was closed inside the block")
        if raised is not None:
            raise raised
        return True

    def _leave(self, error: BaseException | None) -> BaseException | None:
        """Have the block end, wait, and return what it raised."""
        assert self._ended is not None
        try:
            if not self._ended.done():
                self._bridge.start(lambda: self.leave(error))
            return self._ended.result()
        except (CancelledError, HostError):
            return _LeftOpenError()

    async def leave(self, error: BaseException | None) -> None:
        """Have the block end, by this error if there is one; the first that is said counts."""
        if not self._over.is_set():
            self._error = error
            self._over.set()

    async def _run(self) -> BaseException | None:
        """Enter, wait, leave; return what was raised, since only errors may end a task here."""
        self._among.add(self)
        try:
            async with self._block as value:
                self._entered.set_result(value)
                await self._over.wait()
                if self._error is not None:
                    raise self._error
        except anyio.get_cancelled_exc_class():
            raise
        except BaseException as error:  # noqa: BLE001 - raised in the thread that it belongs to
            if not self._entered.done():
                self._entered.set_exception(error)
            return error
        finally:
            if not self._entered.done():
                self._entered.set_exception(HostError("the host was closed during the call"))
            self._among.discard(self)
            self.gone.set()
        return None
