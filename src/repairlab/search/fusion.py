"""Fusion of rankings: pure functions from ranked paths to ranked paths.

A ranking is a sequence of distinct paths, best first; ranks count from 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import islice
from typing import NamedTuple

from repairlab.search.blobs import path_bytes

DENSE = "dense"
EXACT = "exact"


class Fused(NamedTuple):
    """One file of a fused ranking.

    Attributes:
        path: the file.
        rank: place in the fused ranking, from 1.
        components: which component put it at which rank, by ascending name.
    """

    path: str
    rank: int
    components: dict[str, int]


def reciprocal_rank_score(components: Mapping[str, int], constant: int) -> Fraction:
    """The sum of 1 / (constant + rank), exact: no order of summing and no rounding makes or breaks a tie.

    Cormack, Clarke and Buettcher (2009), "Reciprocal rank fusion outperforms Condorcet and individual rank
    learning methods".
    """
    return sum((Fraction(1, constant + rank) for rank in components.values()), Fraction(0))


def reciprocal_rank(
    rankings: Mapping[str, Sequence[str]], *, constant: int, files_for_each_component: int
) -> tuple[Fused, ...]:
    """Every file that a component ranks, by descending score, ties by path bytes.

    Args:
        rankings: by component; a file that one does not rank gets nothing from it.
        constant: added to each rank (``fusion.constant``).
        files_for_each_component: a ranking is cut behind so many files.
    """
    ranks: dict[str, dict[str, int]] = {}
    for component in sorted(rankings):
        best = _distinct(component, rankings[component])[:files_for_each_component]
        for rank, path in enumerate(best, start=1):
            ranks.setdefault(path, {})[component] = rank
    ordered = sorted(
        ranks, key=lambda path: (-reciprocal_rank_score(ranks[path], constant), path_bytes(path))
    )
    return tuple(Fused(path, rank, ranks[path]) for rank, path in enumerate(ordered, start=1))


def dense_first(dense: Sequence[str], exact: Sequence[str], *, files: int) -> tuple[Fused, ...]:
    """At most `files` files: those of `dense`, then those of `exact` that are not among them.

    A file of `dense` that `exact` ranks as well carries both ranks.

    Args:
        dense: files of the best chunks, in the order of each file's best one.
        exact: every matching file, in the order of exact search.
        files: how many are shown (``search.files``).
    """
    first = _distinct(DENSE, dense)
    chosen = frozenset(first)
    exact_ranks = {path: rank for rank, path in enumerate(_distinct(EXACT, exact), start=1)}
    backfill = (path for path in exact if path not in chosen)
    ordered = [*first, *islice(backfill, max(0, files - len(first)))][:files]
    dense_ranks = {path: rank for rank, path in enumerate(first, start=1)}
    return tuple(
        Fused(path, place, _ranks({DENSE: dense_ranks, EXACT: exact_ranks}, path))
        for place, path in enumerate(ordered, start=1)
    )


def _ranks(rankings: Mapping[str, Mapping[str, int]], path: str) -> dict[str, int]:
    return {component: ranks[path] for component, ranks in rankings.items() if path in ranks}


def _distinct(component: str, ranking: Sequence[str]) -> Sequence[str]:
    if len(frozenset(ranking)) != len(ranking):
        raise ValueError(f"the ranking of {component} names a file twice")
    return ranking
