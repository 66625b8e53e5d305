"""The statement engine in A001: files and places by the words of the statement, the fix where it was shown.

First stage: the files whose path and names share the rarest words with the statement, tests left out. Second
stage: the windows of shown lines that hold the rarest words of it, at most `WINDOWS`. Third stage: the true
fix exactly when the request shows every line that the fix replaces. A word is weighted by the logarithm of
its rarity among the files, or lines, on offer; ties stand in the order in which these are shown.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from repairlab.hosts.emulator.engines.hashing import parts_of
from repairlab.hosts.emulator.engines.knowledge import TaskKnowledge
from repairlab.hosts.emulator.engines.protocol import EngineReply, EngineRequest
from repairlab.hosts.emulator.engines.queries import COMMON
from repairlab.hosts.emulator.engines.replaced import all_shown, needs_of
from repairlab.hosts.emulator.engines.shown import lines_shown
from repairlab.hosts.emulator.engines.stages import Stage, entries_of, fenced, source_of

FILES = 10
WINDOWS = 8
WINDOW_LINES = 40
_SHORTEST = 3
_SHORT = frozenset(re.findall(r"\w+", "the and for not but are its has can was one two all any our you out"))
_TEST = re.compile(r"(^|/)(tests?/|test_[^/]*$|conftest\.py$)|_test\.(py|go)$")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SIGN = "(calibration model: statement)"


class _Window(NamedTuple):
    path: str
    first: int
    last: int


def answer(request: EngineRequest, stage: Stage, statement: str, known: TaskKnowledge | None) -> EngineReply:
    """The reply to the request of a stage."""
    words = words_of(statement)
    if stage is Stage.FILES:
        return EngineReply(fenced(_files(request, words)))
    if stage is Stage.LINES:
        return EngineReply(fenced(_places(request, words)))
    shown = lines_shown([source_of(request)])
    if known is not None and all_shown(needs_of(known.gold_patch), shown):
        return EngineReply(f"```diff\n{known.gold_patch}```\n")
    return EngineReply(f"The place of the fix was not shown {_SIGN}.")


def words_of(text: str) -> frozenset[str]:
    """Identifiers and their parts in lower case, but for short and common words."""
    whole = {word.lower() for word in _IDENTIFIER.findall(text)}
    words = whole | set(parts_of(text))
    return frozenset(word for word in words if len(word) >= _SHORTEST) - COMMON - _SHORT


def _files(request: EngineRequest, words: frozenset[str]) -> list[str]:
    entries = [entry for entry in entries_of(request) if not _TEST.search(entry.path)]
    held = [words & words_of(f"{entry.path} {entry.names}") for entry in entries]
    scores = _scores(held)
    ranked = sorted(range(len(entries)), key=lambda number: (-scores[number], number))
    return [entries[number].path for number in ranked[:FILES] if scores[number] > 0]


def _places(request: EngineRequest, words: frozenset[str]) -> list[str]:
    """Best windows first; each begins at a line with a word of the statement, and none overlaps another."""
    shown = lines_shown([source_of(request)])
    held = {
        (path, number): words & words_of(text)
        for path, lines in shown.items()
        for number, text in lines.items()
    }
    weights = _weights(held.values())
    windows = [_window(path, number, shown[path]) for (path, number), found in held.items() if found]
    gains = {window: _gain(window, held, weights) for window in windows}
    chosen: list[_Window] = []
    for window in sorted(windows, key=lambda one: -gains[one]):
        if len(chosen) < WINDOWS and not any(_overlap(window, other) for other in chosen):
            chosen.append(window)
    return [line for window in chosen for line in (window.path, f"lines: {window.first}-{window.last}")]


def _window(path: str, number: int, lines: Mapping[int, str]) -> _Window:
    last = max(at for at in range(number, number + WINDOW_LINES) if at in lines)
    return _Window(path, number, last)


def _overlap(one: _Window, other: _Window) -> bool:
    return one.path == other.path and one.first <= other.last and other.first <= one.last


def _gain(
    window: _Window, held: Mapping[tuple[str, int], frozenset[str]], weights: Mapping[str, float]
) -> float:
    lines = range(window.first, window.last + 1)
    words = {word for number in lines for word in held.get((window.path, number), ())}
    return math.fsum(weights[word] for word in words)


def _scores(held: Sequence[frozenset[str]]) -> list[float]:
    weights = _weights(held)
    return [math.fsum(weights[word] for word in words) for words in held]


def _weights(held: Iterable[frozenset[str]]) -> dict[str, float]:
    sets = list(held)
    counts = Counter(word for words in sets for word in words)
    return {word: math.log((len(sets) + 1) / count) for word, count in counts.items()}
