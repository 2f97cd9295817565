"""A guarded function runs only when its call passed, and its value returns only as evidence.

Source: SPEC G1, C8, D1.
"""

import inspect
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import partial, wraps
from typing import Any, ParamSpec, Protocol, TypeVar, overload

import anyio.to_thread
import msgspec

from pmcl.contracts import HostError
from pmcl.hosts.adapter import Mediated, Mediator, ToolCall
from pmcl.hosts.bridge import Bridge
from pmcl.hosts.dispatch import Dispatch
from pmcl.hosts.errors import DispatchRefusedError, HeldError
from pmcl.hosts.function_tool import FunctionTool, output_text
from pmcl.hosts.stating import stated_here
from pmcl.hosts.turn import goal_here

__all__ = ["AsyncDecorator", "Decorator", "Guard", "guard_async", "guard_blocking"]

P = ParamSpec("P")
R = TypeVar("R")


class AsyncDecorator(Protocol):
    """Makes a coroutine function of a function, with the same parameters and the same value."""

    @overload
    def __call__(
        self, function: Callable[P, Coroutine[Any, Any, R]], /
    ) -> Callable[P, Coroutine[Any, Any, R]]: ...

    @overload
    def __call__(self, function: Callable[P, R], /) -> Callable[P, Coroutine[Any, Any, R]]: ...

    def __call__(self, function: Callable[..., Any], /) -> Callable[..., Any]:
        """Return the guarded function."""
        ...


class Decorator(Protocol):
    """Returns a function with the same parameters and the same value."""

    def __call__(self, function: Callable[P, R], /) -> Callable[P, R]:
        """Return the guarded function."""
        ...


class Returned:
    """Where the block of a guarded call puts the function's value."""

    value: Any


class Guard:
    """Stands before one function."""

    def __init__(self, mediator: Mediator, tool: FunctionTool) -> None:
        self._mediator = mediator
        self._tool = tool

    @asynccontextmanager
    async def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> AsyncIterator[Returned]:
        """Open the block in which the function may be called once, with these arguments.

        Raises, and the function must not run:
            HeldError: its call was held, or could not be asked about.
            DispatchRefusedError, LedgerError: the verdict could not be used.
            ContractError, TypeError: these are no arguments for it.
        Raises, and its value must not be used:
            HostError: the value could not be recorded.
        """
        call = self._call(args, kwargs)
        mediated = await self._mediator.check(call)
        if not mediated.may_run:
            raise HeldError(mediated.told, mediated.verdict)
        block = self._mediator.dispatch(mediated)
        async with block as run:
            if self._tool.arguments(args, kwargs) != call.arguments:
                run.status = "unused"
                raise DispatchRefusedError(call.call_id, "other_proposal")
            returned = Returned()
            try:
                yield returned
            except Exception as error:
                run.end(error)
                await self._record(mediated, block, f"{type(error).__name__}: {error}")
                raise
            run.succeeded()  # also when that cannot be recorded
            await self._record(mediated, block, output_text(returned.value))

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> ToolCall:
        stated = stated_here()
        if stated.goal is None:
            stated = msgspec.structs.replace(stated, goal=goal_here())
        return self._tool.call(self._tool.arguments(args, kwargs), stated)

    async def _record(self, mediated: Mediated, block: Dispatch, output: str) -> None:
        await self._mediator.record(mediated.call, output, mediated=mediated, ends=block)


def guard_async(guard: Guard, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the guarded coroutine function; a plain function runs in a thread."""
    runs_here = inspect.iscoroutinefunction(function)

    @wraps(function)
    async def guarded(*args: Any, **kwargs: Any) -> Any:
        async with guard.call(args, kwargs) as returned:
            if runs_here:
                value = function(*args, **kwargs)
            else:
                value = await anyio.to_thread.run_sync(partial(function, *args, **kwargs))
            returned.value = await value if inspect.isawaitable(value) else value
        return returned.value

    return guarded


def guard_blocking(guard: Guard, function: Callable[P, R], bridge: Bridge) -> Callable[P, R]:
    """Return the guarded function, which runs in the thread that calls it.

    Raises:
        HostError: it is a coroutine function, and there is no loop here to run it.
    """
    if inspect.iscoroutinefunction(function):
        raise HostError(f"{function!r} is a coroutine function: guard it with Host")

    @wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        with bridge.block(guard.call(args, kwargs)) as returned:
            returned.value = function(*args, **kwargs)
        value: R = returned.value
        return value

    return guarded
