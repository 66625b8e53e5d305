"""The navigator: knows the true fix, goes straight there with the tools on offer, and applies it.

It checks the plumbing of workspace, patch, reconstruction and evaluation. It is never a figure of a study.
"""

from __future__ import annotations

from collections.abc import Sequence

from repairlab.hosts.emulator.engines.floor import Floor
from repairlab.hosts.emulator.engines.history import PastCall, past_calls, statement_of
from repairlab.hosts.emulator.engines.hunks import Hunk, hunks_of
from repairlab.hosts.emulator.engines.knowledge import Knowledge, TaskKnowledge
from repairlab.hosts.emulator.engines.protocol import EngineCall, EngineReply, EngineRequest
from repairlab.hosts.emulator.engines.shown import lines_shown
from repairlab.hosts.emulator.engines.stages import Stage, entries_of, fenced, source_of, stage_of

READS = 3
_AROUND = 10
_READ_LINES = 200
_QUERY_CHARACTERS = 200
_SIGN = "(calibration model: navigator)"


class Navigator:
    """One call a reply: a search, up to three reads, the patch, the tests once, finish."""

    def __init__(self, knowledge: Knowledge) -> None:
        self._knowledge = knowledge
        self._floor = Floor()

    def reply(self, request: EngineRequest) -> EngineReply:
        known = self._knowledge.of(statement_of(request.messages))
        if known is None:
            reply = self._floor.reply(request)
            return EngineReply(f"I do not know this task {_SIGN}. {reply.content}", reply.calls)
        stage = stage_of(request)
        if stage is not None and stage is not Stage.REPAIR:
            return EngineReply(fenced(_localised(request, stage, known)))
        if not request.tools:
            return EngineReply(f"```diff\n{known.gold_patch}```\n")
        past = past_calls(request.messages)
        if any(call.name == "apply_patch" and not call.applied for call in past):
            return _finish(request, f"The patch was refused; I finish {_SIGN}.")
        plan = _plan(request, known)
        if len(past) < len(plan):
            return EngineReply(f"Step {len(past) + 1} of {len(plan)} {_SIGN}.", (plan[len(past)],))
        return _finish(request, _summary(past))


def _localised(request: EngineRequest, stage: Stage, known: TaskKnowledge) -> list[str]:
    """Files and lines of the fix. Where it only creates files, the first place there is stands for them."""
    if stage is Stage.FILES:
        created = set(known.created_files)
        files = [path for path in known.production_files if path not in created]
        return files or [entry.path for entry in entries_of(request)[:1]]
    places = [
        line
        for hunk in hunks_of(known.gold_patch)
        if hunk.path is not None and hunk.length
        for line in (hunk.path, f"lines: {hunk.start}-{hunk.start + hunk.length - 1}")
    ]
    first = next(iter(lines_shown([source_of(request)])), "")
    return places or [first, "line: 1"]


def _summary(past: Sequence[PastCall]) -> str:
    applied = any(call.name == "apply_patch" for call in past)
    return f"{'The known fix is applied' if applied else 'No way to apply the known fix'} {_SIGN}."


def _finish(request: EngineRequest, summary: str) -> EngineReply:
    call = request.call("finish", summary=summary)
    return EngineReply(summary, (call,) if call else ())


def _plan(request: EngineRequest, known: TaskKnowledge) -> tuple[EngineCall, ...]:
    """All calls before ``finish``, in order, of those tools that are on offer."""
    hunks = hunks_of(known.gold_patch)
    query = _distinctive_line(hunks)
    calls = [request.call("search", query=query, mode="substring") if query else None]
    calls += [
        request.call("read_file", path=path, start_line=start, end_line=end)
        for path, start, end in _windows(hunks)[:READS]
    ]
    calls.append(request.call("apply_patch", diff=known.gold_patch))
    calls.append(request.call("run_tests"))
    return tuple(call for call in calls if call is not None)


def _distinctive_line(hunks: Sequence[Hunk]) -> str:
    """The longest line that the fix replaces, or for pure insertions the longest beside them."""
    removed = [line.strip() for hunk in hunks for line in hunk.removed]
    beside = [line.strip() for hunk in hunks for line in hunk.context]
    lines = [line for line in removed if line] or [line for line in beside if line]
    return max(lines, key=len)[:_QUERY_CHARACTERS].strip() if lines else ""


def _windows(hunks: Sequence[Hunk]) -> list[tuple[str, int, int]]:
    """Path, first and last line to read, each window as wide as one read allows."""
    windows: list[tuple[str, int, int]] = []
    for hunk in hunks:
        if hunk.path is None:
            continue
        start = max(1, hunk.start - _AROUND)
        end = min(start + _READ_LINES - 1, hunk.start + hunk.length + _AROUND)
        if windows and windows[-1][0] == hunk.path and end - windows[-1][1] < _READ_LINES:
            windows[-1] = (hunk.path, windows[-1][1], max(end, windows[-1][2]))
        else:
            windows.append((hunk.path, start, end))
    return windows
