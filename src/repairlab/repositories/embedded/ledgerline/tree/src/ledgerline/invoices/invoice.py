"""Invoices, their lines, discounts and totals."""

from __future__ import annotations

import dataclasses
import datetime as dt
from dataclasses import dataclass
from decimal import Decimal

from ledgerline.invoices.terms import Terms
from ledgerline.money.allocate import allocate
from ledgerline.money.amount import Money, total
from ledgerline.money.currency import Currency
from ledgerline.money.rounding import round_to_multiple
from ledgerline.tax.compute import TaxLine, compute, tax_total
from ledgerline.tax.rates import TaxTable


@dataclass(frozen=True, slots=True)
class LineItem:
    """One line of an invoice.

    Attributes:
        quantity: negative for goods taken back.
        account: the income account.
        tax_code: an empty text for what is not taxable.
    """

    description: str
    quantity: Decimal
    unit_price: Money
    account: str = "4000"
    tax_code: str = ""

    @property
    def amount(self) -> Money:
        """Quantity times price, before any discount on the document."""
        return self.unit_price.times(self.quantity)


@dataclass(frozen=True, slots=True)
class Invoice:
    """An invoice, or a credit note when its amounts are negative.

    Attributes:
        discount: taken off the whole document, before tax; has the sign of the document.
        cash_rounding: round the amount payable to a multiple of so many minor units; 0 for no rounding.
        corrects: number of the invoice that a credit note takes back, or an empty text.
    """

    number: str
    customer: str
    date: dt.date
    lines: tuple[LineItem, ...]
    discount: Money | None = None
    terms: Terms = Terms()
    cash_rounding: int = 0
    corrects: str = ""

    def __post_init__(self) -> None:
        if not self.lines:
            raise ValueError("an invoice needs a line at least")
        subtotal = self.subtotal()
        if self.discount and self.discount.minor * subtotal.minor < 0:
            raise ValueError("the discount has not the sign of the document")
        if self.discount and abs(self.discount) > abs(subtotal):
            raise ValueError("the discount is larger than the document")

    @property
    def currency(self) -> Currency:
        """The currency of the lines."""
        return self.lines[0].unit_price.currency

    @property
    def due(self) -> dt.date:
        """The last day of payment."""
        return self.terms.due(self.date)

    def subtotal(self) -> Money:
        """Sum of the lines before the discount."""
        return total((line.amount for line in self.lines), self.currency)

    def net_amounts(self) -> list[Money]:
        """What each line comes to after its share of the discount, in the order of the lines."""
        amounts = [line.amount for line in self.lines]
        if not self.discount:
            return amounts
        shares = allocate(self.discount, self._discount_weights())
        return [amount - share for amount, share in zip(amounts, shares, strict=True)]

    def net(self) -> Money:
        """Sum of the document before tax."""
        return self.subtotal() - (self.discount or Money.zero(self.currency))

    def tax(self, table: TaxTable) -> list[TaxLine]:
        """The tax, one line for each rate."""
        codes = [line.tax_code for line in self.lines]
        return compute(zip(codes, self.net_amounts(), strict=True), table, self.date)

    def total(self, table: TaxTable) -> Money:
        """What the customer pays: net amount and tax, rounded to cash where asked."""
        exact = self.net() + tax_total(self.tax(table), self.currency)
        if not self.cash_rounding:
            return exact
        return Money(round_to_multiple(exact.minor, self.cash_rounding), self.currency)

    def credit_note(self, number: str, on: dt.date) -> Invoice:
        """A credit note that takes this whole invoice back."""
        return dataclasses.replace(
            self,
            number=number,
            date=on,
            lines=tuple(dataclasses.replace(line, quantity=-line.quantity) for line in self.lines),
            discount=-self.discount if self.discount else None,
            corrects=self.number,
        )

    def _discount_weights(self) -> list[int]:
        """Size of each line; a line against the sign of the document carries no discount."""
        sign = 1 if self.subtotal().minor >= 0 else -1
        return [max(sign * line.amount.minor, 0) for line in self.lines]
