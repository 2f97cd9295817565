"""A request for the bounded context of a turn. Source: SPEC B6."""

from pmcl.contracts.contract import Contract
from pmcl.contracts.names import Count, Ulid

__all__ = ["ContextRequest"]


class ContextRequest(Contract, frozen=True, kw_only=True, tag="pmcl/context-request/1"):
    """Asks what a turn should know."""

    lease_id: Ulid
    generation: Count
