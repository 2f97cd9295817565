"""A model that reflects: one question a cycle, and an answer that fits whole or is dropped."""

from pmcl.contracts import EVERY_VISIBILITY
from pmcl.judgement import (
    REFLECTING,
    Retrospect,
    UselessAnswerError,
    read_reflection,
    reflection_prompt,
)
from pmcl.workers.providers.endpoint import ModelEndpoint, ModelError
from pmcl.workers.providers.locality import is_local
from pmcl.workers.reflector import Reflected, ReflectorError, ReflectorTraits

__all__ = ["ModelReflector"]


class ModelReflector:
    """Reflects through a model on this machine; cycles come by themselves, so no other is asked."""

    def __init__(self, endpoint: ModelEndpoint) -> None:
        config = endpoint.config
        assert is_local(config.url)
        self._endpoint = endpoint
        self.traits = ReflectorTraits(
            name=f"model/{config.model}",
            reservation=config.reservation,
            reads=frozenset(EVERY_VISIBILITY),
        )

    async def reflect(self, retrospect: Retrospect) -> Reflected:
        """Return what the model proposes. Raises `ReflectorError`."""
        told, schema = reflection_prompt(retrospect)
        try:
            answer = await self._endpoint.ask(REFLECTING, told, schema)
        except ModelError as error:
            raise ReflectorError(
                error.reason,
                used=error.used,
                discarded=error.discarded,
                retry_after_ms=error.retry_after_ms,
                lasting=error.lasting,
            ) from error
        try:
            reflection = read_reflection(answer.text, retrospect)
        except UselessAnswerError as error:
            raise ReflectorError(str(error), used=answer.used, discarded=True) from error
        return Reflected(reflection=reflection, used=answer.used)
