"""Booking invoices in a ledger."""

from __future__ import annotations

from dataclasses import dataclass

from ledgerline.errors import UnbalancedTransaction
from ledgerline.invoices.invoice import Invoice
from ledgerline.journal.entry import Entry, Transaction
from ledgerline.journal.ledger import Ledger
from ledgerline.money.amount import Money, total
from ledgerline.tax.rates import TaxTable


@dataclass(frozen=True, slots=True)
class Accounts:
    """Where invoices are booked, apart from the income accounts that their lines name."""

    receivables: str = "1200"
    rounding: str = "6900"


def post(ledger: Ledger, invoice: Invoice, table: TaxTable, accounts: Accounts = Accounts()) -> Transaction:
    """Book `invoice` and return the posted transaction.

    Receivables are debited with what the customer pays, income is credited for each account and tax code,
    tax for each rate. What cash rounding adds or takes away goes to the account for rounding differences.

    Raises:
        UnbalancedTransaction: the difference is larger than rounding can explain.
    """
    return ledger.post(to_transaction(invoice, table, accounts))


def to_transaction(invoice: Invoice, table: TaxTable, accounts: Accounts = Accounts()) -> Transaction:
    """The transaction that books `invoice`; see `post`."""
    payable = invoice.total(table)
    entries = [Entry(accounts.receivables, payable, memo=invoice.customer)]
    entries.extend(_income_entries(invoice))
    entries.extend(
        Entry(line.rate.account, -line.tax, memo=f"{line.rate.percent}%", tax_code=line.rate.code)
        for line in invoice.tax(table)
        if line.tax
    )
    difference = total((entry.amount for entry in entries), invoice.currency)
    if abs(difference).minor > _tolerance(invoice):
        raise UnbalancedTransaction(f"invoice {invoice.number} is off by {difference}")
    if difference:
        entries.append(Entry(accounts.rounding, -difference, memo="rounding"))
    return Transaction(
        date=invoice.date,
        description=_title(invoice),
        entries=tuple(entries),
        reference=invoice.number,
    )


def _income_entries(invoice: Invoice) -> list[Entry]:
    """One credit for each income account and tax code, in the order of the lines."""
    sums: dict[tuple[str, str], Money] = {}
    for line, net in zip(invoice.lines, invoice.net_amounts(), strict=True):
        key = (line.account, line.tax_code)
        sums[key] = sums.get(key, Money.zero(invoice.currency)) + net
    return [Entry(account, -amount, tax_code=code) for (account, code), amount in sums.items() if amount]


def _tolerance(invoice: Invoice) -> int:
    """The largest difference, in minor units, that rounding may leave: one a line, and the cash rounding."""
    return len(invoice.lines) + invoice.cash_rounding


def _title(invoice: Invoice) -> str:
    if invoice.corrects:
        return f"Credit note {invoice.number} for {invoice.corrects}, {invoice.customer}"
    return f"Invoice {invoice.number}, {invoice.customer}"
