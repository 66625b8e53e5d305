from __future__ import annotations

import pytest

from ledgerline.cli import main


@pytest.fixture
def books(tmp_path):
    """A book with two transactions, and an empty one."""
    full, empty = tmp_path / "full.json", tmp_path / "empty.json"
    for path in (full, empty):
        assert main(["init", str(path)]) == 0
    rent = ["post", str(full), "2024-03-01", "Rent for March", "6100=850.00", "1000=-850.00"]
    assert main([*rent, "--reference", "LEASE-7"]) == 0
    assert main(["post", str(full), "2024-03-02", "Sale, cash", "1010=12.00", "4000=-12.00"]) == 0
    return full, empty


@pytest.mark.parametrize("name", ["text", "csv", "json"])
def test_export_and_import(books, tmp_path, capsys, name):
    full, empty = books
    journal = tmp_path / "journal"
    assert main(["export", str(full), "--format", name, "--output", str(journal)]) == 0
    assert main(["import", str(empty), str(journal), "--format", name]) == 0
    assert capsys.readouterr().out.endswith("2 transactions\n")
    assert empty.read_text(encoding="utf-8") == full.read_text(encoding="utf-8")


def test_export_to_standard_output(books, capsys):
    capsys.readouterr()
    assert main(["export", str(books[0])]) == 0
    assert "2024-03-01 #1 Rent for March ; LEASE-7\n" in capsys.readouterr().out


def test_import_is_all_or_none(books, tmp_path, capsys):
    full, empty = books
    before = empty.read_text(encoding="utf-8")
    journal = tmp_path / "journal"
    main(["export", str(full), "--output", str(journal)])
    journal.write_text(journal.read_text(encoding="utf-8").replace("1010", "9999"), encoding="utf-8")
    assert main(["import", str(empty), str(journal)]) == 2
    assert "9999" in capsys.readouterr().err
    assert empty.read_text(encoding="utf-8") == before


def test_import_of_a_damaged_file(books, tmp_path, capsys):
    journal = tmp_path / "journal"
    journal.write_text("2024-03-01 Rent\n", encoding="utf-8")
    assert main(["import", str(books[1]), str(journal)]) == 2
    assert "line 1" in capsys.readouterr().err
