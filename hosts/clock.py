"""Two clocks: the wall's, for what others read, and one that never steps back, for what expires.

The second one goes on while the machine sleeps: a verdict must not be younger after a nap.
"""

import time

__all__ = ["now_s", "wall_ms"]

_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def now_s() -> float:
    """Return seconds of a clock that only goes forward, sleep included where the system has one."""
    return time.clock_gettime(_CLOCK)


def wall_ms() -> int:
    """Return milliseconds since the Unix epoch, UTC."""
    return time.time_ns() // 1_000_000
