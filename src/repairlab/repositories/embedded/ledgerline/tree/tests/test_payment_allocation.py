from __future__ import annotations

from datetime import date

import pytest

from ledgerline.errors import AllocationError
from ledgerline.payments import OpenItem, Payment, Strategy, allocate

DAY = date(2024, 3, 1)


@pytest.fixture
def items(eur):
    return [
        OpenItem("INV-1", "Acme", date(2024, 2, 1), eur("100")),
        OpenItem("INV-2", "Acme", date(2024, 1, 1), eur("50")),
        OpenItem("INV-3", "Bolt", date(2023, 1, 1), eur("70")),
        OpenItem("INV-4", "Acme", date(2024, 3, 1), eur("10")),
    ]


@pytest.fixture
def pay(eur):
    return lambda amount, reference="": Payment(DAY, eur(amount), "Acme", reference)


def numbers(settlement):
    return [number for number, _ in settlement.parts]


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        (Strategy.OLDEST_FIRST, ["INV-2", "INV-1", "INV-4"]),
        (Strategy.SMALLEST_FIRST, ["INV-4", "INV-2", "INV-1"]),
        (Strategy.LARGEST_FIRST, ["INV-1", "INV-2", "INV-4"]),
    ],
)
def test_strategies(items, pay, strategy, expected):
    assert numbers(allocate(pay("160"), items, strategy)) == expected


def test_part_payment(items, pay, eur):
    settlement = allocate(pay("60"), items)
    assert settlement.parts == (("INV-2", eur("50")), ("INV-1", eur("10")))
    assert {item.number: item.remaining for item in settlement.items} == {
        "INV-1": eur("90"),
        "INV-3": eur("70"),
        "INV-4": eur("10"),
    }
    assert settlement.left_over == eur("0")


def test_named_documents_come_first(items, pay):
    assert numbers(allocate(pay("110", "for INV-4, INV-1"), items)) == ["INV-1", "INV-4"]


def test_only_items_of_the_payer(items, pay):
    assert "INV-3" not in numbers(allocate(pay("1000"), items))


def test_left_over(items, pay, eur):
    settlement = allocate(pay("200"), items)
    assert settlement.left_over == eur("40")
    assert [item.number for item in settlement.items] == ["INV-3"]


def test_credit_notes_are_used_up(items, pay, eur):
    note = OpenItem("CN-1", "Acme", DAY, eur("-30"))
    settlement = allocate(pay("120"), [*items, note])
    assert settlement.parts[0] == ("CN-1", eur("-30"))
    assert numbers(settlement)[1:] == ["INV-2", "INV-1"]
    assert settlement.left_over == eur("0")


@pytest.mark.parametrize("amount", ["0", "-5"])
def test_a_payment_is_positive(items, pay, amount):
    with pytest.raises(AllocationError):
        allocate(pay(amount), items)
