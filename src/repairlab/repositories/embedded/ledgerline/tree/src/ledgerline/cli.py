"""The command line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from ledgerline import formats
from ledgerline.accounts import standard_chart
from ledgerline.errors import LedgerlineError, ParseError
from ledgerline.formats import jsonfile
from ledgerline.journal.entry import Entry, Transaction
from ledgerline.journal.ledger import Ledger
from ledgerline.money.amount import Money
from ledgerline.money.currency import lookup
from ledgerline.periods.calendar import FiscalCalendar
from ledgerline.periods.closing import close
from ledgerline.reports import balance_sheet, income_statement, trial_balance


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status. Errors go to standard error, status 2."""
    options = _parser().parse_args(arguments)
    try:
        options.run(options)
    except (LedgerlineError, OSError, ValueError) as error:
        print(f"ledgerline: {error}", file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="ledgerline", description="Double-entry bookkeeping.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, run: object, text: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=text)
        added.add_argument("book", type=Path, help="the file of the book")
        added.set_defaults(run=run)
        return added

    init = command("init", _init, "start a book")
    init.add_argument("--currency", default="EUR")
    post = command("post", _post, "post a transaction")
    post.add_argument("date", type=date.fromisoformat)
    post.add_argument("description")
    post.add_argument("entries", nargs="+", metavar="ACCOUNT=AMOUNT")
    post.add_argument("--reference", default="")
    balance = command("balance", _balance, "show the balance of an account")
    balance.add_argument("account")
    balance.add_argument("--until", type=date.fromisoformat)
    report = command("report", _report, "show a report")
    report.add_argument("kind", choices=("trial-balance", "income", "balance-sheet"))
    report.add_argument("--period", default="")
    report.add_argument("--first-month", type=int, default=1)
    closing = command("close", _close, "close a fiscal year")
    closing.add_argument("period")
    closing.add_argument("--first-month", type=int, default=1)
    export = command("export", _export, "write the journal to standard output or a file")
    export.add_argument("--format", choices=formats.FORMATS, default="text")
    export.add_argument("--output", type=Path)
    load = command("import", _import, "post the transactions of a journal file, all or none")
    load.add_argument("file", type=Path)
    load.add_argument("--format", choices=formats.FORMATS, default="text")
    return parser


def _init(options: argparse.Namespace) -> None:
    if options.book.exists():
        raise LedgerlineError(f"{options.book} exists already")
    _save(options.book, Ledger(standard_chart(lookup(options.currency))))


def _post(options: argparse.Namespace) -> None:
    ledger = _load(options.book)
    entries = tuple(_entry(ledger, text) for text in options.entries)
    posted = ledger.post(Transaction(options.date, options.description, entries, options.reference))
    _save(options.book, ledger)
    print(f"#{posted.number}")


def _balance(options: argparse.Namespace) -> None:
    print(_load(options.book).balance(options.account, until=options.until))


def _report(options: argparse.Namespace) -> None:
    ledger = _load(options.book)
    days = [transaction.date for transaction in ledger]
    if not days:
        raise LedgerlineError("the book is empty")
    calendar = FiscalCalendar(options.first_month)
    last = max(days)
    period = calendar.parse(options.period) if options.period else calendar.year(calendar.year_of(last))
    currency = next(iter(ledger.chart)).currency
    if options.kind == "trial-balance":
        print(trial_balance(ledger, until=period.end).render(), end="")
    elif options.kind == "income":
        print(income_statement(ledger, period, currency).render(), end="")
    else:
        print(balance_sheet(ledger, period.end, currency).render(), end="")


def _close(options: argparse.Namespace) -> None:
    ledger = _load(options.book)
    period = FiscalCalendar(options.first_month).parse(options.period)
    close(ledger, period)
    _save(options.book, ledger)
    print(f"closed to {period.end}")


def _export(options: argparse.Namespace) -> None:
    text = formats.dumps(_load(options.book), options.format)
    if options.output:
        options.output.write_text(text, encoding="utf-8")
    else:
        print(text, end="")


def _import(options: argparse.Namespace) -> None:
    ledger = _load(options.book)
    incoming = formats.loads(options.file.read_text(encoding="utf-8"), options.format)
    posted = ledger.post_all(incoming)
    _save(options.book, ledger)
    print(f"{len(posted)} transactions")


def _entry(ledger: Ledger, text: str) -> Entry:
    code, equals, amount = text.partition("=")
    if not equals:
        raise ParseError(f"expected ACCOUNT=AMOUNT, got {text!r}")
    account = ledger.chart.get(code)
    return Entry(account.code, Money.of(amount, account.currency))


def _load(path: Path) -> Ledger:
    return jsonfile.parse_book(path.read_text(encoding="utf-8"))


def _save(path: Path, ledger: Ledger) -> None:
    path.write_text(jsonfile.dump_book(ledger), encoding="utf-8")
