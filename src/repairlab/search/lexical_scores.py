"""Scores of a query, from the postings of an index: pure arithmetic, summed in query order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from repairlab.search.lexical_index import LexicalIndex, Scores

Places = NDArray[np.intp]
NOTHING = -np.inf
"""The score of a chunk or a file that holds no term. One that holds one is a hit whatever its score."""


class Term(NamedTuple):
    """A token of the index that a query asks for: its number and the factor on its impacts."""

    token: int
    weight: float


def chunk_scores(index: LexicalIndex, terms: Sequence[Term]) -> Scores:
    """The score of every chunk, shape (chunks,); `NOTHING` where a chunk holds no term.

    With weights of 1 the others are those of rank-bm25 to the last bit.
    """
    scores = np.zeros(len(index.starts))
    for token, weight in terms:
        first, last = index.bounds[token], index.bounds[token + 1]
        gains = index.impacts[first:last]
        scores[index.chunks[first:last]] += gains if weight == 1 else gains * weight
    if all(index.idf[token] > 0 for token, _ in terms):
        scores[scores == 0] = NOTHING
        return scores
    held = np.zeros(len(scores), dtype=bool)
    for token, _ in terms:
        held[index.chunks[index.bounds[token] : index.bounds[token + 1]]] = True
    scores[~held] = NOTHING
    return scores


def file_scores(index: LexicalIndex, scores: Scores) -> Scores:
    """The greatest score among the chunks of each file, shape (files,); `NOTHING` for one without."""
    result = np.full(len(index.file_bounds) - 1, NOTHING)
    filled = index.filled_files
    if len(filled):
        result[filled] = np.maximum.reduceat(scores, index.file_bounds[filled])
    return result


def best(scores: Scores, most: int) -> list[int]:
    """At most `most` positions that are not `NOTHING`, highest score first, ties by position."""
    found = np.flatnonzero(scores > NOTHING)
    if len(found) > most > 0:
        values = scores[found]
        least = np.partition(values, len(found) - most)[len(found) - most]
        found = found[values >= least]
    order = np.argsort(-scores[found], kind="stable")
    ordered: list[int] = found[order][:most].tolist()
    return ordered
