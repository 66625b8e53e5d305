from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repairlab.hosts.vectors import Malformed, read_vectors

TEXTS = ("a", "b")


def reply(*vectors: Any, indexes: tuple[Any, ...] = (0, 1)) -> dict[str, Any]:
    entries = zip(indexes, vectors, strict=True)
    return {"data": [{"index": index, "embedding": vector} for index, vector in entries]}


def test_order_is_restored_by_the_index_and_length_is_one():
    vectors = read_vectors(reply([0.0, 2.0], [3.0, 4.0], indexes=(1, 0)), TEXTS, 2)
    assert not isinstance(vectors, Malformed)
    assert [list(vector) for vector in vectors] == [pytest.approx([0.6, 0.8]), [0.0, 1.0]]
    assert all(vector.typecode == "f" for vector in vectors)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({}, "no list"),
        ({"data": [1, 2]}, "no list of objects"),
        (reply([1.0, 0.0], indexes=(0,)), "1 vectors for 2 texts"),
        (reply([1.0, 0.0], [0.0, 1.0], indexes=(0, 0)), "index 0 twice"),
        (reply([1.0, 0.0], [0.0, 1.0], indexes=(0, 2)), "index 2"),
        (reply([1.0, 0.0], [0.0, 1.0], indexes=(0, True)), "index True"),
        (reply([1.0, 0.0], [0.0, 1.0], indexes=(0, None)), "index None"),
        (reply([1.0, 0.0], [0.0]), "1 numbers where 2"),
        (reply([1.0, 0.0], [0.0, None]), "something else than a number"),
        (reply([1.0, 0.0], [0.0, True]), "something else than a number"),
        (reply([1.0, 0.0], [0.0, math.nan]), "not finite"),
        (reply([1.0, 0.0], [0.0, math.inf]), "not finite"),
        (reply([1.0, 0.0], [0.0, 0.0]), "zero"),
        (reply([1.0, 0.0], None), "no list of numbers"),
        (reply([1.0, 0.0], [2.0, 0.0]), "texts 0 and 1 differ and have one vector"),
    ],
)
def test_a_reply_that_is_wrong_anywhere_gives_no_vector_at_all(body: dict[str, Any], said: str):
    found = read_vectors(body, TEXTS, 2)
    assert isinstance(found, Malformed)
    assert said in found.what


def test_equal_texts_and_composed_ones_may_share_a_vector():
    for texts in (("a", "a"), ("\u00e9", "e\u0301")):
        assert not isinstance(read_vectors(reply([1.0, 0.0], [1.0, 0.0]), texts, 2), Malformed)


@given(
    rows=st.lists(
        st.lists(st.floats(-1e6, 1e6), min_size=8, max_size=8).filter(lambda row: math.hypot(*row) > 1e-3),
        min_size=1,
        max_size=6,
    ),
    data=st.data(),
)
def test_any_order_of_a_reply_gives_the_same_unit_vectors(rows: list[list[float]], data: st.DataObject):
    texts = tuple("same" for _ in rows)
    straight = [{"index": index, "embedding": row} for index, row in enumerate(rows)]
    shuffled = data.draw(st.permutations(straight))
    vectors = read_vectors({"data": shuffled}, texts, 8)
    assert vectors == read_vectors({"data": straight}, texts, 8)
    assert not isinstance(vectors, Malformed)
    assert all(math.hypot(*vector) == pytest.approx(1.0, abs=1e-6) for vector in vectors)


def test_a_number_behind_the_native_ones_voids_a_reply_that_declares_padding():
    padded = reply([3.0, 4.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0])
    assert not isinstance(read_vectors(padded, TEXTS, 4, native=2), Malformed)
    assert read_vectors(padded, TEXTS, 4, native=1) == Malformed(
        "vector 0: a number other than 0 behind the 1 that are declared"
    )
