from __future__ import annotations

from fractions import Fraction

import pytest

from ledgerline.errors import AllocationError
from ledgerline.money import EUR, JPY, Money, allocate, split, total


def minors(shares):
    return [share.minor for share in shares]


@pytest.mark.parametrize(
    ("minor", "weights", "expected"),
    [
        (10000, [1, 1, 1], [3334, 3333, 3333]),
        (1000, [70, 20, 10], [700, 200, 100]),
        (5, [3, 7], [2, 3]),
        (101, [1, 2, 1], [25, 51, 25]),
        (1, [1, 1, 1], [1, 0, 0]),
        (0, [1, 2], [0, 0]),
        (-1000, [1, 1], [-500, -500]),
    ],
)
def test_shares(minor, weights, expected):
    assert minors(allocate(Money(minor, EUR), weights)) == expected


def test_shares_add_up_to_the_amount():
    for minor in range(200):
        for weights in ([1, 1, 1], [1, 2, 4], [5, 0, 3, 3], [Fraction(1, 3), Fraction(1, 7)]):
            amount = Money(minor, EUR)
            assert total(allocate(amount, weights), EUR) == amount


def test_no_share_is_off_by_a_unit():
    weights = [17, 3, 11, 29]
    for minor in range(300):
        for share, weight in zip(allocate(Money(minor, EUR), weights), weights, strict=True):
            assert abs(share.minor - Fraction(minor * weight, sum(weights))) < 1


def test_the_unit_left_over_goes_to_the_largest_loss():
    assert minors(allocate(Money(100, EUR), [Fraction(333, 10), Fraction(667, 10)])) == [33, 67]


def test_a_weight_of_zero_gets_nothing():
    assert minors(allocate(Money(7, EUR), [0, 2, 0, 1])) == [0, 5, 0, 2]


def test_currencies_without_decimals():
    assert minors(allocate(Money(100, JPY), [1, 1, 1])) == [34, 33, 33]


@pytest.mark.parametrize(
    ("weights", "message"),
    [([], "nothing"), ([1, -1], "negative"), ([0, 0], "zero")],
    ids=["none", "negative", "zero"],
)
def test_weights_that_make_no_sense(weights, message):
    with pytest.raises(AllocationError, match=message):
        allocate(Money(100, EUR), weights)


def test_float_weights_are_refused():
    with pytest.raises(TypeError):
        allocate(Money(100, EUR), [0.5, 0.5])


def test_split():
    assert minors(split(Money(1000, EUR), 3)) == [334, 333, 333]
    with pytest.raises(AllocationError, match="0 parts"):
        split(Money(1000, EUR), 0)
