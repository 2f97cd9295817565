"""How long an address wants not to be asked again; whoever honours it sets a bound of their own.

Source: RFC 9110, 10.2.3.
"""

from datetime import UTC, datetime
from typing import Final

__all__ = ["retry_after_ms"]

_SECONDS_DIGITS: Final = 9
_DATE: Final = "%a, %d %b %Y %H:%M:%S GMT"


def retry_after_ms(value: str | None, now: datetime) -> int:
    """Return the wait that a `Retry-After` names, in seconds or by date; 0 where it names none."""
    if value is None:
        return 0
    if value.isascii() and value.isdecimal() and len(value) <= _SECONDS_DIGITS:
        return int(value) * 1000
    try:
        wait = datetime.strptime(value, _DATE).replace(tzinfo=UTC) - now
    except ValueError:
        return 0
    return max(0, int(wait.total_seconds() * 1000))
