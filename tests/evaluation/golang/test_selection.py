"""Patterns, matched here as Go's testing package matches them: element by element, unanchored."""

from __future__ import annotations

import pytest
import re2
from hypothesis import given
from hypothesis import strategies as st

from repairlab.contract.errors import BadInput
from repairlab.evaluation.golang.selection import packages_of, patterns, quote

ELEMENT = st.text(st.characters(blacklist_categories=["C", "Z"], blacklist_characters="/"), max_size=8)
NAME = st.builds(
    lambda top, rest: "/".join([f"Test{top}", *rest]), st.sampled_from("ABC"), st.lists(ELEMENT, max_size=3)
)


def runs(pattern, name):
    """Whether `name` runs and is reported: each of its elements matches, as far as the pattern goes."""
    pairs = zip(pattern.split("/"), name.split("/"), strict=False)
    return all(re2.search(part, element) for part, element in pairs)


@given(st.sets(NAME, min_size=1, max_size=6))
def test_every_wanted_name_and_its_parents_run(names):
    for name in names:
        elements = name.split("/")
        parents = ["/".join(elements[:depth]) for depth in range(1, len(elements) + 1)]
        assert any(all(runs(pattern, parent) for parent in parents) for pattern in patterns(names))


@given(st.sets(NAME, min_size=1, max_size=6))
def test_top_level_tests_that_are_not_wanted_do_not_run(names):
    tops = {name.partition("/")[0] for name in names}
    others = {"TestA", "TestB", "TestC", "TestAA", "ATestA"} - tops
    assert not any(runs(pattern, other) for pattern in patterns(names) for other in others)


@given(NAME, ELEMENT)
def test_a_lone_subtest_runs_without_its_siblings(name, sibling):
    elements = name.split("/")
    if len(elements) == 2 and sibling != elements[1]:
        (pattern,) = patterns([name])
        assert not runs(pattern, f"{elements[0]}/{sibling}")


@given(ELEMENT)
def test_quoting_matches_the_element_and_nothing_longer(element):
    assert re2.search(f"^(?:{quote(element)})$", element)
    assert not re2.search(f"^(?:{quote(element)})$", element + "x")


def test_a_wanted_parent_brings_all_of_its_subtests_in_one_start():
    assert patterns(["TestA", "TestA/x", "TestB"]) == ("^(?:TestA|TestB)$",)


def test_lone_subtests_start_a_program_for_each_of_their_parents():
    assert patterns(["TestA", "TestB/x", "TestB/y", "TestC/z.1"]) == (
        "^(?:TestA)$",
        "^(?:TestB)$/^(?:x|y)$",
        r"^(?:TestC)$/^(?:z\.1)$",
    )


def test_packages_are_told_apart_by_folder():
    found = packages_of(("b::TestX", ".::TestY", "a/c::TestZ"), ())
    assert [package.folder for package in found] == [".", "a/c", "b"]
    by_file = packages_of(None, ("z_test.go", "a/x_test.go", "a/y_test.go"))
    assert [(package.folder, package.files) for package in by_file] == [
        (".", ("z_test.go",)),
        ("a", ("x_test.go", "y_test.go")),
    ]


@pytest.mark.parametrize("name", ["TestA", "a::", "../a::TestA", "/a::TestA", "a//b::TestA", "::TestA"])
def test_what_names_no_test_in_the_checkout_is_refused(name):
    with pytest.raises(BadInput):
        packages_of((name,), ())


def test_a_public_file_that_holds_no_tests_is_refused():
    with pytest.raises(BadInput, match="no Go test file"):
        packages_of(None, ("a/x.go",))
