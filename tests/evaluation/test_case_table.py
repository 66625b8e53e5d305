"""docs/cases.md and the tests say the same: no test in the table is missing, no test of a case left out."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parents[1]
TABLE = TESTS.parent / "docs" / "cases.md"
CASES = [
    *(f"P{number:02}" for number in range(14)),
    *(f"T{number:02}" for number in range(1, 16)),
    *(f"C{number:02}" for number in range(1, 14)),
    *(f"A{number:02}" for number in range(11)),
    *(f"S{number:02}" for number in range(1, 13)),
]
NAME = re.compile(r"test_[ptcas][0-9]{2}\w*")
CALLS = {
    "c01": "abcdefghij", "c03": "abc", "c04": "abcde", "c05": "abcd", "c06": "abc", "c07": "abcde",
    "c08": "abcdefgh", "c09": "abcdef", "c11": "abcdefghijklmno", "c12": "abcde",
}  # fmt: skip
"""Forms of the cases of tool calls; each is named by a test or by one of its parameters."""


def nodes() -> Iterator[ast.AST]:
    for file in sorted(TESTS.rglob("test_*.py")):
        yield from ast.walk(ast.parse(file.read_text(encoding="utf-8")))


def functions() -> Iterator[str]:
    for node in nodes():
        if isinstance(node, ast.FunctionDef) and NAME.fullmatch(node.name):
            yield node.name


def identifiers() -> Iterator[str]:
    """Names of parameters of tests: ``pytest.param(..., id="c01a-...")``."""
    for node in nodes():
        if isinstance(node, ast.keyword) and node.arg == "id" and isinstance(node.value, ast.Constant):
            yield str(node.value.value)


def rows() -> dict[str, list[str]]:
    """Case to the tests that its row names."""
    lines = [line.split(" | ") for line in TABLE.read_text(encoding="utf-8").splitlines()]
    found = [(cells[0].removeprefix("| "), cells) for cells in lines if len(cells) > 1]
    return {case: NAME.findall(cells[-1]) for case, cells in found if re.fullmatch(r"[PTCAS][0-9]{2}", case)}


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


def test_every_form_of_a_tool_call_is_named_by_a_test_or_a_parameter():
    named = {
        found for name in (*functions(), *identifiers()) for found in re.findall(r"c[0-9]{2}[a-z]?", name)
    }
    missing = [f"{case}{form}" for case, forms in CALLS.items() for form in forms]
    assert [form for form in missing if form not in named] == []
