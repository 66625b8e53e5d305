"""What the model sees of a public test run: built from the structured report, the same text every time."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from repairlab.contract import controls
from repairlab.contract.outcome import TestOutcome
from repairlab.contract.task import Task
from repairlab.evaluation.runs import RunEnd, Runner, TestRequest, TestRun
from repairlab.evaluation.sandbox.model import Sandbox, Tree

_ORDER = (
    TestOutcome.PASSED,
    TestOutcome.FAILED,
    TestOutcome.ERROR,
    TestOutcome.SKIPPED,
    TestOutcome.XFAILED,
    TestOutcome.XPASSED,
    TestOutcome.NOT_RUN,
)
_SHOWN = frozenset({TestOutcome.FAILED, TestOutcome.ERROR})
_REPLACEMENTS = (
    (re.compile(r"/(?:private/)?(?:tmp|var/folders)/[\w./+-]*"), "<tmp>"),
    (re.compile(r"\b0x[0-9a-fA-F]{4,}\b"), "0x..."),
    (re.compile(r"(?i)\b((?:random[ _-]?)?seed)(\s*(?:[:=]|is)?\s*)\d+\b"), r"\1\2..."),
    (re.compile(r"\b\d+\.\d{2,}(\s?)(s|sec|secs|seconds)\b"), r"...\1\2"),
    (re.compile(r"\b(pid|process)([ =:]+)\d+\b"), r"\1\2..."),
    (re.compile(r"\bgoroutine \d+\b"), "goroutine ..."),
    (re.compile(r"(\.go:\d+) \+0x[0-9a-f]+\b"), r"\1"),
)
_CUT = "... ({} more lines)"


@dataclass(frozen=True, slots=True)
class PublicResult:
    """A public test run: the text for the model, and the run for the record."""

    text: str
    run: TestRun


def run_public_tests(
    task: Task,
    template: Path,
    changes: Mapping[str, bytes | None],
    runner: Runner,
    sandbox: Sandbox,
    rules: controls.Evaluation,
    line_characters: int,
) -> PublicResult:
    """Run the task's public allowlist on base + `changes`.

    Raises:
        InfrastructureFailure: see `runs.Runner`.
    """
    request = TestRequest(
        tree=Tree(template, changes),
        select=None,
        files=task.public_tests,
        wall_seconds=task.limits.public_seconds,
        memory_bytes=task.limits.memory_bytes,
        processes=task.limits.processes,
    )
    run = runner.run(request, sandbox)
    return PublicResult(render(run, rules, task.limits.public_seconds, line_characters), run)


def render(run: TestRun, rules: controls.Evaluation, limit_seconds: int, line_characters: int) -> str:
    """The text for the model: what happened, counts, the first failures by identifier."""
    blocks = [_headline(run, limit_seconds)]
    items = [(f"ERROR collecting {name}", text) for name, text in sorted(run.unreadable.items())]
    items += [
        (f"{run.outcomes[name].upper()} {name}", run.failures.get(name, ""))
        for name in sorted(run.outcomes)
        if run.outcomes[name] in _SHOWN
    ]
    for title, text in items[: rules.shown_failures]:
        blocks.append(
            "\n".join([title, *_shortened(normalise(text, run.facts.places), rules.shown_failure_lines)])
        )
    if len(items) > rules.shown_failures:
        blocks.append(f"({len(items) - rules.shown_failures} more failures are not shown)")
    lines = "\n\n".join(blocks).split("\n")
    return "\n".join(_cut_line(line, line_characters) for line in lines)


def normalise(text: str, places: Mapping[str, str]) -> str:
    """`text` without what changes from run to run: places, temporary paths, addresses, seeds, durations."""
    named = {"repo": "", "env": "<env>/", "go": "<go>/", "runner": "<runner>/", "home": "<home>/"}
    for name, place in sorted(places.items(), key=lambda item: (-len(item[1]), item[0])):
        if place and name in named:
            text = text.replace(f"{place}/", named[name])
        elif place and name == "tmp":
            text = re.sub(rf"{re.escape(place)}/[\w./+-]*", "<tmp>", text)
    for pattern, replacement in _REPLACEMENTS:
        text = pattern.sub(replacement, text)
    return text


def _headline(run: TestRun, limit_seconds: int) -> str:
    counts = Counter(run.outcomes.values())
    parts = [f"{counts[outcome]} {outcome}" for outcome in _ORDER if counts[outcome]]
    if run.unreadable:
        parts.append(f"{len(run.unreadable)} not collected")
    said = {
        RunEnd.WALL_TIME: f"The public tests were stopped after {limit_seconds} seconds.",
        RunEnd.MEMORY: "The public tests were stopped: too much memory.",
        RunEnd.PROCESSES: "The public tests were stopped: too many processes.",
        RunEnd.INTERRUPTED: "The public tests were interrupted from within.",
        RunEnd.INTERNAL_ERROR: "The test runner failed on this code.",
        RunEnd.USAGE_ERROR: "The test runner could not load the tests.",
        RunEnd.NOTHING_COLLECTED: "No public test could be collected.",
    }
    end = said.get(run.end, "" if run.complete else "The test runner ended before the tests were over.")
    return " ".join(filter(None, (f"Public tests: {', '.join(parts) or 'none ran'}.", end)))


def _shortened(text: str, limit: int) -> list[str]:
    """At most `limit` lines; the last ones say most about a failure, so the middle goes."""
    lines = text.strip("\n").split("\n")
    if len(lines) <= limit:
        return lines
    head = limit // 3
    tail = limit - head - 1
    return [*lines[:head], _CUT.format(len(lines) - head - tail), *lines[len(lines) - tail :]]


def _cut_line(line: str, limit: int) -> str:
    return line if len(line) <= limit else f"{line[:limit]}... ({len(line) - limit} more characters)"
