"""What was tried against the rules, and how often it ran all the same."""

import msgspec

from pmcl.hosts import DispatchRefusedError, Host, Proposal, Verdict

__all__ = ["Tries", "runs"]


class Tries(msgspec.Struct):
    """Tries of one kind.

    Attributes:
        how: what was tried, for the report.
        ran: how many were let through; 0 is right.
    """

    how: str
    ran: int = 0
    n: int = 0

    def add(self, *, ran: bool) -> None:
        """Count one more."""
        self.n += 1
        self.ran += ran


async def runs(host: Host, verdict: Verdict, proposal: Proposal) -> bool:
    """Return whether the dispatch lets the call run; if it does, it is closed as a success."""
    try:
        async with host.dispatch(verdict, proposal):
            return True
    except DispatchRefusedError:
        return False
