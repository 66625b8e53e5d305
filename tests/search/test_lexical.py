from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from repairlab.contract.controls import Fuzzy, Lexical
from repairlab.repositories import embedded
from repairlab.search.cache import Cache
from repairlab.search.chunks import ChunkRules, CorpusChunks
from repairlab.search.corpus import Corpus, build_corpus
from repairlab.search.lexical import NO_WORDS, LexicalSearch
from repairlab.search.lexical_index import LexicalIndex, build_lexical
from repairlab.search.lexical_scores import NOTHING, Term, best, chunk_scores, file_scores
from repairlab.search.results import QueryError
from repairlab.search.tokens import Tokenizer

SMALL = ChunkRules(lines=3, overlap_lines=1, characters=60)
EMBEDDED = Path(embedded.__file__).parent / "embedded"


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("lexical")


@pytest.fixture
def index(controls, folder):
    def build(corpus: Corpus, rules: ChunkRules = SMALL, lexical: Lexical = controls.lexical):
        return build_lexical(corpus, rules, lexical, cache=Cache(folder), folder=folder)

    return build


@pytest.fixture
def search(controls, index):
    def make(corpus: Corpus, **rules: object) -> LexicalSearch:
        return LexicalSearch(
            corpus,
            index(corpus),
            (".py",),
            controls.search,
            controls.view,
            **{"fuzzy": controls.fuzzy, "paths": controls.named_paths} | rules,
        )

    return make


@pytest.fixture
def embedded_corpus(memory_source, rules, folder):
    def build(name: str, language: str) -> Corpus:
        tree = EMBEDDED / name / "tree"
        files = {str(p.relative_to(tree)): p.read_bytes() for p in tree.rglob("*") if p.is_file()}
        return build_corpus(memory_source(files), "", language, rules, cache=folder)

    return build


def documents(corpus: Corpus, rules: ChunkRules, folder: Path) -> list[list[str]]:
    return [Tokenizer().tokens(text) for text in CorpusChunks(corpus, rules, Cache(folder)).texts()]


def assert_equal_to_the_referee(found: LexicalIndex, docs: list[list[str]], query: list[str], controls):
    referee = BM25Okapi(docs, k1=controls.k1, b=controls.b, epsilon=controls.epsilon)
    expected = referee.get_scores(query)
    terms = [Term(found.numbers[token], 1.0) for token in query if token in found.numbers]
    scores = chunk_scores(found, terms)
    held = np.array([not set(query).isdisjoint(doc) for doc in docs])
    assert (scores > NOTHING).tolist() == held.tolist()
    assert scores[held].tolist() == expected[held].tolist()  # to the last bit, not only to 1e-9
    assert not expected[~held].any()


WORDS = st.sampled_from(["self", "alpha", "betaGamma", "gamma", "x_y", "DELTA", "\n", "\n", " "])
SOURCES = st.dictionaries(
    st.sampled_from([f"{letter}.py" for letter in "abcdef"]),
    st.lists(WORDS, max_size=25).map(" ".join).map(str.encode),
    max_size=6,
)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(SOURCES, st.lists(WORDS, max_size=6), st.sampled_from([0.0, 0.25, 2.0]))
def test_scores_equal_rank_bm25_to_the_last_bit(
    memory_corpus, index, folder, controls, files, words, epsilon
):
    lexical = controls.lexical.model_copy(update={"epsilon": epsilon})
    corpus = memory_corpus(files)
    docs = documents(corpus, SMALL, folder)
    query = Tokenizer().tokens(" ".join(words))
    if any(docs):
        assert_equal_to_the_referee(index(corpus, SMALL, lexical), docs, query, lexical)
    else:
        assert len(index(corpus, SMALL, lexical).vocabulary) == 0


@pytest.mark.parametrize(("name", "language"), [("almanak", "python"), ("millrace", "go")])
def test_scores_equal_rank_bm25_over_the_frozen_chunks_of_embedded_repositories(
    embedded_corpus, index, folder, controls, name, language
):
    corpus = embedded_corpus(name, language)
    rules = ChunkRules.of(controls.dense)
    docs = documents(corpus, rules, folder)
    found = index(corpus, rules)
    assert len(docs) > 30
    for text in ("parse an expression", "return self error nil", "queue is full: limited", "the the zzz"):
        assert_equal_to_the_referee(found, docs, Tokenizer().tokens(text), controls.lexical)


def paths(ranking) -> list[str]:
    return [file.path for file in ranking.files]


class TestS10:
    @pytest.fixture
    def ranked(self, memory_corpus, search):
        def rank(docs: list[str], query: str) -> list[str]:
            files = {f"{number}.py": doc.encode() for number, doc in enumerate(docs)}
            return paths(search(memory_corpus(files)).rank(query, 50))

        return rank

    def test_s10_an_empty_corpus_and_empty_documents_give_an_empty_answer(self, ranked):
        assert ranked([], "x") == []
        assert ranked(["", ""], "x") == []
        assert ranked(["\n \n", "--- ++"], "x") == []

    def test_s10_an_empty_document_beside_others_harms_nothing(self, ranked):
        assert ranked(["", "alpha", "beta"], "alpha") == ["1.py"]

    def test_s10_an_unknown_word_gives_an_empty_answer(self, ranked):
        assert ranked(["alpha", "beta", "gamma"], "zeta") == []

    def test_s10_a_word_in_most_documents_still_makes_a_hit(self, ranked):
        assert ranked(["self alpha", "self beta", "self gamma", "delta"], "self") == ["0.py", "1.py", "2.py"]

    def test_s10_a_hit_with_a_negative_score_is_a_hit(self, ranked, memory_corpus, search):
        assert ranked(["alpha beta"], "alpha") == ["0.py"]
        file = search(memory_corpus({"0.py": b"alpha beta"})).rank("alpha", 5).files[0]
        assert file.score < 0

    def test_s10_a_hit_whose_score_is_zero_is_a_hit(self, ranked):
        # Half of the documents hold the word: its idf is exactly 0.
        assert ranked(["alpha", "beta", "alpha", "gamma"], "alpha") == ["0.py", "2.py"]

    def test_s10_ties_go_by_path(self, ranked):
        assert ranked(["alpha"] * 3, "alpha") == ["0.py", "1.py", "2.py"]

    def test_s10_a_query_without_words_is_an_answer_of_its_own(self, memory_corpus, search):
        found = search(memory_corpus({"a.py": b"x"})).rank("$$ -- ?? —", 5)
        assert found == QueryError(NO_WORDS)


def test_a_file_stands_where_its_best_chunk_stands_and_shows_it(memory_corpus, search):
    filler = b"# nothing\n" * 40
    corpus = memory_corpus(
        {
            "far.py": filler + b"needle = needle\n" + filler,
            "near.py": b"needle = 1\n# a\n# b\n",
            "no.py": filler,
        }
    )
    finder = search(corpus)
    ranking = finder.rank("needle", 5)

    assert paths(ranking) == ["far.py", "near.py"]
    assert ranking.matching_files == 2
    assert finder.lines(ranking, ranking.files[0]) == (41,)
    hit = finder.find("needle")[0]
    assert (hit.path, hit.matching_lines, hit.components) == ("far.py", (41,), {"lexical": 1})
    assert len(hit.lines) == 24
    assert hit.start_line <= 41 < hit.start_line + 24


def test_of_equal_chunks_of_a_file_the_first_is_shown(memory_corpus, search):
    # Chunks of three lines that share one: lines 1-3, 3-5, 5-7.
    corpus = memory_corpus({"a.py": b"# x\nneedle\n# x\nneedle\n# x\nneedle\n# x\n", "b.py": b"other\n"})
    finder = search(corpus)
    ranking = finder.rank("needle", 5)

    assert ranking.files[0].chunk == 0
    assert finder.lines(ranking, ranking.files[0]) == (2,)


def test_an_unknown_token_is_replaced_by_similar_ones_at_a_part_of_their_weight(memory_corpus, search):
    corpus = memory_corpus({"a.py": b"simplify(x)", "b.py": b"simply(y)", "c.py": b"z", "d.py": b"w"})
    rule = Fuzzy(characters=4, cutoff=80, tokens=1, weight=0.5)
    ranking = search(corpus, fuzzy=rule).rank("simplfy", 5)
    exact = search(corpus).rank("simplify", 5)

    assert dict(ranking.replaced) == {"simplfy": ("simplify",)}
    assert paths(ranking) == ["a.py"]
    share = 0.5 * (1 - 1 / 15)  # one insertion among 7 + 8 characters
    assert ranking.files[0].score == pytest.approx(exact.files[0].score * share)
    assert dict(exact.replaced) == {}


def test_known_and_short_tokens_have_no_replacement(memory_corpus, search):
    corpus = memory_corpus({"a.py": b"name names nam", "b.py": b"other"})
    finder = search(corpus)

    assert dict(finder.rank("name", 5).replaced) == {}
    assert dict(finder.rank("nme", 5).replaced) == {}
    assert paths(finder.rank("nme", 5)) == []


def test_a_file_that_the_query_names_comes_first(memory_corpus, search):
    corpus = memory_corpus(
        {
            "pkg/alpha.py": b"# nothing here\n",
            "pkg/beta.py": b"needle needle\n",
            "pkg/empty.py": b"",
            "pkg/gamma.py": b"needle\n",
        }
    )
    finder = search(corpus)
    ranking = finder.rank("needle at pkg/alpha.py:3 and in pkg/empty.py", 5)

    assert paths(ranking) == ["pkg/alpha.py", "pkg/beta.py", "pkg/gamma.py"]
    assert [file.named for file in ranking.files] == [True, False, False]
    assert (ranking.files[0].score, ranking.files[0].chunk) == (NOTHING, None)
    assert finder.hit(ranking, ranking.files[0], rank=1, components={}).lines == ("# nothing here",)
    assert paths(finder.rank("needle pkg/alpha.py", 1)) == ["pkg/alpha.py"]


@given(st.lists(st.sampled_from([0.5, 1.0, 2.0, -1.0, NOTHING]), max_size=20), st.integers(1, 8))
def test_the_best_are_the_first_of_a_full_sort(values, most):
    scores = np.array(values)
    everything = sorted((i for i, v in enumerate(values) if v != NOTHING), key=lambda i: (-values[i], i))

    assert best(scores, most) == everything[:most]


def test_files_without_chunks_stand_between_others(memory_corpus, index):
    found = index(
        memory_corpus({"a.py": b"", "b.py": b"alpha", "c.py": b"  \n", "d.py": b"beta", "e.py": b""})
    )
    scores = file_scores(found, np.array([1.0, 2.0]))

    assert scores.tolist() == [NOTHING, 1.0, NOTHING, 2.0, NOTHING]


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(SOURCES, SOURCES)
def test_cold_warm_and_partly_new_builds_give_the_same_bytes(
    memory_corpus, controls, tmp_path_factory, before, files
):
    corpus = memory_corpus(files)

    def built(*, after: Corpus | None) -> bytes:
        folder = tmp_path_factory.mktemp("built")
        cache = Cache(folder / "cache")
        for number, item in enumerate([after, corpus]):
            if item is not None:
                where = folder / str(number)
                build_lexical(item, SMALL, controls.lexical, cache=cache, folder=where)
        return next((folder / "1").glob("*.lexical")).read_bytes()

    assert built(after=None) == built(after=corpus) == built(after=memory_corpus(before))
