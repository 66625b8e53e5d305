"""A small complete matrix for the models."""

from __future__ import annotations

import numpy as np
import pytest

from repairlab.analysis.statistics import Outcomes


@pytest.fixture(scope="module")
def outcomes() -> Outcomes:
    """24 tasks of two repositories, three arms of rising rate, two models."""
    rng = np.random.Generator(np.random.PCG64(5))
    latent = rng.normal(size=(24, 1, 1)) + rng.normal(size=(24, 3, 2))
    resolved = (latent < np.array([-0.9, -0.2, 0.6])[None, :, None]).astype(np.int64)
    tasks = tuple(f"t{place:02d}" for place in range(24))
    return Outcomes(tasks, ("go",) * 12 + ("py",) * 12, ("A", "B", "C"), ("M1", "M2"), resolved)
