"""The requests of one episode: repeated where the table says so, and watched for a prompt that shrinks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from repairlab.contract.canonical import Json
from repairlab.contract.failures import Condition
from repairlab.hosts.chat import ChatOutcome, ChatReply, ChatRequest
from repairlab.hosts.failures import FailureRules
from repairlab.hosts.observe import conditions_in
from repairlab.hosts.reader import Unpaid


class ChatHost(Protocol):
    """What answers; see `repairlab.hosts.client.LMStudioClient`."""

    def chat(self, request: ChatRequest, deadline: float, unpaid: Unpaid | None = None) -> ChatOutcome: ...


@dataclass(frozen=True, slots=True)
class Retry:
    """A reply that was set aside because the table lets its request be sent again."""

    condition: Condition
    number: int
    """Which repetition follows, from 1."""
    raw: Json
    """The reply set aside, whole."""

    def facts(self) -> dict[str, Json]:
        """For the transcript."""
        return {"type": "retry", "condition": self.condition, "number": self.number, "body": self.raw}


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of one request."""

    outcome: ChatOutcome
    conditions: tuple[Condition, ...]
    """What is remarkable about the reply; empty for an outcome that is no reply."""
    retries: tuple[Retry, ...]


class Conversation:
    """One episode with one instance.

    Args:
        host: the client.
        rules: the frozen table of failures.
        context_tokens: verified context of the instance.
        on_retry: told of each repetition before the request is sent again.
    """

    def __init__(
        self,
        host: ChatHost,
        rules: FailureRules,
        context_tokens: int,
        on_retry: Callable[[Retry], None] | None = None,
    ) -> None:
        self._host = host
        self._rules = rules
        self._context_tokens = context_tokens
        self._on_retry = on_retry
        self._messages = 0
        self._prompt_tokens = 0

    def ask(self, request: ChatRequest, deadline: float, unpaid: Unpaid | None = None) -> Asked:
        """Send `request`, again as often as the table allows for what came back.

        Args:
            request: what is asked.
            deadline: reading of the host's clock at which the agent's time is over.
            unpaid: of the first sending alone: a repetition finds the conversation read already. The time
                that it gives back is the agent's for the repetitions too.

        Raises:
            InfrastructureFailure: what the client raises; ``host-prompt-truncated``; and
                ``host-context-overflow`` for an empty answer to a prompt that fills the context.
        """
        retries: list[Retry] = []
        used: Counter[Condition] = Counter()
        given: list[float] = []
        first = unpaid and Unpaid(
            unpaid.most_seconds, lambda seconds: _both(given.append, unpaid.tell, seconds)
        )
        while True:
            outcome = self._host.chat(request, deadline + sum(given), None if retries else first)
            if not isinstance(outcome, ChatReply):
                return Asked(outcome, (), tuple(retries))
            self._watch(request, outcome)
            conditions = conditions_in(outcome, self._context_tokens)
            again = next((one for one in conditions if used[one] < self._rules.of(one).retries), None)
            if again is None:
                break
            used[again] += 1
            retries.append(Retry(again, used[again], outcome.raw))
            if self._on_retry:
                self._on_retry(retries[-1])
        if "context-overflow" in conditions:
            raise self._rules.noticed(
                "context-overflow", "an empty answer to a prompt that fills the context"
            )
        return Asked(outcome, conditions, tuple(retries))

    def _watch(self, request: ChatRequest, reply: ChatReply) -> None:
        if reply.usage is None:
            return
        counted, messages = reply.usage.prompt_tokens, len(request.messages)
        if messages > self._messages and counted < self._prompt_tokens:
            before = f"{self._prompt_tokens} for {self._messages}"
            what = f"{counted} prompt tokens for {messages} messages after {before}"
            raise self._rules.noticed("prompt-shrank", what)
        self._messages, self._prompt_tokens = messages, counted


def _both(one: Callable[[float], None], other: Callable[[float], None], seconds: float) -> None:
    one(seconds)
    other(seconds)
