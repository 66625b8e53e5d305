"""Rounding of exact values to whole minor units.

All functions take anything that :class:`fractions.Fraction` can hold exactly and return an ``int``. Floats
are refused: by the time one arrives here the cents are lost already.
"""

from __future__ import annotations

import enum
from decimal import Decimal
from fractions import Fraction

Exact = int | Decimal | Fraction


class Rounding(enum.Enum):
    """How halves are rounded."""

    HALF_UP = "half-up"
    HALF_EVEN = "half-even"


def exact(value: Exact) -> Fraction:
    """`value` as a fraction; a float raises TypeError."""
    if isinstance(value, bool) or not isinstance(value, (int, Decimal, Fraction)):
        raise TypeError(f"need an exact number, got {type(value).__name__}")
    return Fraction(value)


def round_half_up(value: Exact) -> int:
    """The nearest whole number, halves away from zero, as on most invoices.

    >>> round_half_up(Fraction(5, 2)), round_half_up(Fraction(-5, 2))
    (3, -3)
    """
    number = exact(value)
    magnitude = int(abs(number) + Fraction(1, 2))
    return magnitude if number >= 0 else -magnitude


def round_half_even(value: Exact) -> int:
    """The nearest whole number, halves to the even neighbour."""
    return round(exact(value))


def round_to_multiple(value: int, multiple: int) -> int:
    """The multiple of `multiple` nearest to `value`, halves away from zero.

    Used for cash rounding: where the smallest coin is five cents, 12.37 becomes 12.35.
    """
    if multiple <= 0:
        raise ValueError("the multiple must be positive")
    return round_half_up(Fraction(value, multiple)) * multiple


def round_half(value: Exact, rounding: Rounding) -> int:
    """Round as `rounding` says."""
    if rounding is Rounding.HALF_EVEN:
        return round_half_even(value)
    return round_half_up(value)
