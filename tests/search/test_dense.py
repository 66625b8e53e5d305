"""Dense retrieval with an embedder of this module: one place of the vector for each word, by its hash."""

import hashlib
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from repairlab.contract.errors import IntegrityViolation, RefuseToStart
from repairlab.search.cache import Cache
from repairlab.search.chunks import ChunkRules, CorpusChunks, cut
from repairlab.search.dense import DenseIndex, embed_corpus
from repairlab.search.dense_search import DenseSearch
from repairlab.search.results import QueryError
from repairlab.search.vectors import QueryVectors, VectorStore

DIMENSIONS = 64
ROOT = Path(__file__).resolve().parents[2]


class Hashing:
    """Counts words by hash; every text has a word, or gets one."""

    def __init__(self):
        self.documents: list[str] = []
        self.queries: list[str] = []

    def embed_documents(self, texts):
        self.documents += texts
        return [self._vector(text) for text in texts]

    def embed_query(self, text):
        self.queries.append(text)
        return self._vector(text.partition("\nQuery:")[2])

    def _vector(self, text):
        vector = [0.0] * DIMENSIONS
        for word in text.split() or ["(none)"]:
            place = int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big")
            vector[place % DIMENSIONS] += 1.0
        return vector


@pytest.fixture
def embedder():
    return Hashing()


@pytest.fixture
def frozen(controls):
    return ChunkRules.of(controls.dense)


@pytest.fixture
def build(memory_corpus, embedder, frozen, tmp_path):
    def make(files, rules=frozen, folder=tmp_path):
        cache = Cache(folder)
        chunks = CorpusChunks(memory_corpus(files), rules, cache)
        store = VectorStore(cache, {"key": "hashing"}, DIMENSIONS)
        embed_corpus(chunks, store, embedder)
        return DenseIndex(chunks, store)

    return make


@pytest.fixture
def search(embedder, controls):
    def make(index, **changes):
        queries = QueryVectors(embedder, controls.dense.query_instruction, DIMENSIONS)
        limits = controls.search.model_copy(update=changes)
        return DenseSearch(index, queries, limits, controls.dense, controls.view)

    return make


def vector(*places):
    made = np.zeros(DIMENSIONS, dtype=np.float32)
    for place in places:
        made[place] = 1.0
    return made / np.linalg.norm(made).astype(np.float32)


def test_the_chunk_with_the_words_of_the_query_is_best(build, search):
    files = {
        "a.py": b"apples and pears\n",
        "b.py": b"x = 1\n" * 110 + b"cherry tart\n" * 20,
        "c.py": b"plums\n",
    }
    ranking = search(build(files)).rank("cherry tart", 3)
    best = ranking.files[0]
    assert (best.path, best.start, best.end) == ("b.py", 101, 130)


def test_each_distinct_text_is_embedded_once_over_all_commits(build, embedder):
    build({"a.py": b"one\n", "b.py": b"two\n", "copy.py": b"one\n"})
    assert sorted(embedder.documents) == ["one", "two"]
    build({"moved/a.py": b"one\n", "b.py": b"two\n\n", "new.py": b"three\n"})
    assert sorted(embedder.documents) == ["one", "three", "two", "two\n"]
    build({"a.py": b"one\n", "new.py": b"three\n"})
    assert len(embedder.documents) == 4


def test_s11_no_vectors_give_an_empty_answer(build, search):
    index = build({"empty.py": b"", "blank.py": b"\n\n"})
    assert index.best_chunks(vector(1), 5) == ()
    assert index.best_files(vector(1), 5) == ()
    assert search(index).find("anything") == ()


def test_s11_fewer_chunks_than_asked_for_are_no_padding(build):
    index = build({"a.py": b"one\n", "b.py": b"two\n"})
    for query in (vector(1), -vector(1), vector(*range(DIMENSIONS))):
        found = index.best_chunks(query, 50)
        assert [chunk.path for chunk in found].count("a.py") == 1
        assert len(found) == 2
        assert all(-1 <= chunk.score <= 1 for chunk in found)


@pytest.mark.parametrize("size", [0, DIMENSIONS - 1, DIMENSIONS + 1])
def test_s11_a_query_of_another_dimension_says_so(build, size):
    index = build({"a.py": b"one\n"})
    with pytest.raises(IntegrityViolation, match=rf"\({size},\).*64 dimensions"):
        index.best_chunks(np.ones(size, dtype=np.float32), 5)


def test_s11_a_query_that_is_not_finite_says_so(build):
    index = build({"a.py": b"one\n"})
    with pytest.raises(IntegrityViolation, match="63 finite"):
        index.best_chunks(np.where(np.arange(DIMENSIONS) == 3, np.nan, vector(1)).astype(np.float32), 5)


def test_s11_ties_go_by_path_bytes_and_then_line_whichever_candidates_come_first(build, search):
    """300 equal texts and 200 of equal score: whichever candidates are picked, the first paths win."""
    files = {f"{number:03}.py": b"same words\n" for number in range(300)}
    files |= {f"Z{number:03}.py": f"same words\n{' ' * number}".encode() for number in range(200)}
    files["0.py"] = b"same words\n" + b"\n" * 99 + b"same words\n" + b"\n" * 99 + b"same words\n"
    ranking = search(build(files)).rank("same words", 5)
    assert [chunk.path for chunk in ranking.files] == ["0.py", "000.py", "001.py", "002.py", "003.py"]
    assert ranking.files[0].start == 1
    assert {chunk.score for chunk in ranking.files} == {1.0}


def test_many_chunks_of_one_file_do_not_crowd_out_the_other_files(build, search):
    files = {
        "big.py": b"".join(b"needle %d\n" % n + b"\n" * 99 for n in range(400)),
        "z.py": b"hay needle x y\n",
    }
    files |= {f"other{n}.py": b"hay %d\n" % n for n in range(60)}
    ranking = search(build(files)).rank("needle", 50)
    assert len(ranking.files) == 50
    assert len({chunk.file for chunk in ranking.files}) == 50
    assert [chunk.path for chunk in ranking.files][:2] == ["big.py", "z.py"]


def test_dense_first_takes_the_files_of_the_five_best_chunks_only(build, search):
    files = {
        "a.py": b"needle\n" + b"\n" * 99 + b"needle\n" + b"\n" * 99 + b"needle hay\n",
        "b.py": b"needle hay x\n",
    }
    files |= {f"c{n}.py": f"needle {'hay ' * n}\n".encode() for n in range(4, 9)}
    ranking = search(build(files)).rank_chunks("needle")
    # Two of the five best chunks are of a.py.
    assert [chunk.path for chunk in ranking.files] == ["a.py", "b.py", "c4.py", "c5.py"]


words = st.lists(st.sampled_from(["one", "two", "three", "four", "five", "six"]), max_size=4)
trees = st.dictionaries(
    st.sampled_from([f"{n}.py" for n in range(8)]),
    st.lists(words.map(" ".join), max_size=12).map(lambda lines: "\n".join(lines).encode()),
    max_size=8,
)
settled = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40
)


def unit(values) -> list[float]:
    """`values` at unit length, each rounded to single precision."""
    norm = math.sqrt(math.fsum(value * value for value in values))
    return [float(np.float32(value / norm)) for value in values]


@settled
@given(files=trees, query=words)
def test_the_ranking_is_that_of_all_exact_scores_rounded(build, embedder, files, query):
    rules = ChunkRules(3, 1, 40)
    index = build(files, rules=rules)
    asked = QueryVectors(embedder, "Find.", DIMENSIONS).of(" ".join(query)).vector
    expected = []
    for path, data in files.items():
        for place, text in cut(data, rules):
            products = zip(unit(Hashing().embed_documents([text])[0]), asked.tolist(), strict=True)
            score = round(math.fsum(a * b for a, b in products), 6)
            expected.append((-score, path, place.start, place.end))
    expected.sort()
    found = [(-chunk.score, chunk.path, chunk.start, chunk.end) for chunk in index.best_chunks(asked, 1000)]
    assert found == expected
    for count in (1, 5, 7):
        assert len(index.best_chunks(asked, count)) == len(expected[:count])
        assert [chunk.path for chunk in index.best_chunks(asked, count)] == [
            row[1] for row in expected[:count]
        ]
        paths = list(dict.fromkeys(row[1] for row in expected))
        assert [chunk.path for chunk in index.best_files(asked, count)] == paths[:count]


@settled
@given(before=st.lists(trees, max_size=3), files=trees, query=words)
def test_cold_warm_and_partly_new_builds_give_identical_indexes(
    build, embedder, tmp_path_factory, before, files, query
):
    rules = ChunkRules(3, 1, 40)
    cold = build(files, rules, tmp_path_factory.mktemp("cold"))
    shared = tmp_path_factory.mktemp("shared")
    for earlier in before:
        build(earlier, rules, shared)
    asked = QueryVectors(embedder, "Find.", DIMENSIONS).of(" ".join(query)).vector
    expected = cold.digest, cold.best_chunks(asked, 50), cold.best_files(asked, 50)
    for _ in range(2):
        index = build(files, rules, shared)
        assert (index.digest, index.best_chunks(asked, 50), index.best_files(asked, 50)) == expected


def test_the_digest_follows_text_path_rules_and_model(build, memory_corpus, embedder, frozen, tmp_path):
    files = {"a.py": b"one\n" * 130}
    digests = {
        build(files).digest,
        build({"b.py": b"one\n" * 130}).digest,
        build({"a.py": b"two\n" * 130}).digest,
        build(files, ChunkRules(130, 20, 16_000)).digest,
    }
    chunks = CorpusChunks(memory_corpus(files), frozen, Cache(tmp_path))
    other = VectorStore(Cache(tmp_path), {"key": "another"}, DIMENSIONS)
    embed_corpus(chunks, other, embedder)
    assert len({*digests, DenseIndex(chunks, other).digest}) == 5
    assert build(files).digest in digests


def test_the_digest_follows_the_places_of_equal_texts(build):
    files = {"a.py": b"x\nx\nx\nx\n"}
    two, three = (build(files, ChunkRules(2, overlap, 100)) for overlap in (0, 1))
    assert (len(two.best_chunks(vector(1), 9)), len(three.best_chunks(vector(1), 9))) == (2, 3)
    assert two.digest != three.digest


def test_the_digest_follows_the_vectors_themselves(build, tmp_path, monkeypatch):
    """A host that computes other vectors under the same facts cannot go unnoticed."""
    files = {"a.py": b"one two\n"}
    first = build(files, folder=tmp_path / "1")
    original = Hashing._vector
    monkeypatch.setattr(Hashing, "_vector", lambda self, text: [*original(self, text)[:-1], 0.001])
    assert build(files, folder=tmp_path / "2").digest != first.digest


def test_an_index_of_texts_without_vectors_is_refused(memory_corpus, frozen, tmp_path):
    chunks = CorpusChunks(memory_corpus({"a.py": b"one\n"}), frozen, Cache(tmp_path))
    with pytest.raises(RefuseToStart, match="1 of 1 chunks"):
        DenseIndex(chunks, VectorStore(Cache(tmp_path), {}, DIMENSIONS))


@pytest.mark.parametrize("query", ["", " \n", "x" * 1001, "a\0b", "\ud800"])
def test_a_query_that_cannot_be_embedded_is_told_and_never_sent(build, search, embedder, query):
    component = search(build({"a.py": b"one\n"}))
    for answer in (component.find(query), component.rank(query, 5), component.rank_chunks(query)):
        assert isinstance(answer, QueryError)
    assert embedder.queries == []


def test_one_query_vector_serves_every_question_of_a_cell(build, search, embedder):
    component = search(build({"a.py": b"one\n"}))
    component.find("one")
    component.rank("one", 50)
    component.rank_chunks("one")
    assert len(embedder.queries) == 1
    assert embedder.queries[0].endswith("\nQuery:one")


def test_a_hit_shows_the_lines_of_the_chunk_that_hold_the_query_s_words(build, search):
    body = [f"value_{n} = {n}" for n in range(1, 101)]
    body[70] = "def parse_header(line):"
    (hit,) = search(build({"a.py": "\n".join(body).encode()})).find(
        "the header is parsed wrongly: parse_header"
    )
    assert hit.start_line <= 71 < hit.start_line + len(hit.lines)
    assert len(hit.lines) == 24
    assert hit.lines[71 - hit.start_line] == "def parse_header(line):"
    assert hit.matching_lines == ()
    assert hit.components == {"dense": 1}
