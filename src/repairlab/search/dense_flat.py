"""Unit vectors and their inner products with a query: every one of them is looked at.

A first pass in single precision, on as many threads as the machine has, only says which rows are worth a
look; what is shown is computed again in double precision, in an order that no thread changes.
"""

from __future__ import annotations

from typing import NamedTuple

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


class FlatIndex:
    """Rows of unit vectors, and their scores against a query. The rows are kept, not copied."""

    __slots__ = ("_vectors", "dimensions", "size")

    def __init__(self, vectors: Matrix) -> None:
        self.size, self.dimensions = vectors.shape
        self._vectors: Matrix = np.ascontiguousarray(vectors, np.float32)

    def scores(self, query: Vector) -> NDArray[np.float32]:
        """The score of each row, within `_MARGIN`, shape (size,).

        Raises:
            IntegrityViolation: the query has another number of dimensions, or is not finite.
        """
        if query.shape != (self.dimensions,) or not np.isfinite(query).all():
            raise IntegrityViolation(
                f"a query vector of shape {query.shape} with {np.count_nonzero(np.isfinite(query))} finite "
                f"numbers was to be compared with vectors of {self.dimensions} dimensions"
            )
        found: NDArray[np.float32] = self._vectors @ query
        return found

    def candidates(self, query: Vector, scores: NDArray[np.float32], wanted: int) -> Candidates:
        """At least `wanted` rows, or all, by the `scores` of this query."""
        if wanted >= self.size:
            rows, bound = np.arange(self.size), -np.inf
        else:
            rows = np.sort(np.argpartition(scores, self.size - wanted)[self.size - wanted :])
            bound = float(scores[rows].min()) + _MARGIN
        return Candidates(rows.tolist(), _products(self._vectors[rows], query).tolist(), bound)


def _products(vectors: Matrix, query: Vector) -> NDArray[np.float64]:
    products: NDArray[np.float64] = np.multiply(vectors, query, dtype=np.float64)
    # No matrix product: the order of its sums would depend on threads. Adding zero turns -0.0 into 0.0.
    rounded: NDArray[np.float64] = np.round(products.sum(axis=1), SCORE_DIGITS) + 0.0
    return rounded
