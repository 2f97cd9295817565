"""The context worker: answers that this version compiles no context, and invents none."""

from collections.abc import Mapping

from pmcl.contracts import ContextRequest, Contract, Kind, NotAvailableError
from pmcl.outbox import UnitOfWork
from pmcl.workers.worker import Decision, Incoming

__all__ = ["ContextWorker"]


class ContextWorker:
    """Refuses every request by name, so that no host waits for its deadline."""

    name: str = "context"
    kind: Kind = "context"
    needs_watermark: bool = False
    accepts: Mapping[str | None, type[Contract]] = {None: ContextRequest}

    async def prepare(self, incoming: Incoming) -> None:
        """Raise `NotAvailableError`."""
        raise NotAvailableError("subject.kind", "context", "lease, checkpoint")

    def decide(self, unit: UnitOfWork, incoming: Incoming, prepared: None) -> Decision:
        """Return nothing: `prepare` refuses."""
        return Decision()
