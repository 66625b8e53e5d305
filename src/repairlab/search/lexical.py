"""Lexical search: BM25 over the frozen chunks, with similar tokens for unknown ones and paths named outright.

1. The query is cut into tokens; repeats count again. A token that the corpus does not hold is replaced by its
   most similar ones (group ``fuzzy`` of the shared controls), each at a part of its weight; known tokens are
   never touched, so that their scores are BM25's.
2. A file stands where its best chunk stands. Ties go by path, inside a file by first line.
3. Files whose path the query names come before all others (`repairlab.search.fuzzy_paths`), generated files
   behind all others.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from repairlab.contract.controls import Fuzzy, NamedPaths, Search, View
from repairlab.search.corpus import Corpus
from repairlab.search.fuzzy_paths import named_files
from repairlab.search.lexical_index import LexicalIndex, Scores
from repairlab.search.lexical_scores import NOTHING, Term, best, chunk_scores, file_scores
from repairlab.search.results import Hit, QueryError
from repairlab.search.snippets import Limits, make_hit
from repairlab.search.tokens import Tokenizer, query_fault

COMPONENT = "lexical"
NO_WORDS = "no usable words in the query: it needs at least one letter or digit"


@dataclass(frozen=True, slots=True)
class LexicalFile:
    """A ranked file.

    Attributes:
        file: id in the corpus.
        path: its path.
        score: of its best chunk; minus infinity for a file that is there for its path alone.
        chunk: number of that chunk, None if it holds no token of the query.
        named: whether the query names its path.
    """

    file: int
    path: str
    score: float
    chunk: int | None
    named: bool


@dataclass(frozen=True, slots=True)
class LexicalRanking:
    """The best files of a query.

    Attributes:
        terms: what was asked for, in query order, repeats and replacements included.
        files: the best ones, in order.
        matching_files: how many files hold a term.
        replaced: for each unknown token what stood in for it; empty if nothing did.
    """

    terms: tuple[Term, ...]
    files: tuple[LexicalFile, ...]
    matching_files: int
    replaced: Mapping[str, tuple[str, ...]]


class LexicalSearch:
    """Searches one corpus. Holds no state between queries.

    Args:
        corpus: what is searched.
        index: its lexical index.
        suffixes: file name endings of its language.
        search: how many files and lines are shown, how long a query may be.
        view: how long a shown line may be.
        fuzzy: what stands in for unknown tokens.
        paths: when a path in a query counts.
    """

    __slots__ = ("_corpus", "_fuzzy", "_index", "_limits", "_path_rule", "_paths", "_search", "_suffixes")

    def __init__(
        self,
        corpus: Corpus,
        index: LexicalIndex,
        suffixes: Sequence[str],
        search: Search,
        view: View,
        fuzzy: Fuzzy,
        paths: NamedPaths,
    ) -> None:
        self._corpus = corpus
        self._index = index
        self._suffixes = tuple(suffixes)
        self._search = search
        self._limits = Limits(search.snippet_lines, view.line_characters)
        self._fuzzy = fuzzy
        self._path_rule = paths
        self._paths = [file.path for file in corpus.files]

    def find(self, query: str) -> tuple[Hit, ...] | QueryError:
        """The best files as they are shown."""
        ranking = self.rank(query, self._search.files)
        if isinstance(ranking, QueryError):
            return ranking
        return tuple(
            self.hit(ranking, file, rank=rank, components={COMPONENT: rank})
            for rank, file in enumerate(ranking.files, start=1)
        )

    def rank(self, query: str, files: int) -> LexicalRanking | QueryError:
        """The best `files` files."""
        fault = query_fault(query, self._search.query_characters)
        if fault:
            return QueryError(fault)
        tokens = Tokenizer().tokens(query)
        if not tokens:
            return QueryError(NO_WORDS)
        terms, replaced = self._terms(tokens)
        chunks = chunk_scores(self._index, terms)
        scores = file_scores(self._index, chunks)
        named = self._named(query)
        others = [number for number in self._best(scores, files + len(named)) if number not in named]
        ranked = []
        for number in [*named, *others][:files]:
            score = float(scores[number])
            first, last = self._index.file_bounds[number : number + 2]
            chunk = int(first + chunks[first:last].argmax()) if score > NOTHING else None
            ranked.append(LexicalFile(number, self._paths[number], score, chunk, number in named))
        return LexicalRanking(terms, tuple(ranked), int((scores > NOTHING).sum()), replaced)

    def _best(self, scores: Scores, most: int) -> list[int]:
        """The best files; generated ones behind all others."""
        generated = np.zeros(len(scores), np.bool_)
        generated[list(self._corpus.generated)] = True
        first = best(np.where(generated, NOTHING, scores), most)
        return first + best(np.where(generated, scores, NOTHING), most - len(first))

    def _named(self, query: str) -> list[int]:
        """Ids of the files whose path the query names; an empty file has nothing to show."""
        found = named_files(query, self._paths, self._suffixes, self._path_rule)
        return [number for number in found if self._corpus.files[number].lines]

    def _terms(self, tokens: Sequence[str]) -> tuple[tuple[Term, ...], dict[str, tuple[str, ...]]]:
        """What the index is asked for, and what stands in for each unknown token."""
        known = {token: self._terms_of(token) for token in dict.fromkeys(tokens)}
        replaced = {
            token: tuple(self._index.vocabulary[term.token] for term in terms)
            for token, terms in known.items()
            if terms and token not in self._index.numbers
        }
        return tuple(term for token in tokens for term in known[token]), replaced

    def _terms_of(self, token: str) -> tuple[Term, ...]:
        number = self._index.numbers.get(token)
        if number is not None:
            return (Term(number, 1.0),)
        rule = self._fuzzy
        if len(token) < rule.characters:
            return ()
        similar = self._index.similar.best(token, cutoff=rule.cutoff, most=rule.tokens)
        return tuple(Term(match.number, rule.weight * match.ratio / 100) for match in similar)

    def lines(self, ranking: LexicalRanking, file: LexicalFile) -> tuple[int, ...]:
        """The lines of the file's best chunk that speak most for it, ascending; at least one.

        A line weighs the sum of weight and idf of the different terms on it. Those of at least half the
        greatest weight are given; line 1 of a file that is there for its path alone.
        """
        if file.chunk is None:
            return (1,)
        start, end = int(self._index.starts[file.chunk]), int(self._index.ends[file.chunk])
        weights = {term.token: term.weight * float(self._index.idf[term.token]) for term in ranking.terms}
        numbers, tokenizer = self._index.numbers, Tokenizer()
        found: dict[int, float] = {}
        for line, data in enumerate(self._corpus.lines(file.file, start, end), start=start):
            held = {numbers.get(token, -1) for token in tokenizer.tokens(data.decode("utf-8", "replace"))}
            common = [weights[token] for token in sorted(held & weights.keys())]
            if common:
                found[line] = math.fsum(common)
        greatest = max(found.values(), default=0.0)
        least = greatest / 2 if greatest > 0 else greatest
        return tuple(line for line, weight in found.items() if weight >= least) or (start,)

    def hit(
        self, ranking: LexicalRanking, file: LexicalFile, *, rank: int, components: Mapping[str, int]
    ) -> Hit:
        """One file of `ranking` as it is shown at `rank`."""
        return make_hit(
            self._corpus,
            file.file,
            rank=rank,
            matching=self.lines(ranking, file),
            components=components,
            limits=self._limits,
        )
