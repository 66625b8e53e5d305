"""Agent and embedder by turns in one cell, never together, and the clock that this is kept off."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Literal

from repairlab.agents.clocks import AgentClock, Monotonic, Work
from repairlab.contract.canonical import Json
from repairlab.hosts.facts import ModelFacts, VerifiedFacts
from repairlab.hosts.failures import FailureRules
from repairlab.hosts.reader import Unpaid
from repairlab.hosts.residency import Residency

Role = Literal["agent", "embedder"]


@dataclass(slots=True)
class CellClock:
    """The clocks of one cell: the agent's stands still while models are loaded and unloaded.

    So it does until the first token of the reply after such a change: that reply alone has the whole
    conversation read again.
    """

    now: Monotonic
    residency_seconds: float = 0.0
    agent: AgentClock = field(init=False)
    started: float = field(init=False)

    def __post_init__(self) -> None:
        self.started = self.now()
        self.agent = AgentClock(self._without_residency)

    def _without_residency(self) -> float:
        return self.now() - self.residency_seconds

    @contextmanager
    def residency(self) -> Iterator[None]:
        """Keep the time inside the block off the agent's clock."""
        begun = self.now()
        try:
            yield
        finally:
            self.residency_seconds += self.now() - begun

    def move(self, seconds: float) -> None:
        """Take `seconds` that just went by off the agent's clock."""
        self.residency_seconds += seconds

    def running(self, kind: Work) -> AbstractContextManager[None]:
        """Count the time inside the block, but for changes of residency in it."""
        return self.agent.running(kind)

    def binding(self, clock: Literal["agent", "wall"]) -> float:
        """Reading of the clock that the frozen controls name."""
        return self.agent.agent_seconds() if clock == "agent" else self.now() - self.started


@dataclass(slots=True)
class Swap:
    """One change of residency inside an episode, for ``timing.json``."""

    to: Role
    seconds: float
    """Of unloading, loading and verifying."""
    transition: Json
    first_token_seconds: float | None = None
    """From the next request to the agent until the first token of its reply; ``None`` where none was seen."""

    def facts(self) -> Json:
        """All facts as JSON values."""
        return {
            "to": self.to,
            "seconds": self.seconds,
            "transition": self.transition,
            "first_token_seconds": self.first_token_seconds,
        }


class Residence:
    """Who is resident at the host during one episode.

    Args:
        residency: owner of the host's models; the agent was just loaded through it.
        agent: what is pinned of the agent.
        verified: what was verified of it at the start of the cell.
        embedder: what is pinned of the embedder; ``None`` for a cell that embeds nothing.
        clock: of the cell.
        rules: the frozen table of failures.
        record: writes to the transcript.
        aside: entered for each change, so that its requests are not taken for the agent's.
    """

    def __init__(
        self,
        residency: Residency,
        agent: ModelFacts,
        verified: VerifiedFacts,
        embedder: ModelFacts | None,
        clock: CellClock,
        rules: FailureRules,
        record: Callable[[dict[str, Json]], None],
        aside: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self._aside = aside
        self._residency = residency
        self._agent = agent
        self._first = verified
        self._verified = verified
        self._embedder = embedder
        self._clock = clock
        self._rules = rules
        self._record = record
        self._role: Role = "agent"
        self._changed = False
        self.swaps: list[Swap] = []

    def to_embedder(self) -> VerifiedFacts:
        """The embedder, resident alone.

        Raises:
            InfrastructureFailure: the agent was not what was verified until now, or the host failed.
        """
        if self._embedder is None:
            raise AssertionError("a treatment without dense retrieval embeds")
        if self._role != "embedder":
            self._change("embedder", self._embedder)
        return self._verified

    def to_agent(self) -> VerifiedFacts:
        """The agent, resident alone, and the same as at the start of the cell.

        Raises:
            InfrastructureFailure: as `to_embedder`; or another agent came back.
        """
        if self._role != "agent":
            self._change("agent", self._agent)
            if _lasting(self._verified) != _lasting(self._first):
                raise self._rules.at("run").noticed("facts-changed", f"{self._agent.key}: after a swap")
        return self._verified

    def unpaid(self, most_seconds: float) -> Unpaid | None:
        """Who takes the time before the first token of the next reply: once after each change to the agent.

        Args:
            most_seconds: how much of it at most.
        """
        if not self._changed:
            return None
        self._changed = False
        return Unpaid(most_seconds, self._first_token)

    def _first_token(self, seconds: float) -> None:
        self._clock.move(seconds)
        self.swaps[-1].first_token_seconds = seconds

    def _change(self, role: Role, model: ModelFacts) -> None:
        before = self._clock.residency_seconds
        with self._clock.residency(), self._aside():
            self._residency.verify()
            transition = self._residency.ensure(model, fresh=True)
        self._role, self._verified = role, transition.verified
        self._changed = role == "agent"
        seconds = self._clock.residency_seconds - before
        self.swaps.append(Swap(role, seconds, transition.facts()))
        self._record(
            {
                "type": "transition",
                "to": role,
                "level": transition.level,
                "verified": transition.verified.facts(),
            }
        )


def _lasting(verified: VerifiedFacts) -> VerifiedFacts:
    """Without the name of the instance, which a host may give anew at each load."""
    return replace(verified, instance_id="", inference_ids=())
