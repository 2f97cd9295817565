"""Models behind an OpenAI-compatible address: who reflects, and who criticises."""

from pmcl.workers.providers.critic import ModelCritic
from pmcl.workers.providers.endpoint import EndpointConfig, ModelEndpoint, ModelError
from pmcl.workers.providers.locality import is_local, local_url
from pmcl.workers.providers.reflector import ModelReflector

__all__ = [
    "EndpointConfig",
    "ModelCritic",
    "ModelEndpoint",
    "ModelError",
    "ModelReflector",
    "is_local",
    "local_url",
]
