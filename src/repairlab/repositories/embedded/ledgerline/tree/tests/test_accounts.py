from __future__ import annotations

import pytest

from ledgerline import EUR, Account, AccountType, Chart
from ledgerline.errors import DuplicateAccount, UnknownAccount


@pytest.fixture
def small():
    return Chart(
        [
            Account("6", "Costs", AccountType.EXPENSE, EUR),
            Account("61", "Premises", AccountType.EXPENSE, EUR, parent="6"),
            Account("611", "Rent", AccountType.EXPENSE, EUR, parent="61"),
            Account("62", "Insurance", AccountType.EXPENSE, EUR, parent="6"),
            Account("1", "Bank", AccountType.ASSET, EUR),
        ]
    )


def test_iteration_is_by_code(small):
    assert [account.code for account in small] == ["1", "6", "61", "611", "62"]
    assert len(small) == 5


def test_get(small):
    assert small.get("61").name == "Premises"
    with pytest.raises(UnknownAccount, match="'99'"):
        small.get("99")


def test_contains(small):
    assert "611" in small
    assert "612" not in small


def test_codes_are_unique(small):
    with pytest.raises(DuplicateAccount):
        small.add(Account("6", "Again", AccountType.EXPENSE, EUR))


def test_a_parent_comes_first(small):
    with pytest.raises(UnknownAccount):
        small.add(Account("71", "Lost", AccountType.EXPENSE, EUR, parent="7"))


def test_subtree(small):
    assert [account.code for account in small.subtree("6")] == ["6", "61", "611", "62"]
    assert small.children("611") == []


def test_find(small):
    assert [account.code for account in small.find("61")] == ["61", "611"]
    assert [account.code for account in small.find("INSUR")] == ["62"]


def test_types(chart):
    assert {account.type for account in chart.of_type(AccountType.INCOME)} == {AccountType.INCOME}
    assert AccountType.ASSET.normal_sign == 1
    assert AccountType.INCOME.normal_sign == -1
    assert [kind.is_temporary for kind in AccountType] == [False, False, False, True, True]


def test_codes_hold_no_blanks():
    with pytest.raises(ValueError, match="without blanks"):
        Account("10 00", "Bank", AccountType.ASSET, EUR)
