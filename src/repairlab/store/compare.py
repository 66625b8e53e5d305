"""Two runs of one task, step beside step."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import NamedTuple

from repairlab.store.steps import Step


class Pair(NamedTuple):
    """What stands on one row; a side is ``None`` where the other run has a step that this one lacks."""

    left: Step | None
    right: Step | None

    @property
    def equal(self) -> bool:
        """Whether both records are the same but for their numbers."""
        return self.left is not None and self.right is not None and self.left.content == self.right.content


def paired(left: Sequence[Step], right: Sequence[Step]) -> Iterator[Pair]:
    """Every step of both runs once, each run in its own order.

    Up to the first divergence rows are simply parallel. Behind it the k-th turn of one run stands beside the
    k-th turn of the other (a turn begins with a request), and inside a turn steps of one kind do.
    """
    common = next(
        (n for n, (a, b) in enumerate(zip(left, right, strict=False)) if a.content != b.content),
        min(len(left), len(right)),
    )
    yield from (Pair(a, b) for a, b in zip(left[:common], right[:common], strict=True))
    for one, other in zip_longest(_turns(left[common:]), _turns(right[common:]), fillvalue=()):
        yield from _in_turn(one, other)


def _turns(steps: Sequence[Step]) -> list[tuple[Step, ...]]:
    turns: list[list[Step]] = []
    for step in steps:
        if not turns or _kind(step) == "request:":
            turns.append([])
        turns[-1].append(step)
    return [tuple(turn) for turn in turns]


def _in_turn(left: Sequence[Step], right: Sequence[Step]) -> Iterator[Pair]:
    matcher = SequenceMatcher(None, [*map(_kind, left)], [*map(_kind, right)], autojunk=False)
    for _, a, b, c, d in matcher.get_opcodes():
        yield from (Pair(*both) for both in zip_longest(left[a:b], right[c:d]))


def first_divergence(pairs: Sequence[Pair]) -> int | None:
    """Position of the first row whose sides differ; ``None`` when none do."""
    return next((position for position, pair in enumerate(pairs) if not pair.equal), None)


def first_difference(left: Step, right: Step) -> str:
    """Where in two records of one kind the first difference lies, with both values; for people."""
    return _first(json.loads(left.content), json.loads(right.content), "")


def _first(left: object, right: object, where: str) -> str:
    if isinstance(left, dict) and isinstance(right, dict):
        for key in sorted(left.keys() | right.keys()):
            if left.get(key) != right.get(key):
                return _first(left.get(key), right.get(key), f"{where}.{key}" if where else key)
    if isinstance(left, list) and isinstance(right, list):
        for number, (one, other) in enumerate(zip_longest(left, right)):
            if one != other:
                return _first(one, other, f"{where}[{number}]")
    if isinstance(left, str) and isinstance(right, str):
        at = next(
            (n for n, (a, b) in enumerate(zip(left, right, strict=False)) if a != b),
            min(len(left), len(right)),
        )
        start = max(0, at - 20)
        left, right = left[start : at + 60], right[start : at + 60]
        where = f"{where}, character {at + 1}"
    return f"{where}: {json.dumps(left, ensure_ascii=False)} | {json.dumps(right, ensure_ascii=False)}"


def _kind(step: Step) -> str:
    """Steps of the same kind may stand beside each other: the title's first word."""
    return step.title.partition(" ")[0]
