"""A transcript as steps for people: what was added to a request, what came back, what was spent by then.

Everything is derived from the sealed cell: budgets by counting as the loop counts, clocks from the recorded
intervals, seconds of a change of residency from ``timing.json``.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from repairlab.contract.controls import Budgets
from repairlab.store.artifacts import Timing
from repairlab.store.steps_staged import Told, stage_told, tests_line
from repairlab.store.transcript import (
    CallRecord,
    Deadline,
    End,
    Numbered,
    Overflow,
    QueryVector,
    Record,
    Reply,
    Request,
    Retry,
    Shown,
    StageTaken,
    Swap,
    UnparsableCall,
    Validation,
)

_FREE = "finish"


class Budget(NamedTuple):
    """What was spent after a step."""

    model_calls: int
    tool_calls: int
    test_runs: int
    agent_seconds: float
    residency_seconds: float

    def line(self, limits: Budgets) -> str:
        """Spent of allowed, for people."""
        return (
            f"calls {self.model_calls}/{limits.model_calls} model {self.tool_calls}/{limits.tool_calls} tool,"
            f" tests {self.test_runs}/{limits.public_test_runs}, clock {self.agent_seconds:.3f}/"
            f"{limits.agent_clock_seconds:g} s"
        )


@dataclass(frozen=True, slots=True)
class Step:
    """One record of the transcript as it is shown."""

    number: int
    """Of the record, from 0."""
    title: str
    """What it is, on one line."""
    text: str
    """What was said; empty where the title says all."""
    facts: tuple[str, ...]
    """Files shown, read, edited; outcomes of tests; facts of a model."""
    content: str
    """What two runs are compared by: the record without its number."""
    told_before: bool
    """A request that adds nothing but replies and results, which are steps of their own."""
    spent: Budget


@dataclass(slots=True)
class _Counter:
    """Counts as the episode does, and takes the recorded clocks in their order."""

    intervals: deque[tuple[str, float]]
    swaps: deque[float]
    model_calls: int = 0
    tool_calls: int = 0
    test_runs: int = 0
    agent: float = 0.0
    residency: float = 0.0
    messages: list[Any] = field(default_factory=list)
    """Of the last request."""
    settings: dict[str, Any] = field(default_factory=dict)

    def clock(self, kind: str) -> None:
        if self.intervals and self.intervals[0][0] == kind:
            self.agent += self.intervals.popleft()[1]

    def state(self) -> Budget:
        return Budget(self.model_calls, self.tool_calls, self.test_runs, self.agent, self.residency)


def steps(records: Iterable[Record], timing: Timing) -> Iterator[Step]:
    """One step for each record, read forward."""
    counter = _Counter(
        deque((interval.kind, interval.seconds) for interval in timing.agent_intervals),
        deque(_swap_seconds(swap) for swap in timing.swaps),
    )
    for record in records:
        title, text, facts = _told(record, counter)
        told_before = isinstance(record, Request) and not text and not facts
        yield Step(record.n, title, text, facts, _content(record), told_before, counter.state())


def _told(record: Record, counter: _Counter) -> Told:
    match record:
        case Request():
            return _request(record, counter)
        case CallRecord():
            return _call(record, counter)
        case Swap():
            counter.residency += counter.swaps.popleft() if counter.swaps else 0.0
            key = record.verified.get("key")
            return f"residency: {record.to} {key} loaded, verified at level {record.level}", "", ()
        case QueryVector():
            return "query embedded", record.query, (f"embedded as: {record.text}",)
        case Retry():
            return f"reply {record.number} set aside ({record.condition}); the request was sent again", "", ()
        case End():
            return f"end: {record.reason.value}", "", ()
        case _:
            return _stage(record, counter) or _answered(record, counter)


def _stage(record: Numbered, counter: _Counter) -> Told | None:
    """A stage's patch and its validation run on the agent clock, as tools do."""
    if isinstance(record, Validation):
        counter.test_runs += 1
    if isinstance(record, Validation) or (isinstance(record, StageTaken) and record.patch is not None):
        counter.clock("tool")
    return stage_told(record)


def _answered(record: Numbered, counter: _Counter) -> Told:
    counter.clock("model")
    match record:
        case Reply(body=body):
            return "reply", reply_text(body), _usage(body)
        case Deadline(partial=partial):
            return "the agent clock ran out during this reply", _json(partial), ()
        case UnparsableCall():
            return "a call that the host could not read", record.message, ()
        case Overflow():
            return "the host reports an overflow of the context", record.message, ()
        case _:
            return type(record).__name__.lower(), _json(record.model_dump(mode="json")), ()


def _request(record: Request, counter: _Counter) -> Told:
    """What this request adds to the one before it; replies and results in it are steps of their own."""
    counter.model_calls += 1
    messages = record.body.get("messages")
    now: list[Any] = messages if isinstance(messages, list) else []
    before = counter.messages
    fresh = now[: len(before)] != before
    added = now if fresh else now[len(before) :]
    settings = {name: value for name, value in record.body.items() if name != "messages"}
    changed = tuple(
        f"{name}: {_json(settings.get(name))}"
        for name in sorted(settings.keys() | counter.settings.keys())
        if name != "tools" and settings.get(name) != counter.settings.get(name)
    )
    tools = settings.get("tools")
    if tools != counter.settings.get("tools"):
        changed += (f"tools: {', '.join(_tool_names(tools)) or 'none'}",)
    counter.messages, counter.settings = now, settings
    own = [message for message in added if message.get("role") in ("system", "user")]
    text = "\n".join(f"[{message['role']}] {message.get('content')}" for message in own)
    start = "a conversation of" if fresh or not before else "the conversation and"
    return f"request: {start} {len(added)} new messages, {len(now)} in all", text, changed


def _call(record: CallRecord, counter: _Counter) -> Told:
    if record.kind not in (_FREE, "after-finish"):
        counter.tool_calls += 1
    executed = record.tool != _FREE and record.kind in (record.tool, f"{record.tool}-refused")
    if executed:
        counter.clock("tool")
        counter.test_runs += record.tool == "run_tests"
    became = "" if record.accepted else f" ({record.kind}: not accepted)"
    return f"{record.tool}{became}", record.text, tuple(_call_facts(record))


def _call_facts(record: CallRecord) -> Iterator[str]:
    yield from (f"shown: {_shown(file)}" for file in record.shown)
    if record.read:
        yield f"opened: {record.read.path}:{record.read.start_line}-{record.read.end_line}"
    if record.patch:
        yield from (f"edited: {path}" for path in record.patch.changed)
        if record.patch.repairs:
            yield f"diff repaired: {', '.join(record.patch.repairs)}"
        if record.patch.refused:
            yield f"diff refused: {record.patch.refused}"
    if record.test_run:
        yield tests_line(record.test_run)


def _shown(file: Shown) -> str:
    ranks = ", ".join(f"{name} {rank}" for name, rank in sorted(file.components.items()))
    return f"{file.path}:{file.start_line}-{file.end_line} [{ranks}]"


def reply_text(body: object) -> str:
    """Content, reasoning and calls of a reply as text; the whole body where it has another form."""
    match body:
        case {"choices": [{"message": dict() as message}, *_]}:
            pass
        case _:
            return _json(body)
    parts = []
    if reasoning := message.get("reasoning_content") or message.get("reasoning"):
        parts.append(f"(reasoning) {reasoning}")
    if content := message.get("content"):
        parts.append(str(content))
    for call in message.get("tool_calls") or ():
        function = call.get("function", {})
        parts.append(f"{function.get('name')}({function.get('arguments')})")
    return "\n".join(parts)


def _usage(body: object) -> tuple[str, ...]:
    usage = body.get("usage") if isinstance(body, dict) else None
    if not isinstance(usage, dict):
        return ("tokens: unknown",)
    return (f"tokens: {usage.get('prompt_tokens')} in, {usage.get('completion_tokens')} out",)


def _tool_names(tools: object) -> list[str]:
    return [tool["function"]["name"] for tool in tools] if isinstance(tools, list) else []


def _swap_seconds(swap: object) -> float:
    seconds = swap.get("seconds") if isinstance(swap, dict) else None
    return float(seconds) if isinstance(seconds, int | float) else 0.0


def _content(record: Numbered) -> str:
    return _json(record.model_dump(mode="json", exclude={"n"}))


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
