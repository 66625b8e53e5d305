"""Candidates among unit vectors."""

from __future__ import annotations

import faiss
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
    found = index.candidates(vectors[0], index.scores(vectors[0]), wanted)
    scores = np.round((vectors.astype(np.float64) * vectors[0]).sum(axis=1), 6)

    assert len(set(found.rows)) == len(found.rows) >= min(wanted, rows)
    assert found.scores == scores[found.rows].tolist()
    assert found.rows[0] == 0
    others = np.delete(scores, found.rows)
    assert others.max(initial=-np.inf) <= found.bound
    if wanted >= rows:
        assert found.bound == -np.inf
        assert sorted(found.rows) == list(range(rows))


@pytest.mark.parametrize("dimensions", [64, 1024, 4096])
def test_the_scores_are_those_of_faiss_and_within_a_tenth_of_the_margin(dimensions: int):
    chance = np.random.default_rng(dimensions)
    vectors = chance.standard_normal((500, dimensions)).astype(np.float32)
    vectors[250:] = np.abs(vectors[250:])  # all terms of one sign: sums that grow, with the most to round
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    scores = FlatIndex(vectors).scores(vectors[300])
    referee = faiss.IndexFlatIP(dimensions)
    referee.add(vectors)
    expected, rows = referee.search(vectors[300:301], 500)

    assert np.abs(scores[rows[0]] - expected[0]).max() < 1e-5
    assert np.abs(scores - (vectors.astype(np.float64) * vectors[300]).sum(axis=1)).max() < 1e-5
