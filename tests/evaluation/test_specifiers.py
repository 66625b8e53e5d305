from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repairlab.contract.errors import BadInput
from repairlab.evaluation.specifiers import admits, parse_specifier


@pytest.mark.parametrize(
    ("text", "version", "expected"),
    [
        ("", (3, 11, 7), True),
        (">=3.11,<3.14", (3, 11, 0), True),
        (">=3.11,<3.14", (3, 13, 9), True),
        (">=3.11,<3.14", (3, 14, 0), False),
        (">=3.9", (3, 10, 1), True),  # numbers, not text
        (">3.11", (3, 11, 0), False),
        (">3.11", (3, 11, 1), True),
        ("<=3.12", (3, 12, 1), False),
        ("==3.12", (3, 12, 0), True),
        ("==3.12", (3, 12, 1), False),
        ("==3.12.*", (3, 12, 1), True),
        ("!=3.12.*", (3, 12, 1), False),
        ("~=3.11", (3, 14, 0), True),
        ("~=3.11", (4, 0, 0), False),
        ("~=3.11.2", (3, 11, 9), True),
        ("~=3.11.2", (3, 12, 0), False),
        (" >= 3.11 , != 3.12.1 ", (3, 12, 1), False),
    ],
)
def test_clauses(text, version, expected):
    assert admits(parse_specifier(text), version) is expected


@pytest.mark.parametrize(
    "text", ["3.11", "===3.11", ">=3.11rc1", ">=3.*", "~=3", ">=3.11,", "python>=3", ">= "]
)
def test_what_is_not_understood_is_refused(text):
    with pytest.raises(BadInput, match="python specifier"):
        parse_specifier(text)


@given(st.tuples(st.integers(0, 5), st.integers(0, 30), st.integers(0, 30)), st.integers(0, 30))
def test_a_bound_and_its_negation_split_all_versions(version, minor):
    at_least = admits(parse_specifier(f">=3.{minor}"), version)
    below = admits(parse_specifier(f"<3.{minor}"), version)
    assert at_least is not below
