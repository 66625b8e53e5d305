"""The upper tail of the chi-square distribution, for whole degrees of freedom."""

from __future__ import annotations

import math

from repairlab.contract.errors import BadInput


def chi_square_tail(x: float, df: int) -> float:
    """P(X >= x) for a chi-square variable with `df` degrees of freedom.

    The finite sums of Abramowitz & Stegun 26.4.4 (odd) and 26.4.5 (even).

    Raises:
        BadInput: a negative statistic, or no degree of freedom.
    """
    if x < 0 or df < 1:
        raise BadInput(f"no chi-square tail at {x} with {df} degrees of freedom")
    half = x / 2
    odd = df % 2
    tail = math.erfc(math.sqrt(half)) if odd else 0.0
    # Term k of the series is exp(-x/2) (x/2)^a / Gamma(a + 1), with a = k for even and k - 1/2 for odd df.
    for k in range(odd, (df + odd) // 2):
        a = k - odd / 2
        if half > 0:
            tail += math.exp(a * math.log(half) - half - math.lgamma(a + 1))
        elif a == 0:
            tail += 1.0
    return min(1.0, tail)
