"""Candidates among unit vectors."""

from __future__ import annotations

import numpy as np
import pytest

from repairlab.search.dense_flat import FlatIndex


@pytest.mark.parametrize("rows", [1, 70, 5001])
@pytest.mark.parametrize("wanted", [1, 64, 6000])
def test_no_other_row_has_a_score_above_the_bound(rows: int, wanted: int):
    chance = np.random.default_rng(rows)
    vectors = chance.standard_normal((rows, 16)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    index = FlatIndex(vectors)
    found = index.candidates(vectors[0], wanted)
    scores = np.round((vectors.astype(np.float64) * vectors[0]).sum(axis=1), 6)

    assert len(set(found.rows)) == len(found.rows) >= min(wanted, rows)
    assert found.scores == scores[found.rows].tolist()
    assert found.rows[0] == 0
    others = np.delete(scores, found.rows)
    assert others.max(initial=-np.inf) <= found.bound
    if wanted >= rows:
        assert found.bound == -np.inf
        assert sorted(found.rows) == list(range(rows))
