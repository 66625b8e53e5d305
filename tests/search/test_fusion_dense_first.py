"""Dense-first fusion over real components; the embedder knows three words."""

import pytest

from repairlab.search.cache import Cache
from repairlab.search.chunks import ChunkRules, CorpusChunks
from repairlab.search.dense import DenseIndex, embed_corpus
from repairlab.search.dense_search import DenseSearch
from repairlab.search.exact import Mode
from repairlab.search.fusion_dense_first import DenseFirstSearch
from repairlab.search.results import QueryError
from repairlab.search.vectors import QueryVectors, VectorStore

WORDS = ("alpha", "beta", "gamma")


class Words:
    """One number for each known word, and one so that no vector is zero."""

    def __init__(self):
        self.queries: list[str] = []

    def embed_documents(self, texts):
        return [self._vector(text) for text in texts]

    def embed_query(self, text):
        self.queries.append(text)
        return self._vector(text.partition("\nQuery:")[2])

    def _vector(self, text):
        return [float(text.count(word)) for word in WORDS] + [0.1]


@pytest.fixture
def embedder():
    return Words()


@pytest.fixture
def search(memory_corpus, controls, exact, embedder, tmp_path):
    def make(files):
        corpus = memory_corpus(files)
        chunks = CorpusChunks(corpus, ChunkRules.of(controls.dense), Cache(tmp_path))
        store = VectorStore(Cache(tmp_path), {}, len(WORDS) + 1)
        embed_corpus(chunks, store, embedder)
        queries = QueryVectors(embedder, controls.dense.query_instruction, len(WORDS) + 1)
        dense = DenseSearch(
            DenseIndex(chunks, store), queries, controls.search, controls.dense, controls.view
        )
        return DenseFirstSearch(exact(corpus), dense, controls.search)

    return make


FILES = {
    # Three chunks, the best three for "alpha"; those of b.py and c.py come next.
    "a.py": b"".join(b"alpha\n" + b"x\n" * 99 for _ in range(3)),
    "b.py": b"alpha beta\n",
    "c.py": b"alpha beta beta\n",
    "d.py": b"alpha gamma gamma gamma gamma\nalpha\n",
    "e.py": b"alpha beta gamma gamma gamma gamma beta beta\n",
    "f.py": b"gamma " * 20 + b"beta beta alpha\nalpha\nalpha\n",
    "g.py": b"nothing\n",
}


def test_the_files_of_the_five_best_chunks_come_first_and_exact_matches_fill_up(search):
    result = search(FILES).find("alpha", Mode.SUBSTRING)
    assert [(hit.path, hit.components) for hit in result.hits] == [
        ("a.py", {"dense": 1, "exact": 1}),
        ("b.py", {"dense": 2, "exact": 4}),
        ("c.py", {"dense": 3, "exact": 5}),
        ("f.py", {"exact": 2}),
        ("d.py", {"exact": 3}),
    ]
    assert [hit.rank for hit in result.hits] == [1, 2, 3, 4, 5]
    assert (result.matching_files, result.matching_lines, result.note) == (6, 11, "")


def test_a_backfilled_file_is_shown_by_its_matching_lines(search):
    result = search(FILES).find("alpha", Mode.SUBSTRING)
    by_dense = [hit for hit in result.hits if "dense" in hit.components]
    filled = [hit for hit in result.hits if "dense" not in hit.components]
    assert len(by_dense) == 3
    assert all(hit.matching_lines == () for hit in by_dense)
    assert filled
    assert all(hit.matching_lines for hit in filled)


def test_both_components_get_the_same_query(search, embedder):
    result = search(FILES).find("beta beta", Mode.LITERAL)
    assert len(embedder.queries) == 1
    assert embedder.queries[0].endswith("\nQuery:beta beta")
    assert [hit.path for hit in result.hits if "exact" in hit.components] == ["c.py", "e.py", "f.py"]


@pytest.mark.parametrize("query", ["alph.", "alpha", "("])
def test_a_regular_expression_goes_to_exact_search_alone(search, embedder, memory_corpus, exact, query):
    found = search(FILES).find(query, Mode.REGEX)
    alone = exact(memory_corpus(FILES)).find(query, Mode.REGEX)
    assert embedder.queries == []
    if isinstance(alone, QueryError):
        assert found == alone
    else:
        assert (found.hits, found.matching_files, found.matching_lines) == (
            alone.hits,
            alone.matching_files,
            alone.matching_lines,
        )


def test_without_an_exact_match_dense_answers_alone(search):
    result = search(FILES).find("alpha zeta", Mode.LITERAL)
    assert [hit.path for hit in result.hits][:2] == ["a.py", "b.py"]
    assert all(set(hit.components) == {"dense"} for hit in result.hits)
    assert (result.matching_files, result.note) == (0, "")


def test_a_query_of_several_lines_is_answered_by_dense_with_a_note(search):
    result = search(FILES).find("alpha\nbeta", Mode.LITERAL)
    assert result.hits
    assert "never spans lines" in result.note


def test_an_empty_corpus_gives_an_empty_answer(search):
    result = search({}).find("alpha", Mode.LITERAL)
    assert (result.hits, result.matching_files) == ((), 0)


@pytest.mark.parametrize("query", ["", "x" * 1001])
def test_a_query_that_no_component_takes_is_told(search, embedder, query):
    assert isinstance(search(FILES).find(query, Mode.LITERAL), QueryError)
    assert embedder.queries == []
