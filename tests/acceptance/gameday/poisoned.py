"""`pmcl` whose observe worker has a defect: it fails on every observation of source `poison`."""

from typing import Any

from pmcl.ops.cli import main
from pmcl.workers import Incoming, ObserveWorker, streams

__all__ = ["poison"]


def poison(worker: type[ObserveWorker]) -> None:
    """Give the worker the defect, and have it tried again sooner."""
    prepare = worker.prepare

    async def poisoned(self: ObserveWorker, incoming: Incoming) -> Any:
        if getattr(incoming.body, "source", "") == "poison":
            raise ZeroDivisionError
        return await prepare(self, incoming)

    setattr(worker, "prepare", poisoned)  # noqa: B010 - a method that the type checker knows
    setattr(streams, "_RETRY_MS", 5)  # noqa: B010


if __name__ == "__main__":
    poison(ObserveWorker)
    main()
