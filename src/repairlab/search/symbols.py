"""Symbol search: which files define, or else use, the names in a query.

The query is cut into terms: names, also joined by dots, each once. A term that looks like a name of source
(an underscore, a digit, a dot, a capital after the first letter) or stands alone also fits names that begin
with it or are similar. For each term a file gets

    ln((F + 1) / f) * (greatest weight of a symbol that fits there  or else  s * n / (n + 1))

where F is the number of files, f how many of them define what fits (or use it, where none defines it), s is
``symbols.use_weight``, and n how often the file uses the name. Files stand by the sum over all terms, ties by
path, generated ones behind all others.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from repairlab.contract.controls import Search, Symbols, View
from repairlab.search.corpus import Corpus
from repairlab.search.results import Hit, QueryError
from repairlab.search.snippets import Limits, make_hit
from repairlab.search.symbols_blob import Reference
from repairlab.search.symbols_index import SymbolIndex
from repairlab.search.symbols_lookup import Match, SymbolLookup, Tier
from repairlab.search.tokens import normal, query_fault

COMPONENT = "symbols"
NO_NAMES = "no usable names in the query: it needs at least one identifier"

_TERM = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_LIKE_SOURCE = re.compile(r"_|[0-9]|\.|(?<=.)[A-Z]")
_NAMED = frozenset({Tier.QUALIFIED, Tier.EXACT, Tier.LAST})
_LINE = Reference._fields.index("line")


@dataclass(frozen=True, slots=True)
class TermMatches:
    """What one term of a query fits.

    Attributes:
        term: as it stands in the query, in NFKC.
        symbols: that fit, by id.
        uses: for each file with references to the name their number, by file.
    """

    term: str
    symbols: tuple[Match, ...]
    uses: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class SymbolFile:
    """A ranked file.

    Attributes:
        file: id in the corpus.
        path: its path.
        score: above 0.
        term: index, among the terms of the ranking, of the one that gave most to the score.
        defines: whether the file defines what that term fits; otherwise it uses it.
    """

    file: int
    path: str
    score: float
    term: int
    defines: bool


@dataclass(frozen=True, slots=True)
class SymbolRanking:
    """The best files of a query, and how many files fit it at all."""

    terms: tuple[TermMatches, ...]
    files: tuple[SymbolFile, ...]
    matching_files: int


@dataclass(frozen=True, slots=True)
class _Gain:
    """What a term adds to a file's score."""

    amount: float
    term: int
    defines: bool


class SymbolSearch:
    """Searches one corpus. Holds no state between queries.

    Args:
        corpus: what is searched.
        index: its symbols.
        search: how many files and lines are shown, how long a query may be.
        view: how long a shown line may be.
        rule: how names are looked up.
    """

    __slots__ = ("_corpus", "_index", "_limits", "_search", "lookup")

    def __init__(
        self,
        corpus: Corpus,
        index: SymbolIndex,
        search: Search,
        view: View,
        rule: Symbols,
    ) -> None:
        self._corpus = corpus
        self._index = index
        self._search = search
        self._limits = Limits(search.snippet_lines, view.line_characters)
        self.lookup = SymbolLookup(index, rule)

    def find(self, query: str) -> tuple[Hit, ...] | QueryError:
        """The best files as they are shown."""
        ranking = self.rank(query, self._search.files)
        if isinstance(ranking, QueryError):
            return ranking
        return tuple(
            self.hit(ranking, file, rank=rank, components={COMPONENT: rank})
            for rank, file in enumerate(ranking.files, start=1)
        )

    def rank(self, query: str, files: int) -> SymbolRanking | QueryError:
        """The best `files` files."""
        fault = query_fault(query, self._search.query_characters)
        if fault:
            return QueryError(fault)
        names = tuple(dict.fromkeys(_TERM.findall(normal(query))))
        if not names:
            return QueryError(NO_NAMES)
        terms = tuple(self._matches(name, alone=len(names) == 1) for name in names)
        gains: dict[int, list[_Gain]] = {}
        for number, term in enumerate(terms):
            for file, gain in self._gains(number, term).items():
                gains.setdefault(file, []).append(gain)
        ranked = sorted((self._ranked(file, given) for file, given in gains.items()), key=self._order)
        return SymbolRanking(terms, tuple(ranked[:files]), len(ranked))

    def _matches(self, name: str, *, alone: bool) -> TermMatches:
        symbols = self.lookup.matches(name, loose=alone or _LIKE_SOURCE.search(name) is not None)
        if symbols and symbols[0].tier not in _NAMED:
            return TermMatches(name, symbols, {})
        rows = self._index.referring(name.rpartition(".")[2])
        files, counts = np.unique(self._index.files_of_references(rows), return_counts=True)
        return TermMatches(name, symbols, dict(zip(files.tolist(), counts.tolist(), strict=True)))

    def _gains(self, number: int, term: TermMatches) -> dict[int, _Gain]:
        weights: dict[int, float] = {}
        for match in term.symbols:
            file = self._index.file_of(match.symbol)
            weights[file] = max(weights.get(file, 0.0), match.weight)
        rare = math.log((len(self._corpus.files) + 1) / (len(weights) or len(term.uses) or 1))
        gains = {
            file: _Gain(rare * self.lookup.rule.use_weight * uses / (uses + 1), number, False)
            for file, uses in term.uses.items()
        }
        return gains | {file: _Gain(rare * weight, number, True) for file, weight in weights.items()}

    def _ranked(self, file: int, gains: Sequence[_Gain]) -> SymbolFile:
        most = max(gains, key=lambda gain: (gain.amount, -gain.term))
        score = math.fsum(gain.amount for gain in gains)
        return SymbolFile(file, self._corpus.files[file].path, score, most.term, most.defines)

    def _order(self, file: SymbolFile) -> tuple[bool, float, int]:
        return file.file in self._corpus.generated, -file.score, file.file

    def lines(self, ranking: SymbolRanking, file: SymbolFile) -> tuple[int, ...]:
        """The lines of the names that the file is shown for, ascending; at least one.

        Where the file defines what its best term fits: the definitions that fit best. Otherwise the uses.
        """
        term = ranking.terms[file.term]
        if file.defines:
            own = [match for match in term.symbols if self._index.file_of(match.symbol) == file.file]
            most = max(match.weight for match in own)
            symbols = (self._index.symbol(match.symbol) for match in own if match.weight == most)
            return tuple(sorted({symbol.line for symbol in symbols}))
        rows = self._index.referring(term.term.rpartition(".")[2])
        chosen = rows[self._index.files_of_references(rows) == file.file]
        lines: list[int] = np.unique(self._index.references[chosen, _LINE]).tolist()
        return tuple(lines)

    def hit(
        self, ranking: SymbolRanking, file: SymbolFile, *, rank: int, components: Mapping[str, int]
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
