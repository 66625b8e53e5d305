"""Any sequence of what residency is asked and what happens to the host meanwhile.

The host itself logs, for each inference request, what was loaded when it came. A block of requests whose end
residency accepted must have met the right model alone; a block that another client disturbed must be void.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from repairlab.contract.errors import RepairlabError
from repairlab.hosts.chat import ChatRequest
from repairlab.hosts.client import LMStudioClient
from repairlab.hosts.facts import ModelFacts, Transition
from repairlab.hosts.failures import FailureRules
from repairlab.hosts.residency import Residency

UNLOAD = "POST /api/v1/models/unload"
LOAD = "POST /api/v1/models/load"
KINDS = st.sampled_from(["agent", "embedder"])
KEYS = st.sampled_from(["acme/agent-9b", "acme/navigator", "text-embedding-acme"])


@dataclass
class Parts:
    """What the sequence works with."""

    host: Any
    client: LMStudioClient
    facts: dict[str, ModelFacts]
    rules: FailureRules
    request: ChatRequest

    def ask(self, kind: str) -> None:
        if kind == "agent":
            self.client.chat(self.request, math.inf)
        else:
            self.client.embed("text-embedding-acme", ("a text",))

    def forget(self) -> None:
        """Everything is unloaded, as by a restart."""
        for entry in self.host.ask("GET", "/api/v1/models").json["models"]:
            for instance in entry["loaded_instances"]:
                self.host.ask("POST", "/api/v1/models/unload", {"instance_id": instance["id"]})


class Machine(RuleBasedStateMachine):
    """Faults that the host is given stay for the whole sequence."""

    parts: Parts

    def __init__(self) -> None:
        super().__init__()
        self.records: list[Transition] = []
        self.completed = 0
        self.void: set[int] = set()
        self.judged = 0
        self.slow = False
        self.leaving = False
        """Another client's unload may still be under way: what is listed may vanish at any look."""
        self.parts.host.reset()
        self.residency = Residency(
            self.parts.client,
            time.monotonic,
            lambda _: None,
            rules=self.parts.rules,
            on_transition=self.records.append,
            unload_seconds=10.0,
            retry_seconds=0.0,
        )

    @initialize(slow=st.integers(0, 3), first_load_fails=st.booleans())
    def begin(self, slow: int, first_load_fails: bool):
        faults: list[dict[str, Any]] = []
        self.slow = slow > 0
        if slow:
            faults.append({"route": UNLOAD, "do": {"kind": "lingering-unload", "looks": slow}})
        if first_load_fails:
            body = '{"error": {"type": "unknown", "message": "insufficient system resources"}}'
            do = {"kind": "reply-instead", "status": 500, "body": body}
            faults.append({"route": LOAD, "times": 1, "do": do})
        self.parts.host.reset(*faults, memory_bytes=100_000_000_000)

    @rule(kind=KINDS, fresh=st.booleans(), stray=st.none() | KEYS, gone=st.booleans())
    def block(self, kind: str, fresh: bool, stray: str | None, gone: bool):
        """Ensure, ask, verify; in the middle another client may load, or everything may vanish."""
        before = len(self.parts.host.log)
        disturbed = stray is not None or gone or self.leaving
        try:
            with self.residency.block(self.parts.facts[kind], fresh) as transition:
                self.completed += transition.loaded
                assert transition.verified.key == self.parts.facts[kind].key
                self.parts.ask(kind)
                if gone:
                    self.parts.forget()
                if stray is not None:
                    self.parts.host.load(stray, 4096)
                self.parts.ask(kind)
        except RepairlabError:
            assert disturbed  # slow unloads and one refused load are got over
            self.void |= set(range(before, len(self.parts.host.log)))
        else:
            assert stray is None
        self.leaving = gone and self.slow

    @rule(key=KEYS)
    def another_client_loads(self, key: str):
        self.parts.host.load(key, 4096)

    @rule()
    def the_server_forgets_everything(self):
        self.parts.forget()
        self.leaving = self.slow

    @rule(kind=KINDS)
    def a_transition_alone(self, kind: str):
        try:
            self.completed += self.residency.ensure(self.parts.facts[kind], fresh=False).loaded
        except RepairlabError:
            assert self.leaving

    @rule()
    def release(self):
        self.residency.release()

    @invariant()
    def no_accepted_request_met_company(self):
        log = self.parts.host.log
        for number, entry in enumerate(log[self.judged :], start=self.judged):
            if number not in self.void:
                assert [one["id"] for one in entry["residents"]] == [entry["model"]]
        self.judged = len(log)

    @invariant()
    def each_completed_transition_has_one_verified_record(self):
        assert len(self.records) == self.completed
        for record in self.records:
            assert record.verified.key == record.model
            assert record.verified.inference_ids == (record.model,)


@pytest.fixture
def parts(
    host: Any,
    client: LMStudioClient,
    agent: ModelFacts,
    embedder_facts: ModelFacts,
    rules: FailureRules,
    request_for: Callable[..., ChatRequest],
) -> Parts:
    return Parts(host, client, {"agent": agent, "embedder": embedder_facts}, rules, request_for())


def test_no_request_of_an_accepted_block_met_another_model(parts: Parts):
    chosen = settings(
        max_examples=60,
        stateful_step_count=10,
        deadline=None,
        database=None,
        suppress_health_check=[HealthCheck.too_slow],
        phases=[Phase.generate],  # shrinking over real sockets takes minutes; the steps are few as they are
    )
    machine = type("BoundMachine", (Machine,), {"parts": parts})
    run_state_machine_as_test(machine, settings=chosen)


def test_embedder_and_agent_swap_twenty_times_with_no_transition_too_many(parts: Parts):
    parts.host.reset(memory_bytes=6_000_000_000)  # too little for both at once
    records: list[Transition] = []
    residency = Residency(
        parts.client, time.monotonic, time.sleep, rules=parts.rules, on_transition=records.append
    )
    # As cells of a dense treatment: a fresh agent for each, and inside a cell one query to be embedded.
    steps = (("agent", True), ("agent", False), ("embedder", False), ("embedder", False), ("agent", False))
    for _ in range(10):
        for kind, fresh in steps:
            residency.ensure(parts.facts[kind], fresh=fresh)
            parts.ask(kind)
            residency.verify()
    assert len(records) == 30  # a fresh load for each cell, and there and back: nothing less would do
    assert sum(one.model != other.model for one, other in pairwise(records)) == 20
    assert len(parts.host.log) == 80  # the requests, and one warm-up for each load
    for entry in parts.host.log:
        assert [one["id"] for one in entry["residents"]] == [entry["model"]]
