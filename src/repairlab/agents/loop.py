"""The interactive loop: one policy for every interactive treatment.

An episode ends by ``finish`` or by a budget, never otherwise. Whatever a model writes is an outcome; only the
host, the sandbox or the disk can raise.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from repairlab.agents.budget import Spent, budget_end, may_call_tool, may_run_tests
from repairlab.agents.calls import Call, InvalidCall, parse_call
from repairlab.agents.clocks import Clock
from repairlab.agents.context import ContextBound
from repairlab.agents.toolbox import Answer, Toolbox
from repairlab.contract.canonical import Json
from repairlab.contract.controls import Budgets, Interaction
from repairlab.contract.errors import InfrastructureFailure
from repairlab.contract.outcome import EndReason
from repairlab.contract.tools import Tool
from repairlab.hosts.chat import ChatOutcome, ChatReply, DeadlineReached, RawToolCall, UnparsableCall

Record = Callable[[dict[str, Json]], None]

FINISH = "finish"
CONTEXT_OVERFLOW = "host-context-overflow"
_THINKING = re.compile(r"\A\s*<think>.*?</think>\s*", re.DOTALL)
_SENDABLE_NAME = re.compile(r"^[A-Za-z0-9_-]{1,64}$")
_UNPARSABLE = "The arguments of that call were not JSON, so nothing was executed. "
_CUT = "The reply was cut at its length limit, so no call in it was executed. "


class Model(Protocol):
    """One agent model at a host, with its generation configuration fixed."""

    def ask(self, messages: list[Json], tools: list[Json], seconds_left: float) -> ChatOutcome:
        """Send one request. Failures of the host raise."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The frozen rules of an episode."""

    budgets: Budgets
    interaction: Interaction
    tools: Mapping[str, Tool]
    tool_schemas: list[Json]
    reminder: str


@dataclass(slots=True)
class Tokens:
    """Sums over replies. A reply without usage makes a sum unknown, never zero."""

    prompt: int | None = 0
    completion: int | None = 0

    def add(self, prompt: int | None, completion: int | None) -> None:
        """Count one reply."""
        self.prompt = None if self.prompt is None or prompt is None else self.prompt + prompt
        self.completion = (
            None if self.completion is None or completion is None else self.completion + completion
        )


@dataclass(slots=True)
class Tally:
    """How often what happened: counters of one episode, for the report."""

    counts: dict[str, int] = field(default_factory=dict)

    def add(self, name: str) -> None:
        """One more of `name`."""
        self.counts[name] = self.counts.get(name, 0) + 1


def ask(
    model: Model, messages: list[Json], tools: list[Json], seconds_left: float, tally: Tally
) -> ChatOutcome | None:
    """One request; ``None`` when the host says that the conversation is longer than the context.

    The context was verified at the load, and the conversation is what the system under test made it: the same
    end as when our own bound forbids the request, but counted apart, for it shows the bound too low.
    """
    try:
        return model.ask(list(messages), tools, seconds_left)
    except InfrastructureFailure as failure:
        if failure.kind != CONTEXT_OVERFLOW:
            raise
        tally.add(CONTEXT_OVERFLOW)
        return None


@dataclass(frozen=True, slots=True)
class EpisodeResult:
    """How an episode ended, and what it used."""

    reason: EndReason
    spent: Spent
    tokens: Tokens
    tally: dict[str, int]


class Episode:
    """One run of the loop over one workspace."""

    def __init__(
        self,
        rules: Rules,
        model: Model,
        toolbox: Toolbox,
        clock: Clock,
        bound: ContextBound,
        record: Record,
    ) -> None:
        self._rules = rules
        self._model = model
        self._toolbox = toolbox
        self._clock = clock
        self._bound = bound
        self._record = record
        self._messages: list[Json] = []
        self._spent = Spent()
        self._tokens = Tokens()
        self._tally = Tally()
        self._finished = False
        self._call_number = 0

    def run(self, first_messages: list[Json]) -> EpisodeResult:
        """Converse until ``finish`` or a budget ends it."""
        self._messages = list(first_messages)
        reason = self._next_end()
        while reason is None:
            reason = self._turn() or self._next_end()
        self._record({"type": "end", "reason": reason.value})
        return EpisodeResult(reason, self._spent, self._tokens, dict(sorted(self._tally.counts.items())))

    def _next_end(self) -> EndReason | None:
        if self._finished:
            return EndReason.FINISHED
        budgets = self._rules.budgets
        end = budget_end(self._spent, budgets, self._clock.binding(budgets.binding_clock))
        if end is None and not self._bound.fits(self._messages, self._rules.tool_schemas):
            return EndReason.CONTEXT_EXHAUSTED
        return end

    def _turn(self) -> EndReason | None:
        budgets = self._rules.budgets
        left = budgets.agent_clock_seconds - self._clock.binding(budgets.binding_clock)
        self._spent = self._spent.with_model_call()
        sent = len(self._messages)
        with self._clock.running("model"):
            reply = ask(self._model, self._messages, self._rules.tool_schemas, left, self._tally)
        if reply is None:
            return EndReason.CONTEXT_EXHAUSTED
        if isinstance(reply, DeadlineReached):
            self._tally.add("reply-cut-by-clock")
            return EndReason.AGENT_CLOCK_SPENT
        if isinstance(reply, UnparsableCall):
            self._tokens.add(None, None)
            self._tally.add("unparsable-call")
            self._remind("", _UNPARSABLE)
            return None
        usage = reply.usage
        prompt_tokens = usage.prompt_tokens if usage else None
        self._tokens.add(prompt_tokens, usage.completion_tokens if usage else None)
        self._bound = self._bound.after(prompt_tokens, sent)
        self._take(reply)
        return None

    def _take(self, reply: ChatReply) -> None:
        if reply.finish_reason == "length":
            self._tally.add("cut-at-limit")
            self._remind(spoken(reply.content), _CUT)
        elif reply.tool_calls:
            self._execute_all(reply)
        else:
            self._tally.add(kind_without_call(reply))
            self._remind(spoken(reply.content), "")

    def _remind(self, content: str, preface: str) -> None:
        self._messages.append({"role": "assistant", "content": content})
        self._messages.append({"role": "user", "content": preface + self._rules.reminder})

    def _execute_all(self, reply: ChatReply) -> None:
        calls = [(self._new_id(), raw) for raw in reply.tool_calls]
        limit = self._rules.interaction.argument_bytes
        self._messages.append(
            {
                "role": "assistant",
                "content": spoken(reply.content),
                "tool_calls": [in_history(i, c, limit) for i, c in calls],
            }
        )
        for position, (identifier, raw) in enumerate(calls):
            if raw.form == "object":
                self._tally.add("arguments-as-object")
            text = self._execute(position, identifier, raw)
            self._messages.append({"role": "tool", "tool_call_id": identifier, "content": text})

    def _execute(self, position: int, identifier: str, raw: RawToolCall) -> str:
        limits = self._rules.interaction
        call = parse_call(raw.name, raw.arguments, self._rules.tools, limits.argument_bytes)
        if self._finished:
            return self._answer(
                identifier, raw, "after-finish", Answer("Not executed: the work had ended.", {}, False)
            )
        if isinstance(call, Call) and call.tool == FINISH and position < limits.calls_per_reply:
            self._finished = True
            return self._answer(identifier, raw, FINISH, Answer("The work has ended."))
        self._spent = self._spent.with_tool_call()
        if position >= limits.calls_per_reply:
            text = f"Not executed: one reply may hold at most {limits.calls_per_reply} calls."
            return self._answer(identifier, raw, "too-many-calls", Answer(text, {}, False))
        if not may_call_tool(self._spent, self._rules.budgets):
            return self._answer(
                identifier, raw, "over-budget", Answer("Not executed: no tool calls are left.", {}, False)
            )
        if isinstance(call, InvalidCall):
            return self._answer(identifier, raw, call.kind, Answer(call.message, {}, False))
        return self._run(identifier, raw, call)

    def _run(self, identifier: str, raw: RawToolCall, call: Call) -> str:
        if call.tool == "run_tests":
            if not may_run_tests(self._spent, self._rules.budgets):
                text = "Not executed: no test runs are left."
                return self._answer(identifier, raw, "tests-over-budget", Answer(text, {}, False))
            self._spent = self._spent.with_test_run()
        with self._clock.running("tool"):
            answer = self._toolbox.execute(call)
        kind = call.tool if answer.accepted else f"{call.tool}-refused"
        return self._answer(identifier, raw, kind, answer)

    def _answer(self, identifier: str, raw: RawToolCall, kind: str, answer: Answer) -> str:
        self._tally.add(kind)
        self._record(
            {
                "type": "call",
                "id": identifier,
                "tool": raw.name,
                "kind": kind,
                "accepted": answer.accepted,
                "text": answer.text,
                **answer.facts,
            }
        )
        return answer.text

    def _new_id(self) -> str:
        self._call_number += 1
        return f"call{self._call_number:05d}"


def kind_without_call(reply: ChatReply) -> str:
    """Which counter a reply without a call adds to."""
    if reply.finish_reason == "tool_calls":
        return "call-dropped-by-host"
    if reply.content.strip():
        return "reply-without-call"
    return "reasoning-only" if reply.reasoning.strip() else "empty-reply"


def spoken(content: str) -> str:
    """`content` as later requests show it: without one block of thinking at its beginning.

    A host that leaves thinking in the content would else feed it back, as no host does that sets it apart. A
    block that is not closed, or not opened, stays: where it ends is not known.
    """
    return _THINKING.sub("", content, count=1)


def in_history(identifier: str, raw: RawToolCall, limit_bytes: int) -> Json:
    """A call as later requests show it.

    Hosts read earlier calls again, and fail on names that are no identifiers and on arguments that are no
    JSON object. Such text is quoted whole, so that the model still sees what it wrote. Of arguments that are
    larger than `limit_bytes` only size and digest are shown: the reply is in the transcript once.
    """
    data = raw.arguments.encode("utf-8", "surrogatepass")
    if len(data) > limit_bytes:
        digest = hashlib.sha256(data).hexdigest()
        shown = json.dumps({"not_shown": f"{len(data)} bytes, SHA-256 {digest}"})
        return in_history(identifier, replace(raw, arguments=shown), limit_bytes)
    try:
        valid = isinstance(json.loads(raw.arguments), dict)
    except (ValueError, RecursionError):
        valid = False
    name, arguments = raw.name, raw.arguments if valid else json.dumps({"not_a_json_object": raw.arguments})
    if not _SENDABLE_NAME.match(name):
        name, arguments = "invalid_call", json.dumps({"name": raw.name, "arguments": raw.arguments})
    return {"id": identifier, "type": "function", "function": {"name": name, "arguments": arguments}}
