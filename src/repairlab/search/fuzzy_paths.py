"""Paths that a query names: a stack trace or a report often says which file is meant.

A named path is a run of letters, digits and ``_ . + - /`` that ends with a suffix of the language. Its last
components are compared with as many of each file's, by rapidfuzz's ratio. The files with the highest ratio,
and among these the most components compared, are meant, if they reach the cut-off and are few enough: a bare
``__init__.py`` says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from rapidfuzz import fuzz, process

from repairlab.contract.controls import NamedPaths

_RUN = re.compile(r"[\w.+\-/]+")


class _Fit(NamedTuple):
    ratio: float
    components: int


def named_paths(query: str, suffixes: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """The paths that `query` names, each as its components, by first place; without ``.`` and ``..``."""
    runs = (run for run in _RUN.findall(query) if run.endswith(tuple(suffixes)))
    split = (tuple(part for part in run.split("/") if part not in ("", ".", "..")) for run in runs)
    return tuple(dict.fromkeys(parts for parts in split if parts and parts[-1] not in suffixes))


def named_files(
    query: str, paths: Sequence[str], suffixes: Sequence[str], rule: NamedPaths
) -> tuple[int, ...]:
    """Indexes among `paths` of the files that `query` names, by the place of the name, then by index."""
    found: dict[int, None] = {}
    for components in named_paths(query, suffixes)[: rule.paths]:
        meant = _meant(components, paths, rule.cutoff)
        if len(meant) <= rule.files:
            found.update(dict.fromkeys(meant))
    return tuple(found)


def _meant(components: tuple[str, ...], paths: Sequence[str], cutoff: int) -> list[int]:
    """Indexes of the files that fit best."""
    split = [path.split("/") for path in paths]
    fits: dict[int, _Fit] = {}
    for size in range(1, len(components) + 1):
        # A file with fewer folders than the name has is compared in full, and only once.
        last = size == len(components)
        chosen = [n for n, parts in enumerate(split) if (last and len(parts) >= size) or len(parts) == size]
        tails = ["/".join(split[number][-size:]) for number in chosen]
        name = "/".join(components[-size:])
        for _, ratio, place in process.extract(
            name, tails, scorer=fuzz.ratio, score_cutoff=cutoff, limit=None
        ):
            fits[chosen[place]] = _Fit(float(ratio), size)
    best = max(fits.values(), default=None)
    return sorted(number for number, fit in fits.items() if fit == best)
