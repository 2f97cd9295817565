"""Background tasks end with the block that owns them, and the block's error comes out as itself."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
from anyio.abc import TaskGroup

__all__ = ["background_tasks"]


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
        if len(group.exceptions) > 1:
            raise
        raise group.exceptions[0] from group.exceptions[0].__cause__
