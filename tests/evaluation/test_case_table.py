"""docs/cases.md and the tests say the same: no test in the table is missing, no test of a case left out."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parents[1]
TABLE = TESTS.parent / "docs" / "cases.md"
CASES = [f"P{number:02}" for number in range(14)] + [f"T{number:02}" for number in range(1, 16)]
NAME = re.compile(r"test_[pt][0-9]{2}\w*")


def functions() -> Iterator[str]:
    for file in sorted(TESTS.rglob("test_*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and NAME.fullmatch(node.name):
                yield node.name


def rows() -> dict[str, list[str]]:
    """Case to the tests that its row names."""
    lines = [line.split(" | ") for line in TABLE.read_text(encoding="utf-8").splitlines()]
    found = [(cells[0].removeprefix("| "), cells) for cells in lines if len(cells) > 1]
    return {case: NAME.findall(cells[-1]) for case, cells in found if re.fullmatch(r"[PT][0-9]{2}", case)}


def test_every_case_has_one_row_in_order():
    assert list(rows()) == CASES
    text = TABLE.read_text(encoding="utf-8")
    assert all(text.count(f"\n| {case} |") == 1 for case in CASES)


def test_every_test_in_the_table_exists_and_every_test_of_a_case_is_in_the_table():
    named = [name for tests in rows().values() for name in tests]
    assert sorted(named) == sorted(functions())


def test_every_row_names_tests_of_its_own_case():
    assert not [case for case, tests in rows().items() if not tests]
    strays = [(case, name) for case, tests in rows().items() for name in tests if case.lower() not in name]
    assert strays == []
