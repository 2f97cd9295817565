"""A context comes from the sidecar, or says that it does not; nothing is made up here."""

from pmcl.contracts import Context, ContextRequest, PmclError, convert, schema_of
from pmcl.hosts.asking import ask, degraded_cause
from pmcl.hosts.clock import now_s
from pmcl.hosts.session import Session

__all__ = ["ask_context"]


async def ask_context(
    session: Session, goal: str, *, budget_bytes: int, budget_tokens: int | None
) -> Context:
    """Return the compiled context, or a degraded one with its cause.

    Raises:
        ContractError: the goal or a budget does not fit.
        RefusedError, HostError: as `Host.context`.
    """
    config = session.config
    ends_s = now_s() + config.deadline_ms / 1000
    binding = await session.keeper.wait(config.deadline_ms / 1000)
    if binding is None:
        return Context(status="degraded", cause="no_lease")
    fields = {
        "schema": schema_of(ContextRequest),
        "lease_id": binding.lease_id,
        "generation": binding.generation,
        "goal": goal,
        "budget_bytes": budget_bytes,
        "budget_tokens": budget_tokens,
    }
    asked = convert(fields, ContextRequest)
    try:
        return await ask(
            session.connection,
            config.subject("context"),
            asked,
            Context,
            watermark=(session.file.epoch, session.file.watermark),
            timeout_s=max(0.001, ends_s - now_s()),
        )
    except PmclError as error:
        session.keeper.told(error, binding)
        cause = degraded_cause(error)
        if cause is None:
            raise
        return Context(status="degraded", cause=cause)
