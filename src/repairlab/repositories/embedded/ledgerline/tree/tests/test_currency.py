from __future__ import annotations

import pytest

from ledgerline.errors import UnknownCurrency
from ledgerline.money import EUR, JPY, KWD, Currency, lookup
from ledgerline.money.currency import by_symbol


@pytest.mark.parametrize(("currency", "factor"), [(EUR, 100), (JPY, 1), (KWD, 1000)])
def test_factor_is_the_number_of_minor_units(currency, factor):
    assert currency.factor == factor


@pytest.mark.parametrize("code", ["EUR", "eur", " Eur "])
def test_lookup_takes_any_case(code):
    assert lookup(code) is EUR


def test_lookup_of_an_unknown_code():
    with pytest.raises(UnknownCurrency, match="'XXX'"):
        lookup("XXX")


def test_symbols():
    assert by_symbol("¥") is JPY
    with pytest.raises(UnknownCurrency):
        by_symbol("")


@pytest.mark.parametrize("code", ["", "EU", "eur", "E1R", "EURO"])
def test_malformed_codes_are_refused(code):
    with pytest.raises(ValueError, match="three capital letters"):
        Currency(code, 2, "Wrong")
