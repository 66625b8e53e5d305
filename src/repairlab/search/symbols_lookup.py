"""Looks symbols up by name: exact, qualified, whatever its case, by its beginning, by similarity."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from repairlab.contract.controls import Symbols
from repairlab.search.symbols_index import SymbolIndex
from repairlab.search.tokens import normal


class Tier(StrEnum):
    """How a term fits a symbol, the best first."""

    QUALIFIED = "qualified name"
    EXACT = "name"
    LAST = "last part of a dotted name"
    FOLDED = "name, case ignored"
    PREFIX = "beginning of the name"
    SIMILAR = "similar name"


class Match(NamedTuple):
    """A symbol that fits a term: its id, how, and how well (above 0, at most 1)."""

    symbol: int
    tier: Tier
    weight: float


class SymbolLookup:
    """Lookup over one index."""

    __slots__ = ("_folded", "index", "rule")

    def __init__(self, index: SymbolIndex, rule: Symbols) -> None:
        self.index = index
        self.rule = rule
        folded: defaultdict[str, list[str]] = defaultdict(list)
        for name in index.names:
            folded[name.casefold()].append(name)
        self._folded = dict(folded)

    def exact(self, name: str) -> tuple[int, ...]:
        """Ids of the symbols with this name, ascending."""
        return tuple(self.index.defining(normal(name)))

    def qualified(self, dotted: str) -> tuple[int, ...]:
        """Ids of the symbols whose qualified name ends with these parts, ascending."""
        parts = normal(dotted).split(".")
        return tuple(
            number
            for number in self.index.defining(parts[-1])
            if self.index.symbol(number).qualified.split(".")[-len(parts) :] == parts
        )

    def folded(self, name: str) -> tuple[int, ...]:
        """Ids of the symbols with this name in any case, ascending."""
        return self._ids(self._folded.get(normal(name).casefold(), ()))

    def prefix(self, beginning: str) -> tuple[str, ...]:
        """The names with this beginning, shortest first, then by text; at most ``rule.names``."""
        names, beginning = self.index.names, normal(beginning)
        first = bisect_left(names, beginning)
        last = first
        while last < len(names) and names[last].startswith(beginning):
            last += 1
        return tuple(sorted(names[first:last], key=lambda name: (len(name), name))[: self.rule.names])

    def similar(self, name: str) -> tuple[tuple[str, float], ...]:
        """The most similar names with their ratio, best first; at most ``rule.names``."""
        found = self.index.similar.best(normal(name), cutoff=self.rule.cutoff, most=self.rule.names)
        return tuple((self.index.names[match.number], match.ratio) for match in found)

    def matches(self, term: str, *, loose: bool) -> tuple[Match, ...]:
        """The symbols of the best tier that has any, by id.

        Args:
            term: a name, or several joined by dots.
            loose: whether names that only begin alike or are similar count.
        """
        rule, last = self.rule, term.rpartition(".")[2]
        dotted = last != term
        if dotted and (ids := self.qualified(term)):
            return _all(ids, Tier.QUALIFIED, 1.0)
        if ids := self.exact(last):
            return _all(ids, Tier.LAST, rule.last_part_weight) if dotted else _all(ids, Tier.EXACT, 1.0)
        if len(self.index.referring(normal(last))):
            return ()  # a name that is used here and defined elsewhere is no misspelling
        if ids := self.folded(last):
            return _all(ids, Tier.FOLDED, rule.folded_weight)
        return self._loose(last) if loose else ()

    def _loose(self, name: str) -> tuple[Match, ...]:
        rule = self.rule
        if len(name) >= rule.prefix_characters and (names := self.prefix(name)):
            return _all(self._ids(names), Tier.PREFIX, rule.prefix_weight)
        if len(name) < rule.similar_characters:
            return ()
        found = [
            Match(number, Tier.SIMILAR, rule.similar_weight * ratio / 100)
            for text, ratio in self.similar(name)
            for number in self.index.defining(text)
        ]
        return tuple(sorted(found))

    def _ids(self, names: Sequence[str]) -> tuple[int, ...]:
        return tuple(sorted(number for name in names for number in self.index.defining(name)))


def _all(ids: Sequence[int], tier: Tier, weight: float) -> tuple[Match, ...]:
    return tuple(Match(number, tier, weight) for number in ids)
