from __future__ import annotations

import pytest

from repairlab.contract.controls import NamedPaths
from repairlab.search.fuzzy_paths import named_files, named_paths

PATHS = [
    "expr.py",
    "sympy/__init__.py",
    "sympy/core/__init__.py",
    "sympy/core/expr.py",
    "sympy/core/tests/test_expr.py",
    "sympy/matrices/expressions/matexpr.py",
]


def named(query: str, **limits: int) -> list[str]:
    return [
        PATHS[number]
        for number in named_files(
            query, PATHS, (".py",), NamedPaths(**{"cutoff": 90, "files": 5, "paths": 10} | limits)
        )
    ]


@pytest.mark.parametrize(
    ("query", "files"),
    [
        ("fails in sympy/core/expr.py", ["sympy/core/expr.py"]),
        ('File "/usr/lib/python3/site-packages/sympy/core/expr.py", line 3', ["sympy/core/expr.py"]),
        ("see core/expr.py:12", ["sympy/core/expr.py"]),
        ("./sympy/core/exprs.py", ["sympy/core/expr.py"]),
        ("expr.py", ["expr.py", "sympy/core/expr.py"]),
        ("matexpr.py then core/expr.py", ["sympy/matrices/expressions/matexpr.py", "sympy/core/expr.py"]),
        ("expr.go and expr, and .py and ../.py", []),
        ("unrelated/thing.py", []),
        ("", []),
    ],
)
def test_a_query_names_files_by_the_ends_of_their_paths(query, files):
    assert named(query) == files


def test_a_name_that_fits_too_many_files_says_nothing():
    assert named("__init__.py", files=2) == ["sympy/__init__.py", "sympy/core/__init__.py"]
    assert named("__init__.py", files=1) == []


def test_only_the_first_names_are_read():
    assert named("matexpr.py core/expr.py", paths=1) == ["sympy/matrices/expressions/matexpr.py"]


def test_paths_are_read_without_dots_and_repeats():
    assert named_paths("a ../x/./y.py, x/y.py z.pyc", (".py",)) == (("x", "y.py"),)
