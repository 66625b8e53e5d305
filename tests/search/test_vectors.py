import math
import threading

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from repairlab.contract.errors import InfrastructureFailure, RefuseToStart
from repairlab.search.cache import Cache
from repairlab.search.vectors import (
    Document,
    QueryVectors,
    VectorStore,
    decode_vector,
    query_form,
    unit_vector,
)

FACTS = {"key": "embedder", "context_tokens": 512}


class Fixed:
    """Gives the vectors it was made with, by text, and counts."""

    def __init__(self, vectors, default=(1.0, 2.0, 2.0)):
        self.vectors = vectors
        self.default = default
        self.asked: list[str] = []

    def embed_documents(self, texts):
        self.asked += texts
        return [self.vectors.get(text, self.default) for text in texts]

    def embed_query(self, text):
        self.asked.append(text)
        return self.vectors.get(text, self.default)


def documents(*texts):
    return [Document(f"digest-of-{text}", text, f"{text}.py, lines 1 to 9") for text in texts]


@pytest.fixture
def store(tmp_path):
    return VectorStore(Cache(tmp_path), FACTS, 3)


def test_the_query_form_is_that_of_qwen3():
    assert query_form("Do this.", "why?") == "Instruct: Do this.\nQuery:why?"


@pytest.mark.parametrize(
    ("values", "fault"),
    [
        ([1.0, 0.0], "2 numbers, not 3"),
        ([1.0, 0.0, 0.0, 0.0], "4 numbers, not 3"),
        ([1.0, math.nan, 0.0], "number 2 is not finite"),
        ([1.0, 0.0, math.inf], "number 3 is not finite"),
        ([0.0, 0.0, 0.0], "all numbers are zero"),
        ([], "0 numbers, not 3"),
    ],
)
def test_s11_a_malformed_vector_is_refused_with_the_document_named(store, values, fault):
    embedder = Fixed({"bad": values})
    with pytest.raises(InfrastructureFailure, match=f"bad.py, lines 1 to 9 is malformed: {fault}") as failure:
        store.add(documents("a", "bad", "z"), embedder)
    assert failure.value.kind == "embedding-malformed"
    assert store.missing(["digest-of-bad"]) == ("digest-of-bad",)


def test_s11_a_malformed_query_vector_is_refused():
    queries = QueryVectors(Fixed({}, default=(math.nan, 0.0, 0.0)), "Do.", 3)
    with pytest.raises(InfrastructureFailure, match="the query 'why' is malformed"):
        queries.of("why")
    assert queries.used == ()


@pytest.mark.parametrize("number", [0, 1, 3])
def test_another_number_of_vectors_than_texts_is_refused(store, number):
    class Short(Fixed):
        def embed_documents(self, texts):
            return [(1.0, 0.0, 0.0)] * number

    with pytest.raises(InfrastructureFailure, match=f"{number} vectors came for 2 texts") as failure:
        store.add(documents("a", "b"), Short({}))
    assert failure.value.kind == "embedding-malformed"


numbers = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(numbers, min_size=1, max_size=40))
def test_every_finite_vector_but_zero_gets_unit_length_and_keeps_its_direction(values):
    assume(any(values))
    vector = unit_vector(values, len(values), "it")
    assert vector.dtype == np.float32
    assert abs(math.fsum(float(x) ** 2 for x in vector) - 1) < 1e-6
    largest = max(map(abs, values))
    scaled = [x / largest for x in values]
    norm = math.sqrt(math.fsum(x * x for x in scaled))
    assert np.allclose(vector, [x / norm for x in scaled], atol=1e-6)


def test_each_distinct_text_is_embedded_once(store):
    embedder = Fixed({})
    assert store.add(documents("a", "b", "a"), embedder) == 2
    assert store.add(documents("b", "c"), embedder) == 1
    assert store.add(documents("a", "b", "c"), embedder) == 0
    assert sorted(embedder.asked) == ["a", "b", "c"]


def test_other_model_facts_share_no_vector(store, tmp_path):
    store.add(documents("a"), Fixed({}))
    for facts, dimensions in (({**FACTS, "context_tokens": 1024}, 3), (FACTS, 4)):
        assert VectorStore(Cache(tmp_path), facts, dimensions).missing(["digest-of-a"]) == ("digest-of-a",)
    same_facts = dict(reversed(FACTS.items()))
    assert VectorStore(Cache(tmp_path), same_facts, 3).missing(["digest-of-a"]) == ()


def test_an_interrupted_preparation_goes_on_where_it_stopped(store):
    class Breaks(Fixed):
        def embed_documents(self, texts):
            if len(self.asked) >= 64:
                raise InfrastructureFailure("the host is away", kind="host-unreachable")
            return super().embed_documents(texts)

    texts = [f"t{n:03}" for n in range(100)]
    first, second = Breaks({}), Fixed({})
    with pytest.raises(InfrastructureFailure, match="away"):
        store.add(documents(*texts), first)
    assert store.add(documents(*texts), second) == 36
    assert sorted(first.asked + second.asked) == texts


def test_a_text_that_another_writer_is_embedding_is_waited_for(store):
    class StartsAnother(Fixed):
        def embed_documents(self, texts):
            other.start()
            other.join(timeout=0.3)
            assert other.is_alive()  # it waits
            return super().embed_documents(texts)

    late = Fixed({}, default=(0.0, 0.0, 1.0))
    made = []
    other = threading.Thread(target=lambda: made.append(store.add(documents("a", "b"), late)))
    assert store.add(documents("a", "b"), StartsAnother({})) == 2
    other.join(timeout=30)
    assert (made, late.asked) == ([0], [])


def test_the_matrix_has_a_row_for_each_digest_in_the_order_asked_for(store):
    store.add(documents("a", "b"), Fixed({"a": (0.0, 5.0, 0.0), "b": (3.0, 0.0, 4.0)}))
    matrix = store.matrix(["digest-of-b", "digest-of-a", "digest-of-b"])
    assert matrix.dtype == np.float32
    expected = np.array([[0.6, 0, 0.8], [0, 1, 0], [0.6, 0, 0.8]], dtype=np.float32)
    assert np.array_equal(matrix, expected)


def test_a_missing_vector_is_refused_and_never_replaced(store):
    store.add(documents("a"), Fixed({}))
    with pytest.raises(RefuseToStart, match="1 of 2 chunks have no vector"):
        store.matrix(["digest-of-a", "digest-of-b"])


def test_a_query_is_embedded_once_a_cell_in_its_form_and_all_are_told():
    embedder = Fixed({})
    queries = QueryVectors(embedder, "Do this.", 3)
    for query in ("b", "a", "b"):
        queries.of(query)
    assert embedder.asked == ["Instruct: Do this.\nQuery:b", "Instruct: Do this.\nQuery:a"]
    assert [(used.query, used.text) for used in queries.used] == list(zip("ba", embedder.asked, strict=True))


def test_a_recorded_vector_takes_the_embedder_s_place_to_the_bit():
    first = QueryVectors(Fixed({}, default=(0.1, 0.7, -0.3)), "Do.", 3).of("why")
    embedder = Fixed({})
    again = QueryVectors(embedder, "Do.", 3, recorded={"why": decode_vector(first.encoded())}).of("why")
    assert again.vector.tobytes() == first.vector.tobytes()
    assert again.text == first.text
    assert embedder.asked == []
