"""Invoices and credit notes."""

from ledgerline.invoices.invoice import Invoice, LineItem
from ledgerline.invoices.posting import Accounts, post
from ledgerline.invoices.terms import Terms

__all__ = ["Accounts", "Invoice", "LineItem", "Terms", "post"]
