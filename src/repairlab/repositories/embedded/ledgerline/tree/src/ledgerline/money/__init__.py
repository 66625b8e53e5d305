"""Exact amounts of money: currencies, arithmetic, rounding, shares, exchange rates and text."""

from ledgerline.money.allocate import allocate, split
from ledgerline.money.amount import Money, total
from ledgerline.money.currency import CHF, EUR, GBP, JPY, KWD, SEK, USD, Currency, lookup
from ledgerline.money.exchange import RateTable
from ledgerline.money.rounding import round_half_even, round_half_up, round_to_multiple

__all__ = [
    "CHF",
    "EUR",
    "GBP",
    "JPY",
    "KWD",
    "SEK",
    "USD",
    "Currency",
    "Money",
    "RateTable",
    "allocate",
    "lookup",
    "round_half_even",
    "round_half_up",
    "round_to_multiple",
    "split",
    "total",
]
