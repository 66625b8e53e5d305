"""BM25 against rank-bm25 and bm25s, and fuzzy names: see search_bench.py."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple, Protocol

import bm25s
import numpy as np
from numpy.typing import NDArray
from rank_bm25 import BM25Okapi
from rapidfuzz import fuzz, process

from repairlab.search.fuzzy import FuzzyIndex, fuzzy_table
from repairlab.search.lexical_index import LexicalIndex
from repairlab.search.lexical_scores import NOTHING, Term, best, chunk_scores, file_scores

FILES = 50
NAMES = 100_000


def queries_of(index: LexicalIndex) -> list[list[str]]:
    """Queries of one to twelve tokens, at even distances through the vocabulary: the same in every run."""
    words = index.vocabulary
    return [
        [words[(start * 7919 + step * 104_729) % len(words)] for step in range(1 + start % 12)]
        for start in range(40)
    ] + [["self", "return", "value"], ["the", "of", "is", "error", "error"]]


class Scores(NamedTuple):
    """Median seconds of a query, and how many queries have other scores than rank-bm25's."""

    ours: float
    rank_bm25: float
    bm25s: float
    wrong: int


def compare_scores(
    index: LexicalIndex, docs: list[list[str]], queries: list[list[str]], rounds: int
) -> Scores:
    referee = BM25Okapi(docs)
    other = bm25s.BM25(method="atire", k1=1.5, b=0.75)
    other.index(docs, show_progress=False)
    wrong, ours, theirs, others = 0, [], [], []
    for query in queries:
        terms = [Term(index.numbers[token], 1.0) for token in query if token in index.numbers]
        known = [token for token in query if token in other.vocab_dict]
        scores = chunk_scores(index, terms)
        expected = referee.get_scores(query)
        wrong += not np.array_equal(scores[scores > NOTHING], expected[scores > NOTHING])
        theirs.append(median_of(partial(referee.get_scores, query), 1))
        pairs = [
            (seconds(partial(ranked, index, terms)), seconds(partial(best_of, other, known)))
            for _ in range(rounds)
        ]
        mine, compared = map(statistics.median, zip(*pairs, strict=True))
        ours.append(mine)
        others.append(compared)
    return Scores(statistics.median(ours), statistics.median(theirs), statistics.median(others), wrong)


def ranked(index: LexicalIndex, terms: list[Term]) -> list[int]:
    return best(file_scores(index, chunk_scores(index, terms)), FILES)


class Scorer(Protocol):
    """What is asked of bm25s, which is not there where only types are checked."""

    def get_scores(self, query_tokens_single: list[str]) -> NDArray[np.float32]:
        """A score for each document, in their order."""


def best_of(other: Scorer, known: list[str]) -> NDArray[np.intp]:
    scores = other.get_scores(known)
    most = min(FILES, len(scores))
    top = np.argpartition(scores, -most)[-most:]
    return top[np.argsort(-scores[top])]


class Names(NamedTuple):
    """Seconds of a look-up, and how many answers differ from a full scan's."""

    names: int
    p50: float
    p95: float
    wrong: int


def compare_names(vocabulary: Sequence[str]) -> Names:
    """Fuzzy look-up in 100,000 names made of the repository's own, each with one character changed."""
    pairs = (f"{a}_{b}" for a, b in zip(vocabulary, vocabulary[7:], strict=False))
    names = list(dict.fromkeys([*vocabulary, *pairs]))[:NAMES]
    index = FuzzyIndex(names, fuzzy_table(names))
    ours, wrong = [], 0
    for number in range(0, len(names), max(1, len(names) // 300)):
        name = names[number]
        query = name[: len(name) // 2] + "q" + name[len(name) // 2 + 1 :]
        ours.append(median_of(partial(index.best, query, cutoff=80, most=3), 5))
        if len(ours) % 10 == 0:
            first = sorted(scan(query, names), key=lambda match: (-match[1], match[0]))[:3]
            mine = [(match.number, match.ratio) for match in index.best(query, cutoff=80, most=3)]
            wrong += mine != [(match[2], match[1]) for match in first]
    return Names(len(names), statistics.median(ours), sorted(ours)[int(len(ours) * 0.95)], wrong)


def scan(query: str, names: Sequence[str]) -> list[tuple[str, float, int]]:
    return process.extract(query, names, scorer=fuzz.ratio, score_cutoff=80, limit=None)


def seconds(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def median_of(work: Callable[[], object], rounds: int) -> float:
    """Median of the CPU seconds that `work` takes, after one run that does not count."""
    work()
    return statistics.median(seconds(work) for _ in range(rounds))
