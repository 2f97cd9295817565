"""Stopping: an operator's word after which only local inspections go on, until they resume.

Source: SPEC F7.
"""

from pmcl.contracts.contract import Contract
from pmcl.contracts.event import Event
from pmcl.contracts.names import Count, Id, Millis
from pmcl.contracts.receipts import Received

__all__ = ["CellResumed", "CellStopped", "Resume", "Stop", "StopState"]


class Stop(Contract, frozen=True, kw_only=True, tag="pmcl/stop/1"):
    """Holds everything but local inspections, and ends every lease; again, it changes nothing.

    Attributes:
        label: who decides, as a name; the operator's identity is the connection's.
        dry_run: only tell what would end.
    """

    label: Id
    dry_run: bool = False


class Resume(Contract, frozen=True, kw_only=True, tag="pmcl/resume/1"):
    """Lets everything be judged again; what was passed before the stop stays void.

    Attributes:
        label, dry_run: as of `Stop`.
    """

    label: Id
    dry_run: bool = False


class CellStopped(Event, frozen=True, kw_only=True, tag="pmcl/cell-stopped/1"):
    """From here on only local inspections pass; the ends of all leases follow.

    Attributes:
        by: `operator/<label>`.
    """

    by: str


class CellResumed(Event, frozen=True, kw_only=True, tag="pmcl/cell-resumed/1"):
    """From here on everything is judged again; `by` as of `CellStopped`."""

    by: str


class StopState(Contract, frozen=True, kw_only=True, tag="pmcl/stop-state/1"):
    """The answer to both.

    Attributes:
        stopped: whether the stop is in force now.
        changed: that this very word made it so; with `dry_run`, that it would.
        since, by: of the stop in force: milliseconds since the epoch, `operator/<label>`.
        leases: how many leases the word has ended, or would.
    """

    stopped: bool
    changed: bool
    since: Millis | None = None
    by: str | None = None
    leases: Count = 0
    received: Received | None = None
