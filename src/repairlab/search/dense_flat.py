"""Unit vectors and their inner products with a query, on one thread: every one of them is looked at."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import faiss
import numpy as np
from numpy.typing import NDArray

from repairlab.contract.errors import IntegrityViolation
from repairlab.search.vectors import Matrix, Vector

SCORE_DIGITS = 6
_MARGIN = 1e-4
"""More than the single-precision score of two unit vectors of some thousand dimensions can be wrong by."""


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


class FlatIndex:
    """Rows of unit vectors, and their scores against a query."""

    __slots__ = ("_flat", "_vectors", "dimensions", "size")

    def __init__(self, vectors: Matrix) -> None:
        self.size, self.dimensions = vectors.shape
        self._flat: _Flat = faiss.IndexFlatIP(self.dimensions)
        self._flat.add(vectors)
        # A view of faiss's own copy, so that the caller's can be freed.
        flat: Matrix = faiss.rev_swig_ptr(self._flat.get_xb(), self.size * self.dimensions)
        self._vectors = flat.reshape(self.size, self.dimensions)

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
        count = min(wanted, self.size)
        if count == 0:
            return Candidates([], [], -np.inf)
        faiss.omp_set_num_threads(1)  # holds for the calling thread
        found_scores, found = self._flat.search(query.reshape(1, -1), count)
        rows = found[0][found[0] >= 0]  # -1 is padding
        bound = -np.inf if count == self.size else float(found_scores[0][-1]) + _MARGIN
        return Candidates(rows.tolist(), _products(self._vectors[rows], query).tolist(), bound)


def _products(vectors: Matrix, query: Vector) -> NDArray[np.float64]:
    products: NDArray[np.float64] = np.multiply(vectors, query, dtype=np.float64)
    # No matrix product: the order of its sums would depend on threads. Adding zero turns -0.0 into 0.0.
    rounded: NDArray[np.float64] = np.round(products.sum(axis=1), SCORE_DIGITS) + 0.0
    return rounded
