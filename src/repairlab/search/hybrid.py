"""The full hybrid of H007: one query to every component, fused by reciprocal rank."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, TypeVar

from repairlab.contract.controls import Fusion, Search
from repairlab.search.fusion import Fused, reciprocal_rank
from repairlab.search.results import Hit, QueryError


class HasPath(Protocol):
    """A ranked file of some component."""

    @property
    def path(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Ranked:
    """One component's answer: its files in order, and how one of them is shown.

    Attributes:
        paths: best first.
        show: path, place in the answer and ranks by component to the file as it is shown.
    """

    paths: tuple[str, ...]
    show: Callable[[str, int, dict[str, int]], Hit]


Component: TypeAlias = Callable[[str, int], Ranked | QueryError]
"""Query, and how many files are wanted."""

RankingT = TypeVar("RankingT")
FileT = TypeVar("FileT", bound=HasPath)


def component(
    rank: Callable[[str, int], RankingT | QueryError],
    files: Callable[[RankingT], Sequence[FileT]],
    show: Callable[[RankingT, FileT, int, dict[str, int]], Hit],
) -> Component:
    """A search of any kind as a component of the fusion."""

    def ask(query: str, wanted: int) -> Ranked | QueryError:
        ranking = rank(query, wanted)
        if isinstance(ranking, QueryError):
            return ranking
        found = {file.path: file for file in files(ranking)}
        return Ranked(tuple(found), lambda path, place, ranks: show(ranking, found[path], place, ranks))

    return ask


@dataclass(frozen=True, slots=True)
class HybridResult:
    """The best files of a query, and why a component contributed nothing.

    Attributes:
        hits: as shown, each with the rank that every component gave it.
        fused: the whole fused order.
        notes: component to reason, for each one that could not take the query.
    """

    hits: tuple[Hit, ...]
    fused: tuple[Fused, ...]
    notes: Mapping[str, str]


class HybridSearch:
    """Fuses components, each with the search that shows its files.

    Args:
        components: by name; a file is shown by the component that ranked it best, ties by the order here.
        search: how many files are shown.
        fusion: constant, and how many files a component contributes.
    """

    __slots__ = ("_components", "_fusion", "_search")

    def __init__(self, components: Mapping[str, Component], search: Search, fusion: Fusion) -> None:
        self._components = dict(components)
        self._search = search
        self._fusion = fusion

    def find(self, query: str) -> HybridResult | QueryError:
        """The answer to one query; an error only where no component can take it."""
        rankings: dict[str, Ranked] = {}
        notes: dict[str, str] = {}
        for name, ask in self._components.items():
            answer = ask(query, self._fusion.files_for_each_component)
            if isinstance(answer, QueryError):
                notes[name] = answer.reason
            else:
                rankings[name] = answer
        if not rankings:
            return QueryError("; ".join(dict.fromkeys(notes.values())))
        fused = reciprocal_rank(
            {name: ranked.paths for name, ranked in rankings.items()},
            constant=self._fusion.constant,
            files_for_each_component=self._fusion.files_for_each_component,
        )
        hits = tuple(self._hit(one, rankings) for one in fused[: self._search.files])
        return HybridResult(hits, fused, notes)

    def _hit(self, fused: Fused, rankings: Mapping[str, Ranked]) -> Hit:
        order = list(self._components)
        shower = min(fused.components, key=lambda name: (fused.components[name], order.index(name)))
        return rankings[shower].show(fused.path, fused.rank, dict(fused.components))
