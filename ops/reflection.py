"""How a cell reflects: the worker with its reflector, its limits and the door to derived state."""

import os
from typing import TYPE_CHECKING, Final

import structlog

from pmcl.contracts import Reflection, Spending
from pmcl.judgement import GateLimits
from pmcl.ledger import LedgerKey
from pmcl.ledger.reflections import OpenCycle
from pmcl.ops.settings import Settings, SettingsError
from pmcl.outbox import UnitOfWork
from pmcl.workers import (
    Admission,
    Admit,
    BuiltInReflector,
    Cycle,
    ReflectionConfig,
    Reflector,
    ReflectWorker,
    Units,
    admit_all,
)

if TYPE_CHECKING:
    from pmcl.workers.providers import EndpointConfig

__all__ = ["endpoint_config", "reflect_worker", "reflection_config"]

log = structlog.get_logger()

_FAILURES_OPEN: Final = 3
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
        backoff_ms=settings.reflection_backoff_ms,
        failures_open=_FAILURES_OPEN,
        open_ms=settings.reflection_open_ms,
        attempts_max=_ATTEMPTS_MAX,
    )
    return ReflectionConfig(period_ms=settings.reflection_idle_ms, limits=limits)


def reflect_worker(settings: Settings, key: LedgerKey, units: Units) -> ReflectWorker:
    """Return the worker that reflects for all hosts of a cell."""
    return ReflectWorker(units, _reflector(settings), reflection_config(settings), _door(key))


def _reflector(settings: Settings) -> Reflector:
    if settings.model_url is None:
        return BuiltInReflector()
    from pmcl.workers.providers import ModelEndpoint, ModelReflector, is_local  # httpx takes time

    if is_local(settings.model_url):
        return ModelReflector(ModelEndpoint(endpoint_config(settings)))
    log.warning("reflection.model_not_local")
    return BuiltInReflector()


def endpoint_config(settings: Settings) -> "EndpointConfig":
    """Return where the model is, with its key; `model_url` is set.

    Raises:
        SettingsError: the file or the variable of the key is not there.
    """
    from pmcl.workers.providers import EndpointConfig

    assert settings.model_url is not None
    return EndpointConfig(
        url=settings.model_url,
        model=settings.model_name,
        key=_key(settings),
        timeout_ms=settings.model_timeout_ms,
        output_tokens=settings.model_output_tokens,
        price=settings.model_price,
    )


def _key(settings: Settings) -> str | None:
    if settings.model_key_variable is not None:
        key = os.environ.get(settings.model_key_variable, "")
        if not key:
            raise SettingsError(f"model_key_variable: {settings.model_key_variable} is not set")
        return key
    if settings.model_key_file is None:
        return None
    try:
        key = settings.model_key_file.read_text().partition("\n")[0].strip()
    except (OSError, ValueError) as error:
        raise SettingsError(f"model_key_file {settings.model_key_file}: not readable") from error
    if not key:
        raise SettingsError(f"model_key_file {settings.model_key_file}: its first line is empty")
    return key


def _door(key: LedgerKey) -> Admit:
    """Return the way from what is said to derived state."""

    def admit(unit: UnitOfWork, cycle: OpenCycle, reflection: Reflection) -> Admission:
        whose = Cycle(scope=cycle.scope, host=cycle.host, cycle_id=cycle.cycle_id)
        return admit_all(unit, key, whose, reflection)

    return admit
