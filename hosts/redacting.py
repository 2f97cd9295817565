"""Redacting never holds up the event loop: the detector is loaded beside it, when first due."""

from typing import Any

import anyio.to_thread

from pmcl.judgement import detector_is_due, load_detector

__all__ = ["ready_to_redact"]


async def ready_to_redact(told: Any) -> None:
    """Return once redacting `told` loads nothing; that is at once, unless it may hold a secret.

    Raises:
        DetectorMissingError: what would be needed does not load; nothing may be sent.
    """
    if detector_is_due(told):
        await anyio.to_thread.run_sync(load_detector)
