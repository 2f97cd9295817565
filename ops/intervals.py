"""What a few cases tell: how sure a share is, and where most of the values lie."""

import math
from collections.abc import Sequence
from typing import Final

__all__ = ["percentile", "wilson_95"]

_Z: Final = 1.959964


def wilson_95(count: int, total: int) -> tuple[float, float]:
    """Return the 95 % interval of a share, from 0 to 1, four decimals; (0, 1) without cases.

    Source: E. B. Wilson, Journal of the American Statistical Association 22 (1927).
    """
    if total == 0:
        return 0.0, 1.0
    share, z2 = count / total, _Z * _Z
    centre = share + z2 / (2 * total)
    spread = _Z * math.sqrt(share * (1 - share) / total + z2 / (4 * total * total))
    low, high = (centre - spread) / (1 + z2 / total), (centre + spread) / (1 + z2 / total)
    return round(max(0.0, low), 4), round(min(1.0, high), 4)


def percentile(values: Sequence[float], share: float) -> float:
    """Return the nearest-rank percentile with two decimals; 0 without values."""
    if not values:
        return 0.0
    return round(sorted(values)[math.ceil(share * len(values)) - 1], 2)
