"""Asking one verified instance under an experiment's terms, and keeping what was measured."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from repairlab.contract.canonical import Json
from repairlab.contract.errors import InfrastructureFailure, RefuseToStart
from repairlab.contract.failures import Condition
from repairlab.hosts.asking import ChatHost, Conversation
from repairlab.hosts.chat import ChatOutcome, ChatReply, ChatRequest
from repairlab.hosts.facts import VerifiedFacts
from repairlab.hosts.failures import FailureRules
from repairlab.hosts.observe import conditions_in
from repairlab.hosts.transport import Clock

REPLY_SECONDS = 900.0
_SPEED_TOKENS = 16


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at."""

    what: str
    good: bool
    found: str
    repair: str = ""
    needed: bool = True
    """Whether a run depends on it. What is not needed and not good is for people to judge."""


@dataclass(frozen=True, slots=True)
class Opening:
    """First messages and tools as some treatments send them."""

    name: str
    """The treatments that share it."""
    messages: tuple[Json, ...]
    tools: tuple[Json, ...]


@dataclass(frozen=True, slots=True)
class Terms:
    """How the experiment asks its models."""

    temperature: float
    top_p: float
    seed: int
    completion_tokens: int
    deterministic: bool
    """Whether the experiment promises that equal requests get equal replies."""
    prompt_bound: Callable[[Sequence[Json], Sequence[Json]], int]
    """The token rule: an upper bound for messages and tools."""
    reminder: str
    """The user message that may follow a tool's result."""


@dataclass(frozen=True, slots=True)
class Probe:
    """One request and what came of it."""

    outcome: ChatOutcome
    conditions: tuple[Condition, ...]
    seconds: float
    bound: int
    """Prompt tokens by the token rule."""
    bytes: int
    """Bytes of the messages' texts and the tools."""

    @property
    def reply(self) -> ChatReply | None:
        """The reply, if there was a whole one."""
        return self.outcome if isinstance(self.outcome, ChatReply) else None


class Asker:
    """Asks one instance under the experiment's terms and keeps what was measured."""

    def __init__(
        self, host: ChatHost, rules: FailureRules, verified: VerifiedFacts, terms: Terms, clock: Clock
    ) -> None:
        self.rules = rules
        self.terms = terms
        self.probes: list[Probe] = []
        self.prompts: list[Probe] = []
        """Long new prompts with short replies."""
        self._host = host
        self._verified = verified
        self._clock = clock

    def conversation(self) -> Conversation:
        """A new one, in which prompt tokens must not fall."""
        return Conversation(self._host, self.rules, self._verified.context_tokens)

    def ask(
        self,
        messages: Sequence[Json],
        tools: Sequence[Json],
        max_tokens: int,
        *,
        seed: int | None = None,
        conversation: Conversation | None = None,
    ) -> Probe:
        """One request; see `repairlab.hosts.asking.Conversation.ask` for what it raises."""
        request = ChatRequest(
            model=self._verified.instance_id,
            messages=tuple(one for one in messages if isinstance(one, dict)),
            tools=tuple(one for one in tools if isinstance(one, dict)),
            temperature=self.terms.temperature,
            top_p=self.terms.top_p,
            seed=self.terms.seed if seed is None else seed,
            max_tokens=min(max_tokens, self.terms.completion_tokens),
        )
        started = self._clock()
        outcome = (conversation or self.conversation()).ask(request, started + REPLY_SECONDS).outcome
        seconds = self._clock() - started
        observed = (
            conditions_in(outcome, self._verified.context_tokens) if isinstance(outcome, ChatReply) else ()
        )
        bound = self.terms.prompt_bound(messages, tools)
        self.probes.append(Probe(outcome, observed, seconds, bound, _size(messages, tools)))
        return self.probes[-1]

    def try_once(self, opening: Opening, max_tokens: int, seed: int) -> Probe | None:
        """Like `ask` for an opening; ``None`` where it fails, which another probe will report."""
        try:
            return self.ask(opening.messages, opening.tools, max_tokens, seed=seed)
        except (RefuseToStart, InfrastructureFailure):
            return None

    def prompt_speed(self) -> float | None:
        """Prompt tokens a second, the slowest of the long new prompts; a lower bound."""
        speeds = [
            probe.reply.usage.prompt_tokens / probe.seconds
            for probe in self.prompts
            if probe.reply and probe.reply.usage and probe.seconds > 0
        ]
        return min(speeds, default=None)

    def completion_speed(self) -> float | None:
        """Completion tokens a second of the longest reply; a lower bound."""
        timed = [
            (probe.reply.usage.completion_tokens, probe.seconds)
            for probe in self.probes
            if probe.reply and probe.reply.usage and probe.seconds > 0
        ]
        tokens, seconds = max(timed, default=(0, 0.0))
        return tokens / seconds if tokens >= _SPEED_TOKENS else None


def _size(messages: Sequence[Json], tools: Sequence[Json]) -> int:
    texts = [text_at(message, "content") for message in messages]
    offered = json.dumps(list(tools), ensure_ascii=False) if tools else ""
    return len("".join([*texts, offered]).encode("utf-8", "replace"))


def by_table(rules: FailureRules, what: str, condition: Condition, found: str) -> Finding:
    """A finding that is as grave as the table of failures says."""
    row = rules.of(condition)
    return Finding(what, False, f"{found}: {row.message}", row.repair, needed=rules.refuses(row))


def failed(what: str, failure: RefuseToStart | InfrastructureFailure) -> Finding:
    """A finding that a request or a load did not succeed."""
    return Finding(what, good=False, found=failure.message, repair=failure.repair or "see the message")


def text_at(value: Json, *keys: str) -> str:
    """What stands under `keys`, one inside the other, as text."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return str(value)
