"""Bank statements, and rules that say how their lines are booked.

A statement is a CSV file with the columns date, amount, payer and text. Rules have a file of their own:

    ; who pays what
    housing corp => 6100      ; rent
    insurance    => 6200
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from ledgerline.errors import LedgerlineError, ParseError
from ledgerline.journal.entry import Entry, Transaction
from ledgerline.money.currency import Currency
from ledgerline.money.text import PLAIN, Style
from ledgerline.money.text import parse as parse_money
from ledgerline.payments.open_items import Payment

COLUMNS = ("date", "amount", "payer", "text")
NOTE = ";"
ARROW = "=>"


@dataclass(frozen=True, slots=True)
class Rule:
    """Lines whose payer or text holds `pattern`, in any case, are booked on `account`."""

    pattern: str
    account: str

    def matches(self, payment: Payment) -> bool:
        """True where the rule applies."""
        wanted = self.pattern.casefold()
        return wanted in payment.payer.casefold() or wanted in payment.reference.casefold()


def split_note(line: str) -> tuple[str, str]:
    """A line of a rules file without its note, and the note; both without blanks around them."""
    body, _, note = line.partition(NOTE)
    return body.strip(), note.strip()


def parse_rules(text: str) -> list[Rule]:
    """The rules of a file, in order; raises ParseError."""
    rules = []
    for number, line in enumerate(text.splitlines(), start=1):
        body, _ = split_note(line)
        if not body:
            continue
        pattern, arrow, account = (part.strip() for part in body.partition(ARROW))
        if not (pattern and arrow and account):
            raise ParseError(f"expected PATTERN {ARROW} ACCOUNT", number)
        rules.append(Rule(pattern, account))
    return rules


def parse_statement(text: str, currency: Currency, style: Style = PLAIN) -> list[Payment]:
    """The lines of a bank statement; money that went out is negative. Raises ParseError."""
    rows = csv.DictReader(io.StringIO(text, newline=""))
    if tuple(rows.fieldnames or ()) != COLUMNS:
        raise ParseError(f"expected the columns {', '.join(COLUMNS)}", 1)
    payments = []
    for row in rows:
        try:
            amount = parse_money(row["amount"], currency, style)
            payments.append(Payment(date.fromisoformat(row["date"]), amount, row["payer"], row["text"]))
        except (LedgerlineError, ValueError) as error:
            raise ParseError(str(error), rows.line_num) from error
    return payments


def book(payments: Iterable[Payment], rules: Iterable[Rule], bank: str, otherwise: str) -> list[Transaction]:
    """A transaction for each payment: the bank account against the account of the first rule that matches.

    Args:
        otherwise: the account for payments that no rule knows.
    """
    known = list(rules)
    transactions = []
    for payment in payments:
        account = next((rule.account for rule in known if rule.matches(payment)), otherwise)
        transactions.append(
            Transaction(
                date=payment.date,
                description=payment.payer or "Bank",
                entries=(Entry(bank, payment.amount), Entry(account, -payment.amount)),
                reference=payment.reference,
            )
        )
    return transactions
