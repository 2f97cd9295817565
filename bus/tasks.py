"""Background tasks end with the block that owns them, and the block's error comes out as itself."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
from anyio.abc import TaskGroup, TaskStatus

__all__ = ["background_tasks", "light_tasks"]


@asynccontextmanager
async def background_tasks() -> AsyncIterator[TaskGroup]:
    """Yield a task group that is cancelled when the block ends.

    A single error is raised bare and not as a group: a caller that catches its own errors
    need not know that tasks ran beside it.
    """
    try:
        async with anyio.create_task_group() as tasks:
            try:
                yield tasks
            finally:
                tasks.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        error: BaseException = group
        while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
            error = error.exceptions[0]
        if error is group:
            raise
        raise error from error.__cause__


async def light_tasks(*, task_status: TaskStatus[asyncio.TaskGroup]) -> None:
    """Give a group of asyncio's own, whose tasks end with this one; for `TaskGroup.start`.

    For what starts a task for each message: one of these costs a seventh of one of anyio's.
    """
    async with asyncio.TaskGroup() as group:
        task_status.started(group)
        await anyio.sleep_forever()
