"""Blocking code, one loop: errors stay with their call, and the end has a bound."""

import contextvars
import signal
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from traceback import extract_tb

import anyio
import pytest

from pmcl.contracts import HostError
from pmcl.hosts.bridge import Bridge

WAIT_S = 10


@asynccontextmanager
async def plain(ended: list[BaseException | None]) -> AsyncIterator[str]:
    """A block that notes what ended it."""
    try:
        yield "inside"
    except BaseException as error:
        ended.append(error)
        raise
    ended.append(None)


async def answer(value: int) -> int:
    await anyio.lowlevel.checkpoint()
    return value


async def failing() -> None:
    raise LookupError("lost")


def test_call_returns_and_raises_where_it_was_called() -> None:
    with Bridge.into(plain([])) as (bridge, inside):
        assert inside == "inside"
        with pytest.raises(LookupError, match="lost"):
            bridge.call(failing)
        assert bridge.call(answer, value=3) == 3


def test_many_threads_call_at_once() -> None:
    met = threading.Barrier(8)

    def called(n: int) -> int:
        met.wait(WAIT_S)
        return bridge.call(answer, n)

    with Bridge.into(plain([])) as (bridge, _), ThreadPoolExecutor(8) as pool:
        assert list(pool.map(called, range(8))) == list(range(8))


def test_call_sees_the_context_of_its_caller() -> None:
    var = contextvars.ContextVar("var", default="unset")

    async def read() -> str:
        return var.get()

    with Bridge.into(plain([])) as (bridge, _):
        var.set("set")
        assert bridge.call(read) == "set"


@pytest.mark.parametrize("kind", [LookupError, SystemExit, KeyboardInterrupt, StopIteration])
def test_block_ends_by_the_error_of_its_inside(kind: type[BaseException]) -> None:
    ended: list[BaseException | None] = []
    raised = kind()
    with Bridge.into(plain([])) as (bridge, _):
        with pytest.raises(kind) as caught, bridge.block(plain(ended)):
            raise raised
        assert caught.value is raised
        assert ended == [raised]
        assert bridge.call(answer, 1) == 1


def test_error_of_the_inside_keeps_its_own_trace() -> None:
    with (
        Bridge.into(plain([])) as (bridge, _),
        pytest.raises(LookupError) as caught,
        bridge.block(plain([])),
    ):
        raise LookupError
    assert {frame.filename for frame in extract_tb(caught.value.__traceback__)} == {__file__}


def test_block_that_cannot_be_entered_raises_its_error() -> None:
    @asynccontextmanager
    async def closed() -> AsyncIterator[None]:
        await failing()
        yield

    with Bridge.into(plain([])) as (bridge, _):
        with pytest.raises(LookupError), bridge.block(closed()):
            pytest.fail("was entered")
        assert bridge.call(answer, 1) == 1


def test_block_raises_what_its_end_raises() -> None:
    @asynccontextmanager
    async def breaking() -> AsyncIterator[None]:
        yield
        await failing()

    with (
        Bridge.into(plain([])) as (bridge, _),
        pytest.raises(LookupError),
        bridge.block(breaking()),
    ):
        pass


def test_end_that_raises_no_exception_ends_nothing_else() -> None:
    @asynccontextmanager
    async def exiting() -> AsyncIterator[None]:
        yield
        raise SystemExit

    with Bridge.into(plain([])) as (bridge, _):
        with pytest.raises(SystemExit), bridge.block(exiting()):
            pass
        assert bridge.call(answer, 1) == 1


def test_error_at_the_end_comes_from_the_error_of_the_inside() -> None:
    @asynccontextmanager
    async def breaking() -> AsyncIterator[None]:
        try:
            yield
        finally:
            await failing()

    inside = ValueError()
    with Bridge.into(plain([])) as (bridge, _):
        with pytest.raises(LookupError) as caught, bridge.block(breaking()):
            raise inside
        assert caught.value.__context__ is inside


def test_entering_that_never_ends_is_cancelled_at_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pmcl.hosts.bridge._LEAVE_S", 0.0)
    began = threading.Event()

    @asynccontextmanager
    async def endless() -> AsyncIterator[None]:
        began.set()
        await anyio.sleep_forever()
        yield

    with Bridge.into(plain([])) as (bridge, _):
        thread, raised = in_thread(lambda: bridge.block(endless()).__enter__())
        assert began.wait(WAIT_S)
    thread.join(WAIT_S)
    assert [type(error) for error in raised] == [HostError]


def test_block_may_swallow_the_error_of_its_inside() -> None:
    @asynccontextmanager
    async def deaf() -> AsyncIterator[None]:
        with suppress(LookupError):
            yield

    with Bridge.into(plain([])) as (bridge, _), bridge.block(deaf()):
        raise LookupError


def in_thread(function: Callable[[], object]) -> tuple[threading.Thread, list[Exception]]:
    raised: list[Exception] = []

    def run() -> None:
        try:
            function()
        except Exception as error:  # noqa: BLE001 - told to the test
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, raised


def test_block_that_is_still_open_is_left_at_the_end_and_not_as_done() -> None:
    ended: list[BaseException | None] = []
    entered, closed = threading.Event(), threading.Event()

    def tool() -> None:
        with bridge.block(plain(ended)):
            entered.set()
            assert closed.wait(WAIT_S)

    with Bridge.into(plain([])) as (bridge, _):
        thread, raised = in_thread(tool)
        assert entered.wait(WAIT_S)
    assert len(ended) == 1
    assert ended[0] is not None
    assert not isinstance(ended[0], Exception)
    closed.set()
    thread.join(WAIT_S)
    assert [type(error) for error in raised] == [HostError]


def test_call_that_never_ends_is_cancelled_at_the_end() -> None:
    began = threading.Event()

    async def endless() -> None:
        began.set()
        await anyio.sleep_forever()

    with Bridge.into(plain([])) as (bridge, _):
        thread, raised = in_thread(lambda: bridge.call(endless))
        assert began.wait(WAIT_S)
    thread.join(WAIT_S)
    assert [type(error) for error in raised] == [HostError]


def test_whole_ends_after_the_blocks_inside_it() -> None:
    order: list[str] = []

    @asynccontextmanager
    async def noted(name: str) -> AsyncIterator[None]:
        try:
            yield
        finally:
            await anyio.lowlevel.checkpoint()
            order.append(name)

    with Bridge.into(noted("whole")) as (bridge, _):
        bridge.block(noted("inside")).__enter__()
    assert order == ["inside", "whole"]


def test_closed_bridge_refuses() -> None:
    with Bridge.into(plain([])) as (bridge, _):
        pass
    with pytest.raises(HostError, match="cannot be called"):
        bridge.call(answer, 1)
    with pytest.raises(HostError, match="cannot be called"), bridge.block(plain([])):
        pytest.fail("was entered")


def test_loops_own_thread_is_refused_and_not_blocked() -> None:
    async def inside() -> int:
        return bridge.call(answer, 1)

    with (
        Bridge.into(plain([])) as (bridge, _),
        pytest.raises(HostError, match="event loop thread"),
    ):
        bridge.call(inside)


def test_interrupted_call_is_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    began, cancelled = threading.Event(), threading.Event()

    async def endless() -> None:
        began.set()
        try:
            await anyio.sleep_forever()
        finally:
            cancelled.set()

    def interrupted() -> None:
        assert began.wait(WAIT_S)
        raise KeyboardInterrupt

    with Bridge.into(plain([])) as (bridge, _):
        future = bridge.start(endless)
        monkeypatch.setattr(future, "result", interrupted)
        monkeypatch.setattr(bridge, "start", lambda _: future)
        with pytest.raises(KeyboardInterrupt):
            bridge.call(endless)
        assert cancelled.wait(WAIT_S)
        monkeypatch.undo()


def interrupt_main_thread() -> None:
    main = threading.main_thread().ident
    assert main is not None
    signal.pthread_kill(main, signal.SIGINT)


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Also where a shell started the tests in the background, and so without SIGINT."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_interrupted_entering_leaves_the_block() -> None:
    left = threading.Event()

    @asynccontextmanager
    async def slow() -> AsyncIterator[None]:
        interrupt_main_thread()
        await anyio.lowlevel.checkpoint()
        await entered.wait()
        try:
            yield
        finally:
            left.set()

    async def let_in() -> None:
        entered.set()

    entered = anyio.Event()
    with Bridge.into(plain([])) as (bridge, _):
        with pytest.raises(KeyboardInterrupt), bridge.block(slow()):
            pytest.fail("was entered")
        bridge.call(let_in)
        assert left.wait(WAIT_S)
