"""The interval of one proportion."""

from __future__ import annotations

import math

from repairlab.analysis.statistics.values import Interval, NotEstimable, normal_quantile
from repairlab.contract.errors import BadInput


def wilson(successes: int, n: int, level: float = 0.95) -> Interval | NotEstimable:
    """Wilson's score interval without continuity correction (Wilson 1927).

    The lower end is exactly 0 at 0 successes, the upper end exactly 1 at n.

    Raises:
        BadInput: a count is negative, or there are more successes than trials.
    """
    if not 0 <= successes <= n:
        raise BadInput(f"{successes} of {n} is no proportion")
    z = normal_quantile(level)
    if n == 0:
        return NotEstimable("no data")
    share = successes / n
    centre = share + z * z / (2 * n)
    spread = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    low = 0.0 if successes == 0 else max(0.0, (centre - spread) / scale)
    high = 1.0 if successes == n else min(1.0, (centre + spread) / scale)
    return Interval(low, high, level)
