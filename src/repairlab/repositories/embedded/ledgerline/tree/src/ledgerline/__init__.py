"""Double-entry bookkeeping for small organisations."""

from ledgerline.accounts import Account, AccountType, Chart, standard_chart
from ledgerline.errors import LedgerlineError
from ledgerline.journal import Entry, Ledger, Transaction, credit, debit
from ledgerline.money import CHF, EUR, GBP, JPY, USD, Currency, Money

__version__ = "0.6.2"

__all__ = [
    "CHF",
    "EUR",
    "GBP",
    "JPY",
    "USD",
    "Account",
    "AccountType",
    "Chart",
    "Currency",
    "Entry",
    "Ledger",
    "LedgerlineError",
    "Money",
    "Transaction",
    "credit",
    "debit",
    "standard_chart",
]
