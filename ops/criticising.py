"""How a cell criticises: a model on this machine, asked before each verdict if the operator wants.

What a proposal says may be for this machine alone, so no other is asked.
"""

import msgspec

from pmcl.ops.reflection import endpoint_config
from pmcl.ops.settings import Settings, SettingsError
from pmcl.workers import CriticUse

__all__ = ["critic_use", "critic_wait_ms"]


def critic_use(settings: Settings) -> CriticUse | None:
    """Return the critic that the settings ask for.

    Raises:
        SettingsError: it is on another machine, or its key is not there.
    """
    if settings.critic == "off" or settings.model_url is None:
        return None
    from pmcl.workers.providers import ModelCritic, ModelEndpoint, is_local  # httpx takes time

    if not is_local(settings.model_url):
        raise SettingsError(f"critic is {settings.critic}, allowed: a model_url of this machine")
    config = msgspec.structs.replace(
        endpoint_config(settings), timeout_ms=settings.critic_deadline_ms
    )
    return CriticUse(
        critic=ModelCritic(ModelEndpoint(config)),
        required=settings.critic == "required",
        within_ms=critic_wait_ms(settings),
    )


def critic_wait_ms(settings: Settings) -> int:
    """Return how much longer a request may take for the critic's sake, milliseconds.

    It is twice the endpoint's own time, whose end must come first to count as a failure.
    """
    return 0 if settings.critic == "off" else 2 * settings.critic_deadline_ms
