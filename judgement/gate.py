"""The gate before a reflection: whether a job that is due may run, or is over without a run.

A time counts only within its own length of the clock, before or after it: a clock that is set back
by a day makes nobody wait for a day. Source: SPEC E2.
"""

from typing import Final, Literal

import msgspec

from pmcl.contracts import ReflectionResult, Spending

__all__ = [
    "Breaker",
    "GateInputs",
    "GateLimits",
    "Go",
    "Over",
    "breaker",
    "gate",
    "next_slot",
    "retry_at",
]

Breaker = Literal["closed", "half_open", "open"]

_DOUBLINGS_MAX: Final = 16


class GateLimits(msgspec.Struct, frozen=True, kw_only=True):
    """How much one host's reflection may use, and how it recovers from failures.

    Attributes:
        window_ms: the time over which the budget rolls.
        budget: of one host within the window.
        backoff_ms: the wait after the first failure; each further one doubles it.
        failures_open: so many failures in a row open the circuit.
        open_ms: how long it stays open; then one attempt is let through.
        attempts_max: so often one job is tried.
    """

    window_ms: int
    budget: Spending
    backoff_ms: int
    failures_open: int
    open_ms: int
    attempts_max: int


class GateInputs(msgspec.Struct, frozen=True, kw_only=True):
    """What the gate reads.

    Attributes:
        lease_lives: that of the job.
        mark: of what the reflector would read now.
        last_mark: of what it read in the last cycle that ended well.
        spent: within the window, open reservations included.
        reservation: what the cycle may use.
    """

    now_ms: int
    lease_lives: bool
    stopped: bool
    mark: str
    last_mark: str | None
    spent: Spending
    reservation: Spending


class Go(msgspec.Struct, frozen=True):
    """The reflector may be asked."""


class Over(msgspec.Struct, frozen=True):
    """The job ends without anybody being asked."""

    result: ReflectionResult
    reason: str


def gate(inputs: GateInputs, limits: GateLimits) -> Go | Over:
    """Return what becomes of a job of a host that has no open claim and need not wait."""
    if inputs.stopped:
        return Over("skipped", "stopped")
    if not inputs.lease_lives:
        return Over("skipped", "lease_over")
    if inputs.mark == inputs.last_mark:
        return Over("noop", "unchanged")
    for name in ("tokens", "ms", "cost"):
        wanted = getattr(inputs.spent, name) + getattr(inputs.reservation, name)
        if wanted > getattr(limits.budget, name):
            return Over("skipped", f"budget.{name}")
    return Go()


def retry_at(now_ms: int, failures: int, limits: GateLimits, wanted_ms: int = 0) -> int:
    """Return when a host may be tried again after so many failures in a row.

    A wait that the reflector wants is kept, but for no longer than the circuit stays open.
    """
    if failures >= limits.failures_open:
        return now_ms + limits.open_ms
    doubled = limits.backoff_ms << min(failures - 1, _DOUBLINGS_MAX)
    return now_ms + min(max(doubled, wanted_ms), limits.open_ms)


def breaker(failures: int, retry_at: int | None, now_ms: int, limits: GateLimits) -> Breaker:
    """Return the state of a host's circuit."""
    if failures < limits.failures_open:
        return "closed"
    waits = retry_at is not None and now_ms < retry_at <= now_ms + limits.open_ms
    return "open" if waits else "half_open"


def next_slot(last: int, now_ms: int, period_ms: int) -> int | None:
    """Return the newest due time on the grid of `last`, however many were missed; None before it.

    Where the clock was set back by more than a period, the grid begins anew at its time.
    """
    if abs(now_ms - last) < period_ms:
        return None
    return now_ms if now_ms < last else last + (now_ms - last) // period_ms * period_ms
