"""The reply after a change of residency: what it costs before its first token is on no agent's clock."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from repairlab.contract.failures import load_failures
from repairlab.contract.models import Models
from repairlab.contract.strict import load
from repairlab.hosts.asking import Conversation
from repairlab.hosts.chat import ChatOutcome, ChatReply, ChatRequest, DeadlineReached
from repairlab.hosts.client import LMStudioClient
from repairlab.hosts.completion import read_completion
from repairlab.hosts.emulator.spawn import EmulatorProcess
from repairlab.hosts.facts import ModelFacts
from repairlab.hosts.failures import FailureRules
from repairlab.hosts.reader import Unpaid
from repairlab.hosts.residency import Residency
from repairlab.hosts.transport import Patience
from repairlab.runner.model import HostModel, Sampling
from repairlab.runner.residence import CellClock, Residence

CONTRACTS = Path(__file__).resolve().parents[2] / "contracts"
CHAT = "POST /v1/chat/completions"
SILENT = 0.4
"""Seconds that the host reads a conversation which it does not know."""
MESSAGES: list[Any] = [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]
TOOLS: list[Any] = [
    {"type": "function", "function": {"name": "finish", "parameters": {"type": "object", "properties": {}}}}
]


class Bench(NamedTuple):
    model: HostModel
    residence: Residence
    clock: CellClock

    def ask(self, seconds_left: float) -> ChatOutcome:
        with self.clock.running("model"):
            return self.model.ask(MESSAGES, TOOLS, seconds_left)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """An agent and an embedder at a host that reads for a while before each of the agent's replies.

    The tiny requests after a load are the chats number 1 and 4.
    """
    pace = {"kind": "pace", "frame_seconds": 0.02, "silent_before_frame": 1, "silent_seconds": SILENT}
    faults = tmp_path / "faults.json"
    faults.write_text(json.dumps([{"route": CHAT, "from": n, "times": 1, "do": pace} for n in (2, 3, 5, 6)]))
    rules = FailureRules(load_failures(CONTRACTS)).at("run")
    models = load(Models, CONTRACTS / "models.toml").root
    floor, hashing = (ModelFacts.of(models[name], 65_536) for name in ("FLOOR", "HASHING"))
    with (
        EmulatorProcess(faults=faults) as host,
        LMStudioClient(host.url, None, time.monotonic, patience=Patience(20.0), rules=rules) as client,
    ):
        residency = Residency(client, time.monotonic, time.sleep, rules=rules)
        clock = CellClock(time.monotonic)
        records: list[Any] = []
        verified = residency.ensure(floor, fresh=True).verified
        residence = Residence(residency, floor, verified, hashing, clock, rules, records.append)
        sampling = Sampling(0.0, 1.0, 0, 8192)
        yield Bench(
            HostModel(client, rules, verified, sampling, time.monotonic, records.append, residence),
            residence,
            clock,
        )


def test_only_the_first_reply_after_a_change_has_its_reading_on_the_residency_clock(bench: Bench) -> None:
    for _ in range(2):
        assert isinstance(bench.ask(30.0), ChatReply)
    bench.residence.to_embedder()
    assert isinstance(bench.ask(SILENT / 2), ChatReply)  # its deadline is moved by as much
    assert isinstance(bench.ask(30.0), ChatReply)
    seconds = [seconds for _, seconds in bench.clock.agent.intervals]
    assert [one > SILENT for one in seconds] == [True, True, False, True]
    there, back = bench.residence.swaps
    assert (there.to, there.first_token_seconds) == ("embedder", None)
    assert back.first_token_seconds is not None
    assert SILENT <= back.first_token_seconds < 2 * SILENT
    spent = there.seconds + back.seconds + back.first_token_seconds
    assert bench.clock.residency_seconds == pytest.approx(spent)


def test_without_a_change_the_same_deadline_cuts_the_reply(bench: Bench) -> None:
    assert isinstance(bench.ask(SILENT / 2), DeadlineReached)
    assert bench.residence.swaps == []


class TwiceAsked:
    """A host that drops the first call, after half a minute of reading."""

    def __init__(self, make: Callable[..., ChatReply]) -> None:
        self.deadlines: list[float] = []
        self._make = make

    def chat(self, request: ChatRequest, deadline: float, unpaid: Unpaid | None = None) -> ChatOutcome:
        self.deadlines.append(deadline)
        if unpaid:
            unpaid.tell(30.0)
        return self._make(dropped=len(self.deadlines) == 1)


def test_a_repeated_sending_keeps_the_deadline_and_gives_no_time_back() -> None:
    def reply(*, dropped: bool) -> ChatReply:
        finish, text = ("tool_calls", "") if dropped else ("stop", "done")
        message = {"role": "assistant", "content": text, "tool_calls": []}
        choice = {"index": 0, "finish_reason": finish, "message": message}
        usage = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
        read = read_completion({"model": "m", "choices": [choice], "usage": usage})
        assert isinstance(read, ChatReply)
        return read

    host, told = TwiceAsked(reply), list[float]()
    rules = FailureRules(load_failures(CONTRACTS)).at("run")
    request = ChatRequest("m", tuple(MESSAGES), tuple(TOOLS), 0.0, 1.0, 0, 8192)
    asked = Conversation(host, rules, 65_536).ask(request, 1000.0, Unpaid(600.0, told.append))
    assert [retry.condition for retry in asked.retries] == ["call-dropped"]
    assert host.deadlines == [1000.0, 1030.0]
    assert told == [30.0]
