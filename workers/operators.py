"""What operators say, and no host can: each verb is answered by the worker that knows it.

Who speaks is the connection: only the operator's identity may publish on `ops`. The label in a
message tells which of the people behind that identity it was.
"""

from collections.abc import Mapping
from typing import Any

from pmcl.contracts import Contract, Kind
from pmcl.outbox import UnitOfWork
from pmcl.workers.worker import Decision, Incoming, RequestWorker

__all__ = ["OperatorWorker", "operator_of"]


def operator_of(label: str) -> str:
    """Return how the record names an operator."""
    return f"operator/{label}"


class OperatorWorker:
    """Hands each request to the one of its workers that accepts the verb."""

    name: str = "operator"
    kind: Kind = "ops"
    needs_watermark: bool = False

    def __init__(self, *workers: RequestWorker[Any]) -> None:
        self._by_verb = {verb: worker for worker in workers for verb in worker.accepts}
        self.accepts: Mapping[str | None, type[Contract]] = {
            verb: worker.accepts[verb] for verb, worker in self._by_verb.items()
        }

    async def prepare(self, incoming: Incoming) -> Any:
        """Return what the verb's worker prepares."""
        return await self._by_verb[incoming.subject.leaf].prepare(incoming)

    def decide(self, unit: UnitOfWork, incoming: Incoming, prepared: Any) -> Decision:
        """Return what the verb's worker decides."""
        return self._by_verb[incoming.subject.leaf].decide(unit, incoming, prepared)
