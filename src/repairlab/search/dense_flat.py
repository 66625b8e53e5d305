"""Unit vectors and their inner products with a query: every one of them is looked at.

faiss searches with one thread a query, which is less than memory can give. So the rows stand in two parts,
each searched by a thread of its own; which thread is first changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, Protocol

import faiss
import numpy as np
from numpy.typing import NDArray

from repairlab.contract.errors import IntegrityViolation
from repairlab.search.vectors import Matrix, Vector

SCORE_DIGITS = 6
_MARGIN = 1e-4
"""More than the single-precision score of two unit vectors of some thousand dimensions can be wrong by."""
_FEWEST_ROWS = 4096
"""Fewer are searched sooner than a thread has started."""


class Candidates(NamedTuple):
    """Some rows with a high score.

    Attributes:
        rows: their numbers.
        scores: of each, rounded.
        bound: no other row has a higher score.
    """

    rows: list[int]
    scores: list[float]
    bound: float


class _Flat(Protocol):
    """The part of ``faiss.IndexFlatIP`` that is used here."""

    def add(self, x: Matrix) -> None: ...

    def search(self, x: Matrix, k: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]: ...

    def get_xb(self) -> object: ...


class _Part:
    """Some neighbouring rows."""

    __slots__ = ("_first", "_flat", "_vectors")

    def __init__(self, vectors: Matrix, first: int) -> None:
        self._first = first
        self._flat: _Flat = faiss.IndexFlatIP(vectors.shape[1])
        self._flat.add(vectors)
        # A view of faiss's own copy, so that the caller's can be freed.
        flat: Matrix = faiss.rev_swig_ptr(self._flat.get_xb(), vectors.size)
        self._vectors = flat.reshape(vectors.shape)

    def candidates(self, query: Vector, wanted: int) -> Candidates:
        """See `FlatIndex.candidates`."""
        size = len(self._vectors)
        count = min(wanted, size)
        if count == 0:
            return Candidates([], [], -np.inf)
        faiss.omp_set_num_threads(1)  # holds for the calling thread
        found_scores, found = self._flat.search(query.reshape(1, -1), count)
        rows = found[0][found[0] >= 0]  # -1 is padding
        bound = -np.inf if count == size else float(found_scores[0][-1]) + _MARGIN
        scores = _products(self._vectors[rows], query).tolist()
        return Candidates((rows + self._first).tolist(), scores, bound)


class FlatIndex:
    """Rows of unit vectors, and their scores against a query."""

    __slots__ = ("_parts", "dimensions", "size")

    def __init__(self, vectors: Matrix) -> None:
        self.size, self.dimensions = vectors.shape
        middle = self.size // 2 if self.size >= _FEWEST_ROWS else self.size
        bounds = ((0, middle), (middle, self.size))
        self._parts = [_Part(vectors[first:last], first) for first, last in bounds if first < last]

    def candidates(self, query: Vector, wanted: int) -> Candidates:
        """At least `wanted` rows, or all.

        Raises:
            IntegrityViolation: the query has another number of dimensions, or is not finite.
        """
        if query.shape != (self.dimensions,) or not np.isfinite(query).all():
            raise IntegrityViolation(
                f"a query vector of shape {query.shape} with {np.count_nonzero(np.isfinite(query))} finite "
                f"numbers was to be compared with vectors of {self.dimensions} dimensions"
            )
        found = self._search(query, wanted)
        return Candidates(
            [row for part in found for row in part.rows],
            [score for part in found for score in part.scores],
            max((part.bound for part in found), default=-np.inf),
        )

    def _search(self, query: Vector, wanted: int) -> Sequence[Candidates]:
        if len(self._parts) < 2:
            return [part.candidates(query, wanted) for part in self._parts]
        with ThreadPoolExecutor(1) as pool:
            second = pool.submit(self._parts[1].candidates, query, wanted)
            return [self._parts[0].candidates(query, wanted), second.result()]


def _products(vectors: Matrix, query: Vector) -> NDArray[np.float64]:
    products: NDArray[np.float64] = np.multiply(vectors, query, dtype=np.float64)
    # No matrix product: the order of its sums would depend on threads. Adding zero turns -0.0 into 0.0.
    rounded: NDArray[np.float64] = np.round(products.sum(axis=1), SCORE_DIGITS) + 0.0
    return rounded
