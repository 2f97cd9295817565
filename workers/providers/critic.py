"""A model that criticises: it can say veto; everything else it says, or does not say, is no veto.

After failures in a row, or where it wants to be left alone, it is not asked for a while, so that a
dead model delays no verdict for long. It is asked within the checkpoint's `prepare`, off the
writer. Source: SPEC C5, C9, E3.
"""

import time
from collections.abc import Callable
from typing import Final

from pmcl.contracts import CheckpointRequest
from pmcl.judgement import (
    CRITICISING,
    CRITIQUE_SCHEMA,
    Critique,
    UselessAnswerError,
    critique_prompt,
    read_critique,
)
from pmcl.workers.providers.endpoint import ModelEndpoint, ModelError
from pmcl.workers.providers.locality import is_local

__all__ = ["ModelCritic"]

_FAILURES_OPEN: Final = 3
_OPEN_MS: Final = 30_000


def _monotonic_ms() -> int:
    return time.monotonic_ns() // 1_000_000


class ModelCritic:
    """Criticises proposals through one model."""

    def __init__(
        self, endpoint: ModelEndpoint, monotonic_ms: Callable[[], int] = _monotonic_ms
    ) -> None:
        self._endpoint = endpoint
        self._is_local = is_local(endpoint.config.url)
        self._monotonic_ms = monotonic_ms
        self._failures = 0
        self._open_until = 0

    async def critique(self, request: CheckpointRequest) -> Critique:
        """Return what the model says of a sanitized request, within the endpoint's timeout.

        A model on another machine is not asked.
        """
        if not self._is_local:
            return Critique(verdict="unavailable", reason="nonlocal")
        if self._monotonic_ms() < self._open_until:
            return Critique(verdict="unavailable", reason="circuit_open")
        try:
            told = critique_prompt(request)
            answer = await self._endpoint.ask(CRITICISING, told, CRITIQUE_SCHEMA)
            critique = read_critique(answer.text)
        except ModelError as error:
            return self._failed(error.reason, error.retry_after_ms)
        except UselessAnswerError as error:
            return self._failed(str(error), 0)
        self._failures = self._open_until = 0
        return critique

    def _failed(self, reason: str, wanted_ms: int) -> Critique:
        self._failures += 1
        open_ms = _OPEN_MS if self._failures >= _FAILURES_OPEN else min(wanted_ms, _OPEN_MS)
        self._open_until = max(self._open_until, self._monotonic_ms() + open_ms)
        return Critique(verdict="unavailable", reason=reason)
