"""``metrics.json`` and ``tests.json``: what the analysis reads of a cell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from repairlab.agents.loop import EpisodeResult
from repairlab.contract.canonical import Json
from repairlab.contract.outcome import EndReason, Status, TestOutcome
from repairlab.evaluation.evaluate import Evaluation
from repairlab.evaluation.public import normalise
from repairlab.evaluation.runs import TestRun
from repairlab.store.sealed import SealedCell
from repairlab.store.transcript import CallRecord, Record, StageShown, StageTaken

_FAILURE_CHARACTERS = 4000


class Scored(NamedTuple):
    """What the metrics take from the hidden evaluation."""

    resolved_at_1: int
    verdict: str
    detail: str
    per_test: Mapping[str, TestOutcome]

    @classmethod
    def of(cls, evaluation: Evaluation) -> Scored:
        """From an evaluation just made."""
        return cls(evaluation.resolved_at_1, evaluation.reason.value, evaluation.detail, evaluation.per_test)

    @classmethod
    def recorded(cls, cell: SealedCell) -> Scored:
        """From a sealed cell: for a replay that makes no evaluation."""
        said = cell.metrics
        return cls(said.resolved_at_1, said.verdict, said.verdict_detail, cell.tests.required)


def metrics(
    episode: EpisodeResult, scored: Scored, patch: bytes, transcript: Iterable[Record], label: str
) -> dict[str, Json]:
    """The metrics of one complete cell.

    Args:
        episode: how the agent's work ended.
        scored: the verdict of the hidden tests.
        patch: the reconstructed production patch, maybe empty.
        transcript: the records of ``transcript.jsonl``.
        label: the treatment's label, such as ``controlled adaptation``.
    """
    read, shown, selected = _files(list(transcript))
    passed = sum(outcome is TestOutcome.PASSED for outcome in scored.per_test.values())
    spent = episode.spent
    return {
        "schema_version": 1,
        "resolved_at_1": scored.resolved_at_1,
        "status": (Status.RESOLVED if scored.resolved_at_1 else Status.UNRESOLVED).value,
        "reason": _reason(episode, scored, patch),
        "label": label,
        "end": episode.reason.value,
        "verdict": scored.verdict,
        "verdict_detail": scored.detail,
        "required_tests": len(scored.per_test),
        "required_tests_passed": passed,
        "model_calls": spent.model_calls,
        "tool_calls": spent.tool_calls,
        "public_test_runs": spent.public_test_runs,
        "prompt_tokens": episode.tokens.prompt,
        "completion_tokens": episode.tokens.completion,
        "calls_by_kind": dict(episode.tally),
        "patch_bytes": len(patch),
        "files_selected": _distinct(selected),
        "files_shown": _distinct(shown),
        "files_read": _distinct(read),
        "files_edited": _edited(patch),
    }


class _Files(NamedTuple):
    read: list[str]
    shown: list[str]
    selected: list[str]


def _files(records: Sequence[Record]) -> _Files:
    """Paths by what became of them, each as often as it happened, in that order."""
    found = _Files([], [], [])
    for record in records:
        match record:
            case CallRecord():
                found.shown.extend(one.path for one in record.shown)
                found.read.extend([record.read.path] if record.read else [])
            case StageShown():
                found.read.extend(one.path for one in record.shown)
            case StageTaken():
                found.selected.extend(record.selected)
            case _:
                continue
    return found


def _reason(episode: EpisodeResult, scored: Scored, patch: bytes) -> str:
    """One word on why a cell ended as it did; an edit that was undone is no edit."""
    if scored.resolved_at_1:
        return "resolved"
    if not patch:
        return "no-edit" if episode.reason is EndReason.FINISHED else f"no-edit-{episode.reason.value}"
    return episode.reason.value


def _distinct(paths: Iterable[str]) -> list[Json]:
    """In order of first appearance; bytes of a name that are not UTF-8 are shown as escapes."""
    readable = (path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace") for path in paths)
    return list(dict.fromkeys(readable))


def _edited(patch: bytes) -> list[Json]:
    """Names in the headers of the canonical patch, which has no renames; quoting is git's."""
    names = []
    for line in patch.split(b"\n"):
        if line.startswith(b"diff --git "):
            rest = line.removeprefix(b"diff --git ")
            half = rest[len(rest) // 2 + 1 :]
            names.append(half.decode("utf-8", "replace").strip('"').removeprefix("b/"))
    return list(dict.fromkeys(names))


def test_results(evaluation: Evaluation) -> Json:
    """``tests.json``: the hidden evaluation test by test."""
    run = evaluation.run
    return {
        "schema_version": 1,
        "end": run.end.value,
        "problem": run.problem,
        "exit_code": run.facts.exit_code,
        "runs": evaluation.runs,
        "required": {name: outcome.value for name, outcome in evaluation.per_test.items()},
        "unreadable": {name: _cleaned(text, run) for name, text in run.unreadable.items()},
        "failures": {name: _cleaned(text, run) for name, text in run.failures.items()},
    }


def _cleaned(text: str, run: TestRun) -> str:
    """Text of the runner without what changes from run to run, its end kept: that says most."""
    readable = text.encode("utf-8", "replace").decode()
    return normalise(readable, run.facts.places)[-_FAILURE_CHARACTERS:]
