from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from ledgerline.errors import MissingRate
from ledgerline.money import EUR
from ledgerline.money.rounding import Rounding
from ledgerline.tax import TaxRate, TaxTable, compute, net_from_gross, tax_on
from ledgerline.tax.compute import tax_total

DAY = date(2024, 3, 1)


@pytest.mark.parametrize(("day", "percent"), [(date(2020, 12, 31), 19), (date(2021, 1, 1), 20)])
def test_rates_change(taxes, day, percent):
    assert taxes.rate("S", day).percent == percent


def test_unknown_rate(taxes):
    with pytest.raises(MissingRate, match="'X'"):
        taxes.rate("X", DAY)


def test_rates_of_a_code_do_not_overlap(taxes):
    with pytest.raises(ValueError, match="same day"):
        taxes.add(TaxRate("S", Decimal(21), "2200", valid_from=date(2030, 1, 1)))


def test_codes(taxes):
    assert taxes.codes() == ["R", "S"]
    assert [rate.percent for rate in taxes] == [10, 19, 20]


@pytest.mark.parametrize(
    ("first", "last"), [(date(2024, 2, 1), date(2024, 1, 1))], ids=["ends-before-it-starts"]
)
def test_malformed_rates(first, last):
    with pytest.raises(ValueError, match="ends before"):
        TaxRate("S", Decimal(20), "2200", first, last)


def test_tax_is_rounded(taxes, eur):
    rate = TaxRate("T", Decimal("2.5"), "2200")
    assert tax_on(eur("1.00"), rate) == eur("0.03")
    assert tax_on(eur("1.00"), rate, Rounding.HALF_EVEN) == eur("0.02")
    assert tax_on(eur("-1.00"), rate) == eur("-0.03")


@pytest.mark.parametrize(("gross", "net"), [("0.01", "0.01"), ("12.00", "10.00"), ("99.99", "83.33")])
def test_net_inside_a_gross_amount(taxes, eur, gross, net):
    assert net_from_gross(eur(gross), taxes.rate("S", DAY)) == eur(net)


def test_compute_rounds_once_for_each_rate(taxes, eur):
    lines = compute([("S", eur("0.02"))] * 10, taxes, DAY)
    assert [(line.net, line.tax) for line in lines] == [(eur("0.20"), eur("0.04"))]


def test_compute_sorts_and_leaves_out_what_is_not_taxable(taxes, eur):
    lines = compute([("S", eur("10")), ("", eur("5")), ("R", eur("20"))], taxes, DAY)
    assert [(line.rate.code, line.tax, line.gross) for line in lines] == [
        ("R", eur("2"), eur("22")),
        ("S", eur("2"), eur("12")),
    ]
    assert tax_total(lines, EUR) == eur("4")


def test_compute_without_lines(taxes):
    assert compute([], TaxTable(), DAY) == []
