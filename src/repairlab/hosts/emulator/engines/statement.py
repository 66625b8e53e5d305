"""The statement engine: searches by a frozen policy, and applies the true fix once its place was shown.

It asks queries that follow from the statement alone, opens what comes back, and applies the true fix exactly
when every line that the fix replaces has been *shown* to it in tool results (for a pure insertion both
neighbours, for a new file some file of its package). So it measures the reach of a treatment's search under
this policy: a lower bound of what that search can give, never an outcome of a study.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from repairlab.hosts.emulator.engines.history import (
    PastCall,
    first_user_text,
    past_calls,
    statement_of,
    text_after_statement,
)
from repairlab.hosts.emulator.engines.knowledge import Knowledge, TaskKnowledge
from repairlab.hosts.emulator.engines.protocol import EngineCall, EngineReply, EngineRequest, ToolOffer
from repairlab.hosts.emulator.engines.queries import queries_of, sentence_of
from repairlab.hosts.emulator.engines.replaced import all_shown, needs_of
from repairlab.hosts.emulator.engines.shown import Place, lines_shown, places_in
from repairlab.hosts.emulator.engines.stages import stage_of
from repairlab.hosts.emulator.engines.statement_stages import answer

EXPLORATIONS = 8
"""Searches and reads together: what leaves a patch, a test run and ``finish`` inside twelve replies."""
OPENED_FOR_EACH_SEARCH = 2
_READ_LINES = 200
_NO_SEARCH = frozenset({"read_file", "apply_patch", "run_tests", "finish"})
_DESCRIBED = frozenset({"dense", "lexical", "graph"})
_TEXTS = ("query", "pattern", "text", "symbol", "name")
_MODES = ("substring", "literal")
_NAMED = re.compile(r"^- (?P<path>\S+\.(?:py|go))$", re.MULTILINE)
_TEST = re.compile(r"(^|/)(tests?/|test_[^/]*$|conftest\.py$)|_test\.(py|go)$")
_SIGN = "(calibration model: statement)"


@dataclass(frozen=True, slots=True)
class _Past:
    """The calls so far, by what they were for."""

    calls: tuple[PastCall, ...]
    searches: tuple[PastCall, ...]
    opened: frozenset[tuple[str, int]]

    @classmethod
    def of(cls, calls: Sequence[PastCall]) -> _Past:
        reads = [_read_place(call) for call in calls if call.name == "read_file"]
        return cls(
            tuple(calls), tuple(call for call in calls if call.name not in _NO_SEARCH), frozenset(reads)
        )

    @property
    def explorations(self) -> int:
        return len(self.searches) + sum(call.name == "read_file" for call in self.calls)


class Statement:
    """One call a reply. It keeps nothing between requests: the next step follows from the messages."""

    def __init__(self, knowledge: Knowledge) -> None:
        self._knowledge = knowledge

    def reply(self, request: EngineRequest) -> EngineReply:
        statement = statement_of(request.messages)
        known = self._knowledge.of(statement)
        stage = stage_of(request)
        if stage is not None:
            return answer(request, stage, statement or first_user_text(request.messages), known)
        if not request.tools:
            return _without_tools(request, known)
        past = _Past.of(past_calls(request.messages))
        patched = [call for call in past.calls if call.name == "apply_patch"]
        if patched:
            return _after_patch(request, past, patched[-1])
        shown = lines_shown(call.result for call in past.calls)
        if known is not None and all_shown(needs_of(known.gold_patch), shown):
            call = request.call("apply_patch", diff=known.gold_patch)
            if call is not None:
                return EngineReply(f"Every line that the fix replaces was shown {_SIGN}.", (call,))
        step = _explore(request, statement or first_user_text(request.messages), past)
        if step is not None and past.explorations < EXPLORATIONS:
            return EngineReply(f"Step {past.explorations + 1} of at most {EXPLORATIONS} {_SIGN}.", (step,))
        return _finish(request, f"The place of the fix was not shown {_SIGN}.")


def _after_patch(request: EngineRequest, past: _Past, patch: PastCall) -> EngineReply:
    if not patch.applied:
        return _finish(request, f"The patch was refused {_SIGN}.")
    tests = request.call("run_tests")
    if tests is not None and past.calls[-1].name == "apply_patch":
        return EngineReply(f"The fix is applied; I run the tests {_SIGN}.", (tests,))
    return _finish(request, f"The known fix is applied {_SIGN}.")


def _finish(request: EngineRequest, summary: str) -> EngineReply:
    call = request.call("finish", summary=summary)
    return EngineReply(summary, (call,) if call else ())


def _without_tools(request: EngineRequest, known: TaskKnowledge | None) -> EngineReply:
    """The same rule where everything is shown in the prompt."""
    shown = lines_shown([text_after_statement(request.messages)])
    if known is not None and all_shown(needs_of(known.gold_patch), shown):
        return EngineReply(f"```diff\n{known.gold_patch}```\n")
    return EngineReply(f"The place of the fix was not shown {_SIGN}.")


def _explore(request: EngineRequest, statement: str, past: _Past) -> EngineCall | None:
    """Open places of the newest result that are not open yet; else ask the next query; else go back."""
    since = next((n for n, call in enumerate(reversed(past.calls)) if call.name not in _NO_SEARCH), None)
    if since is not None and since < OPENED_FOR_EACH_SEARCH:
        opening = _open(request, _production(places_in(past.searches[-1].result)), past)
        if opening is not None:
            return opening
    searching = _search(request, statement, len(past.searches))
    if searching is not None:
        return searching
    left = [place for call in past.searches for place in _production(places_in(call.result))]
    return _open(request, [*_named_places(request), *left], past)


def _production(places: Sequence[Place]) -> list[Place]:
    """Without tests: a fix never lies there."""
    return [place for place in places if not _TEST.search(place.path)]


def _open(request: EngineRequest, places: Sequence[Place], past: _Past) -> EngineCall | None:
    for place in places:
        start = max(1, place.line - _READ_LINES // 2)
        if not any(path == place.path and abs(start - at) < _READ_LINES // 2 for path, at in past.opened):
            end = start + _READ_LINES - 1
            return request.call("read_file", path=place.path, start_line=start, end_line=end)
    return None


def _search(request: EngineRequest, statement: str, number: int) -> EngineCall | None:
    tools = [tool for tool in request.tools if tool.name not in _NO_SEARCH]
    queries = queries_of(statement)
    if not tools or number >= len(queries):
        return None
    tool = tools[number % len(tools)]
    query = sentence_of(statement) if tool.name.removeprefix("search_") in _DESCRIBED else queries[number]
    return request.call(tool.name, **_arguments(tool, query))


def _arguments(tool: ToolOffer, query: str) -> dict[str, str]:
    arguments = {name: query for name in _TEXTS if name in tool.arguments}
    choices = tool.choices.get("mode", ())
    if "mode" in tool.arguments:
        arguments["mode"] = next((mode for mode in _MODES if mode in choices), (*choices, _MODES[0])[0])
    return arguments


def _named_places(request: EngineRequest) -> list[Place]:
    """Files that the prompt itself names, each in as many windows as are left to open."""
    paths = list(dict.fromkeys(_NAMED.findall(text_after_statement(request.messages))))
    windows = range(1, EXPLORATIONS * _READ_LINES, _READ_LINES)
    return [Place(path, start + _READ_LINES // 2) for start in windows for path in paths]


def _read_place(call: PastCall) -> tuple[str, int]:
    arguments = json.loads(call.arguments)
    return str(arguments.get("path", "")), int(arguments.get("start_line", 1))
