from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest

from ledgerline.money import round_half_even, round_half_up, round_to_multiple
from ledgerline.money.rounding import Rounding, round_half


@pytest.mark.parametrize(
    ("value", "expected"),
    [("0.4", 0), ("0.5", 1), ("1.5", 2), ("2.5", 3), ("-0.4", 0), ("-0.5", -1), ("-2.5", -3), ("7", 7)],
)
def test_half_up_goes_away_from_zero(value, expected):
    assert round_half_up(Decimal(value)) == expected


@pytest.mark.parametrize(
    ("value", "expected"), [("0.5", 0), ("1.5", 2), ("2.5", 2), ("-1.5", -2), ("2.6", 3)]
)
def test_half_even(value, expected):
    assert round_half_even(Decimal(value)) == expected


def test_fractions_that_decimals_cannot_hold():
    assert round_half_up(Fraction(1, 3)) == 0
    assert round_half_up(Fraction(2, 3)) == 1


def test_floats_are_refused():
    with pytest.raises(TypeError, match="float"):
        round_half_up(0.5)


@pytest.mark.parametrize(
    ("value", "multiple", "expected"),
    [(1237, 5, 1235), (1238, 5, 1240), (-1238, 5, -1240), (1250, 100, 1300)],
)
def test_multiples(value, multiple, expected):
    assert round_to_multiple(value, multiple) == expected


def test_a_multiple_is_positive():
    with pytest.raises(ValueError, match="positive"):
        round_to_multiple(10, 0)


def test_round_half_dispatches():
    assert round_half(Decimal("2.5"), Rounding.HALF_UP) == 3
    assert round_half(Decimal("2.5"), Rounding.HALF_EVEN) == 2
