"""How a cell reflects: the worker with its reflector, its limits and the door to derived state."""

from typing import Final

from pmcl.contracts import ProposalCounts, Reflection, Spending
from pmcl.judgement import GateLimits
from pmcl.ledger.reflections import OpenCycle
from pmcl.ops.settings import Settings
from pmcl.outbox import UnitOfWork
from pmcl.workers import Admission, BuiltInReflector, ReflectionConfig, ReflectWorker, Units

__all__ = ["reflect_worker", "reflection_config"]

_BACKOFF_MS: Final = 30_000
_FAILURES_OPEN: Final = 3
_OPEN_MS: Final = 900_000
_ATTEMPTS_MAX: Final = 5


def reflection_config(settings: Settings) -> ReflectionConfig:
    """Return when a cell with these settings reflects."""
    budget = Spending(
        tokens=settings.reflection_tokens,
        ms=settings.reflection_time_ms,
        cost=settings.reflection_cost,
    )
    limits = GateLimits(
        window_ms=settings.reflection_window_ms,
        budget=budget,
        backoff_ms=_BACKOFF_MS,
        failures_open=_FAILURES_OPEN,
        open_ms=_OPEN_MS,
        attempts_max=_ATTEMPTS_MAX,
    )
    return ReflectionConfig(period_ms=settings.reflection_idle_ms, limits=limits)


def reflect_worker(settings: Settings, units: Units) -> ReflectWorker:
    """Return the worker that reflects for all hosts of a cell."""
    return ReflectWorker(units, BuiltInReflector(), reflection_config(settings), _kept_nowhere)


def _kept_nowhere(unit: UnitOfWork, cycle: OpenCycle, reflection: Reflection) -> Admission:
    """Count what was said; nothing of it becomes derived state yet."""
    return Admission(counts=ProposalCounts(rejected=len(reflection.proposals)))
