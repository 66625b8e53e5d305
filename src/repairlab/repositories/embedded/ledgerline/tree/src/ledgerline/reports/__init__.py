"""Reports over a ledger."""

from ledgerline.reports.statements import Statement, balance_sheet, income_statement
from ledgerline.reports.table import render
from ledgerline.reports.tax_return import TaxReturn, tax_return
from ledgerline.reports.trial_balance import TrialBalance, trial_balance

__all__ = [
    "Statement",
    "TaxReturn",
    "TrialBalance",
    "balance_sheet",
    "income_statement",
    "render",
    "tax_return",
    "trial_balance",
]
