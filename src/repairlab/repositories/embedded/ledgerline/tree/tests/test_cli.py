from __future__ import annotations

import pytest

from ledgerline.cli import main


@pytest.fixture
def run(capsys):
    """Runs a command; returns its status, output and errors."""

    def command(*arguments):
        status = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return command


@pytest.fixture
def books(run, tmp_path):
    path = tmp_path / "books.json"
    assert run("init", path)[0] == 0
    assert run("post", path, "2024-03-01", "Rent for March", "6100=850.00", "1000=-850.00") == (0, "#1\n", "")
    return path


def test_balance(run, books):
    assert run("balance", books, "1000") == (0, "-850.00 EUR\n", "")
    assert run("balance", books, "1000", "--until", "2024-02-29") == (0, "0.00 EUR\n", "")


def test_init_overwrites_nothing(run, books):
    status, _, errors = run("init", books)
    assert status == 2
    assert "exists already" in errors


def test_unbalanced_posting(run, books):
    status, _, errors = run("post", books, "2024-03-01", "Wrong", "6100=850.00", "1000=-85.00")
    assert status == 2
    assert errors.startswith("ledgerline: 'Wrong' is off by 765.00 EUR")


@pytest.mark.parametrize("entry", ["6100", "9999=1.00", "6100=one"])
def test_malformed_entries(run, books, entry):
    assert run("post", books, "2024-03-01", "Wrong", entry, "1000=-1.00")[0] == 2


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("trial-balance", "6100 Rent"), ("income", "Profit"), ("balance-sheet", "Total assets")],
)
def test_reports(run, books, kind, expected):
    status, output, _ = run("report", books, kind)
    assert status == 0
    assert expected in output


def test_report_of_an_empty_book(run, tmp_path):
    path = tmp_path / "empty.json"
    run("init", path, "--currency", "CHF")
    assert run("report", path, "income")[0] == 2


def test_close(run, books):
    assert run("close", books, "2024") == (0, "closed to 2024-12-31\n", "")
    assert run("balance", books, "3000") == (0, "850.00 EUR\n", "")
    assert run("post", books, "2024-05-01", "Late", "6100=1", "1000=-1")[0] == 2
