"""Where the time of a cell goes, and what was said to the host beside the model's replies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from repairlab.contract.canonical import Json
from repairlab.evaluation.runs import TestRun
from repairlab.hosts.client import CHAT
from repairlab.hosts.transport import Exchange


@dataclass(slots=True)
class Phases:
    """Seconds of each part of a cell, clocks of its test runs, and its exchanges with the host."""

    now: Callable[[], float]
    seconds: dict[str, float] = field(default_factory=dict)
    test_runs: list[dict[str, Json]] = field(default_factory=list)
    exchanges: list[Json] = field(default_factory=list)
    conversing: bool = False
    """Whether chats are the agent's, which the transcript holds whole."""

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Add the time inside the block to the phase `name`."""
        begun = self.now()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + self.now() - begun

    def test_run(self, kind: str, run: TestRun) -> None:
        """Keep the clocks of one sandboxed run."""
        facts = run.facts
        self.test_runs.append(
            {
                "kind": kind,
                "setup_seconds": facts.seconds_setup,
                "run_seconds": facts.seconds_run,
                "teardown_seconds": facts.seconds_teardown,
            }
        )

    def exchange(self, exchange: Exchange) -> None:
        """Journal one request to the host; of a chat only its clock, for the transcript has the rest."""
        entry: dict[str, Json] = {
            "path": exchange.path,
            "status": exchange.status,
            "seconds": exchange.seconds,
            "failure": exchange.failure,
        }
        in_transcript = exchange.path == CHAT and self.conversing and not exchange.failure
        if not in_transcript:
            entry |= {"method": exchange.method, "request": exchange.request, "reply": exchange.reply}
        self.exchanges.append(entry)
