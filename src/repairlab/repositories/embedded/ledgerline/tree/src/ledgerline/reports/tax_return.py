"""The tax return of a period."""

from __future__ import annotations

from dataclasses import dataclass

from ledgerline.journal.ledger import Ledger
from ledgerline.money.amount import Money, total
from ledgerline.money.currency import Currency
from ledgerline.money.text import ENGLISH, format_money
from ledgerline.periods.calendar import Period
from ledgerline.reports.table import render
from ledgerline.tax.rates import TaxTable


@dataclass(frozen=True, slots=True)
class TaxReturnLine:
    """Turnover and tax under one code; both positive for sales."""

    code: str
    net: Money
    tax: Money


@dataclass(frozen=True, slots=True)
class TaxReturn:
    """What has to be declared for a period."""

    period: Period
    lines: tuple[TaxReturnLine, ...]
    currency: Currency

    def total(self) -> Money:
        """The tax of all lines: what is owed when positive."""
        return total((line.tax for line in self.lines), self.currency)

    def line(self, code: str) -> TaxReturnLine:
        """The line of one code; raises KeyError."""
        for line in self.lines:
            if line.code == code:
                return line
        raise KeyError(code)

    def render(self) -> str:
        """The return as a plain-text table."""
        rows = [
            [line.code, format_money(line.net, ENGLISH), format_money(line.tax, ENGLISH)]
            for line in self.lines
        ]
        return render(["Code", "Net", "Tax"], rows, footer=["Total", "", format_money(self.total(), ENGLISH)])


def tax_return(ledger: Ledger, table: TaxTable, period: Period, currency: Currency) -> TaxReturn:
    """Add up the entries of `period` that carry a tax code.

    Entries on the account of the rate are tax, all others are turnover.
    """
    nets: dict[str, Money] = {}
    taxes: dict[str, Money] = {}
    for transaction in ledger.transactions(period.start, period.end):
        for entry in transaction.entries:
            if not entry.tax_code or entry.amount.currency != currency:
                continue
            rate = table.rate(entry.tax_code, transaction.date)
            sums = taxes if entry.account == rate.account else nets
            sums[entry.tax_code] = sums.get(entry.tax_code, Money.zero(currency)) - entry.amount
    zero = Money.zero(currency)
    lines = tuple(
        TaxReturnLine(code, nets.get(code, zero), taxes.get(code, zero)) for code in sorted({*nets, *taxes})
    )
    return TaxReturn(period, lines, currency)
