"""Tax on documents.

The tax is computed once for each rate on the sum of its net amounts, not line by line: that is what most
tax offices expect, and it loses fewer cents.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from fractions import Fraction

from ledgerline.money.amount import Money, total
from ledgerline.money.currency import Currency
from ledgerline.money.rounding import Rounding, exact
from ledgerline.tax.rates import TaxRate, TaxTable


@dataclass(frozen=True, slots=True)
class TaxLine:
    """Net amount and tax under one rate."""

    rate: TaxRate
    net: Money
    tax: Money

    @property
    def gross(self) -> Money:
        """Net amount and tax together."""
        return self.net + self.tax


def tax_on(net: Money, rate: TaxRate, rounding: Rounding = Rounding.HALF_UP) -> Money:
    """The tax on a net amount."""
    return net.percent(rate.percent, rounding)


def net_from_gross(gross: Money, rate: TaxRate, rounding: Rounding = Rounding.HALF_UP) -> Money:
    """The net amount inside a gross one. Take what is left as the tax, so that both add up."""
    return gross.times(Fraction(100) / (100 + exact(rate.percent)), rounding)


def compute(
    amounts: Iterable[tuple[str, Money]],
    table: TaxTable,
    on: date,
    rounding: Rounding = Rounding.HALF_UP,
) -> list[TaxLine]:
    """Tax on net amounts, each given with its tax code; one line for each code, sorted by code.

    An empty code means "not taxable" and gives no line.

    Raises:
        MissingRate: the table has no rate of that code for the day.
    """
    by_code: dict[str, list[Money]] = {}
    for code, amount in amounts:
        if code:
            by_code.setdefault(code, []).append(amount)
    lines = []
    for code, nets in sorted(by_code.items()):
        rate = table.rate(code, on)
        net = total(nets, nets[0].currency)
        lines.append(TaxLine(rate, net, tax_on(net, rate, rounding)))
    return lines


def tax_total(lines: Iterable[TaxLine], currency: Currency) -> Money:
    """The tax of all lines together."""
    return total((line.tax for line in lines), currency)
