"""What was decided reaches the pages as LOG tells it; nothing is asked of the workers.

LOG only wakes: the rows are the journal's own, so that a page misses none, whatever was lost on the
way. How long a verdict took is known of those alone that LOG told while somebody listened.
"""

import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import aclosing, contextmanager
from typing import Final

import anyio
import structlog
from ulid_transform import ulid_to_timestamp

from pmcl.contracts import PmclError
from pmcl.ops.settings import Settings
from pmcl.ops.watch import Seen, watch

__all__ = ["Feed"]

log = structlog.get_logger()

_RETRY_S: Final = 1.0
_TOOK_MAX: Final = 1024


class Feed:
    """Wakes those who wait whenever LOG tells of something new.

    Attributes:
        told: the last number of LOG that was heard, 0 before the first.
        listeners: how many pages are open.
    """

    def __init__(self, settings: Settings) -> None:
        self.told = 0
        self.listeners = 0
        self._settings = settings
        self._took_ms: OrderedDict[str, int] = OrderedDict()
        self._news = anyio.Event()
        self._closed = False

    @property
    def closed(self) -> bool:
        """Whether the dashboard ends."""
        return self._closed

    async def run(self) -> None:
        """Listen for ever, also to a sidecar that was started again."""
        while True:
            try:
                async with aclosing(watch(self._settings)) as events:
                    async for seen in events:
                        self._take(seen)
            except PmclError as error:
                log.info("dashboard.not_told", error=type(error).__name__)
            await anyio.sleep(_RETRY_S)

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Count one listener more while the block runs."""
        self.listeners += 1
        try:
            yield
        finally:
            self.listeners -= 1

    async def news(self, within_s: float) -> bool:
        """Return whether something new was told within a time."""
        with anyio.move_on_after(within_s):
            await self._news.wait()
            return True
        return False

    def took_ms(self, evaluation_id: str) -> int | None:
        """Return how long after its request was read a verdict stood in LOG, if it was heard."""
        return self._took_ms.get(evaluation_id)

    def close(self) -> None:
        """Wake all who wait, for the last time."""
        self._closed = True
        self._wake()

    def _take(self, seen: Seen) -> None:
        self.told = seen.sequence
        if seen.name == "evaluated":
            evaluation_id = seen.event["evaluation_id"]
            read_at = ulid_to_timestamp(evaluation_id)
            self._took_ms[evaluation_id] = max(0, time.time_ns() // 1_000_000 - read_at)
            if len(self._took_ms) > _TOOK_MAX:
                self._took_ms.popitem(last=False)
        self._wake()

    def _wake(self) -> None:
        self._news.set()
        if not self._closed:
            self._news = anyio.Event()
