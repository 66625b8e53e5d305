"""What can go wrong while keeping books.

Everything that ledgerline raises on purpose derives from :class:`LedgerlineError`, so that an application
can catch one class at its border and show the message to the user.
"""

from __future__ import annotations


class LedgerlineError(Exception):
    """Root of all errors of this library."""


class CurrencyMismatch(LedgerlineError):
    """Two amounts of different currencies met where one currency is needed."""

    def __init__(self, left: str, right: str) -> None:
        super().__init__(f"cannot combine {left} with {right}")
        self.left = left
        self.right = right


class UnknownCurrency(LedgerlineError):
    """A currency code that is not in the table of currencies."""


class UnknownAccount(LedgerlineError):
    """An account code that the chart of accounts does not have."""

    def __init__(self, code: str) -> None:
        super().__init__(f"no account {code!r} in the chart of accounts")
        self.code = code


class DuplicateAccount(LedgerlineError):
    """An account code that is in use already."""


class UnbalancedTransaction(LedgerlineError):
    """Debits and credits of a transaction differ."""


class ClosedPeriod(LedgerlineError):
    """A posting is dated inside a period that has been closed."""


class AllocationError(LedgerlineError):
    """An amount cannot be shared out as asked."""


class MissingRate(LedgerlineError):
    """No exchange rate or tax rate is known for the day."""


class ParseError(LedgerlineError):
    """Text that is not in the expected form.

    Args:
        message: what was expected.
        line: number of the line, from 1; 0 where there are no lines.
    """

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(f"line {line}: {message}" if line else message)
        self.message = message
        self.line = line
