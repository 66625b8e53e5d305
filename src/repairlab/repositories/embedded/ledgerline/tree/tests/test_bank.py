from __future__ import annotations

from datetime import date

import pytest

from ledgerline.errors import ParseError
from ledgerline.formats.bank import Rule, book, parse_rules, parse_statement
from ledgerline.money import EUR
from ledgerline.money.text import CONTINENTAL

STATEMENT = """\
date,amount,payer,text
2024-03-01,-850.00,Housing Corp,rent
2024-03-04,120.00,Acme,INV-1
2024-03-05,-9.90,,account fee
"""


def test_statement(eur):
    payments = parse_statement(STATEMENT, EUR)
    assert [payment.amount for payment in payments] == [eur("-850"), eur("120"), eur("-9.90")]
    assert payments[1].date == date(2024, 3, 4)
    assert payments[1].reference == "INV-1"


def test_statement_in_another_style(eur):
    (payment,) = parse_statement('date,amount,payer,text\n2024-03-01,"-1.850,00",A,b\n', EUR, CONTINENTAL)
    assert payment.amount == eur("-1850")


@pytest.mark.parametrize(
    ("text", "line"), [("date,sum\n", 1), (STATEMENT.replace("120.00", "many"), 3)], ids=["header", "amount"]
)
def test_statement_errors(text, line):
    with pytest.raises(ParseError) as caught:
        parse_statement(text, EUR)
    assert caught.value.line == line


def test_rules():
    text = "; who pays what\nhousing => 6100 ; rent; and more\n\nfee=>6200\n"
    assert parse_rules(text) == [Rule("housing", "6100"), Rule("fee", "6200")]


@pytest.mark.parametrize("text", ["housing 6100", "=> 6100", "housing =>"])
def test_rules_that_say_nothing(text):
    with pytest.raises(ParseError, match="line 1"):
        parse_rules(text)


def test_book(ledger, eur):
    rules = parse_rules("HOUSING => 6100\nfee => 6200\n")
    ledger.post_all(book(parse_statement(STATEMENT, EUR), rules, bank="1000", otherwise="1200"))
    assert ledger.balance("1000") == eur("-739.90")
    assert ledger.balance("6100") == eur("850")
    assert ledger.balance("6200") == eur("9.90")
    assert ledger.balance("1200") == eur("-120")
    assert [t.description for t in ledger] == ["Housing Corp", "Acme", "Bank"]


def test_the_first_rule_wins():
    rules = [Rule("rent", "6100"), Rule("housing", "6200")]
    (transaction,) = book(parse_statement(STATEMENT, EUR)[:1], rules, "1000", "1200")
    assert transaction.accounts() == ["1000", "6100"]
