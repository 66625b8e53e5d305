"""The agent model of one cell: a verified instance at a host, asked with one fixed configuration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from repairlab.agents.loop import CONTEXT_OVERFLOW
from repairlab.contract.canonical import Json
from repairlab.contract.errors import InfrastructureFailure
from repairlab.hosts.asking import Conversation
from repairlab.hosts.chat import ChatOutcome, ChatReply, ChatRequest, DeadlineReached
from repairlab.hosts.client import LMStudioClient
from repairlab.hosts.facts import VerifiedFacts
from repairlab.hosts.failures import FailureRules
from repairlab.hosts.reader import Unpaid


class Resident(Protocol):
    """Who keeps the agent at the host; `repairlab.runner.residence.Residence` does."""

    def to_agent(self) -> VerifiedFacts:
        """The agent, loaded again if something else took its place."""

    def unpaid(self, most_seconds: float) -> Unpaid | None:
        """Who takes the time before the next reply's first token, where it follows a change of residency."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """What every request of a cell says about sampling."""

    temperature: float
    top_p: float
    seed: int
    completion_tokens: int


def chat_request(instance: str, messages: list[Json], tools: list[Json], sampling: Sampling) -> ChatRequest:
    """The request that an episode's messages and tools make."""
    return ChatRequest(
        model=instance,
        messages=tuple(m for m in messages if isinstance(m, dict)),
        tools=tuple(t for t in tools if isinstance(t, dict)),
        temperature=sampling.temperature,
        top_p=sampling.top_p,
        seed=sampling.seed,
        max_tokens=sampling.completion_tokens,
    )


class HostModel:
    """Asks one instance and writes each request and each reply, whole, to the transcript.

    `resident` brings the agent back to the host if something else took its place, and takes the time that the
    reply after that pays for it.
    """

    def __init__(
        self,
        client: LMStudioClient,
        rules: FailureRules,
        verified: VerifiedFacts,
        sampling: Sampling,
        clock: Callable[[], float],
        record: Callable[[dict[str, Json]], None],
        resident: Resident | None = None,
    ) -> None:
        self._conversation = Conversation(
            client, rules, verified.context_tokens, lambda retry: record(retry.facts())
        )
        self._instance = verified.instance_id
        self._most_unpaid = client.silence_seconds
        self._sampling = sampling
        self._clock = clock
        self._record = record
        self._resident = resident

    def ask(self, messages: list[Json], tools: list[Json], seconds_left: float) -> ChatOutcome:
        """One request. See `repairlab.hosts.client.LMStudioClient.chat` for what can come back or raise."""
        unpaid = None
        if self._resident is not None:
            self._instance = self._resident.to_agent().instance_id
            unpaid = self._resident.unpaid(self._most_unpaid)
        request = chat_request(self._instance, messages, tools, self._sampling)
        self._record({"type": "request", "body": request.body()})
        try:
            outcome = self._conversation.ask(request, self._clock() + seconds_left, unpaid).outcome
        except InfrastructureFailure as failure:
            if failure.kind == CONTEXT_OVERFLOW:
                self._record({"type": "overflow", "message": failure.message})
            raise
        self._record(_reply_record(outcome))
        return outcome


def _reply_record(outcome: ChatOutcome) -> dict[str, Json]:
    if isinstance(outcome, ChatReply):
        return {"type": "reply", "body": outcome.raw}
    if isinstance(outcome, DeadlineReached):
        return {"type": "deadline", "partial": outcome.partial}
    return {"type": "unparsable-call", "message": outcome.message, "body": outcome.raw}
