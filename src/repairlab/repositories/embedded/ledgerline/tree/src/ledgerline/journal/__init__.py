"""Entries, transactions and the ledger that they are posted to."""

from ledgerline.journal.entry import Entry, Transaction, credit, debit
from ledgerline.journal.ledger import Ledger
from ledgerline.journal.recurring import Recurrence, Unit

__all__ = ["Entry", "Ledger", "Recurrence", "Transaction", "Unit", "credit", "debit"]
