"""The only owner of what a host has loaded. No other code loads or unloads.

A transition unloads every instance, waits until every view of the host agrees that nothing is left, loads
one model, sends it one tiny request, and holds what the host then shows against what is pinned. What could
not be looked at is not claimed: a transition names the level of its verification.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol, TypeVar

from repairlab.contract.errors import InfrastructureFailure, RefuseToStart, RepairlabError
from repairlab.contract.experiment import Level
from repairlab.contract.failures import Condition, Failure
from repairlab.hosts.devices import MemoryProbe
from repairlab.hosts.facts import Kind, ModelFacts, Transition, VerifiedFacts
from repairlab.hosts.failures import FailureRules
from repairlab.hosts.lms import PsEntry
from repairlab.hosts.transport import Clock
from repairlab.hosts.verify import (
    Difference,
    Moment,
    catalogue_differences,
    lms_differences,
    load_differences,
    resident_differences,
    surface_differences,
    verified_facts,
)
from repairlab.hosts.wire import Listing, Loaded

_ResultT = TypeVar("_ResultT")
_POLL_SECONDS = (0.02, 0.05, 0.1, 0.25, 0.5)
"""Waits between looks; the last one repeats."""
_NOT_LOADED = "host-model-not-loaded"
MEMORY_SLACK_BYTES = 256 * 2**20
"""Other programs on the device may take so much meanwhile."""


class LifecycleHost(Protocol):
    """What residency needs of a client, whose rules are in the phase ``run``.

    `repairlab.hosts.client.LMStudioClient` has it.
    """

    def list_models(self) -> Listing: ...

    def load(self, key: str, context_tokens: int) -> Loaded: ...

    def unload(self, instance_id: str) -> None: ...

    def inference_ids(self) -> tuple[str, ...]: ...

    def warm_up(self, instance_id: str, kind: Kind) -> bool: ...


class SecondView(Protocol):
    """What the command line shows; `repairlab.hosts.lms.Lms` has it."""

    def ps(self) -> tuple[PsEntry, ...]: ...


class Residency:
    """Knows, changes and verifies what one host has loaded.

    A difference has the class that the table gives it: before the model has once been verified here the one
    at start (a pinned fact or a setting of the host is wrong), afterwards the one in a run (the host changed,
    and what it answered meanwhile is void).

    Args:
        host: the client.
        clock: monotonic seconds, for `seconds_spent` and the limit on unloading.
        sleep: waits so many seconds between looks.
        rules: the frozen table of failures.
        lms: the second view, where `lms` is local.
        memory: free memory of the host's devices, where it can be seen.
        required_level: the level that the run's freeze asks for.
        on_transition: told of each completed transition, once.
        unload_seconds: how long an unloaded instance, or its memory, may stay.
        retry_seconds: wait before a load is repeated that lacked resources.
        warm_up: send one tiny request after each load and look again: some engines change the context then.
        allow_jit: accept a host whose inference routes show models that are not loaded. Such a host may
            reload a lost model by itself, with a context of its own choice.
    """

    def __init__(
        self,
        host: LifecycleHost,
        clock: Clock,
        sleep: Callable[[float], None],
        *,
        rules: FailureRules,
        lms: SecondView | None = None,
        memory: MemoryProbe | None = None,
        required_level: Level = "rest",
        on_transition: Callable[[Transition], None] | None = None,
        unload_seconds: float = 60.0,
        retry_seconds: float = 2.0,
        warm_up: bool = True,
        allow_jit: bool = False,
    ) -> None:
        self._host = host
        self._clock = clock
        self._sleep = sleep
        self._rules = rules
        self._lms = lms
        self._memory = memory
        self._required_level = required_level
        self._on_transition = on_transition
        self._unload_seconds = unload_seconds
        self._retry_seconds = retry_seconds
        self._warm_up = warm_up
        self._allow_jit = allow_jit
        self._known: set[str] = set()
        self._current: tuple[ModelFacts, VerifiedFacts] | None = None
        self._empty_bytes: int | None = None
        self.seconds_spent = 0.0
        """The residency clock: seconds spent in transitions and verifications, failed ones included."""

    @property
    def level(self) -> Level:
        """What a verification here rests on."""
        return "rest" if self._lms is None else "rest+lms"

    def ensure(self, model: ModelFacts, fresh: bool) -> Transition:
        """Make `model` the one resident model and return what was done and verified.

        Args:
            model: the pinned facts.
            fresh: load anew even if the model is resident as pinned, so that no prompt cache is inherited.

        Raises:
            RefuseToStart: a fact differs; the message names it and a repair.
            InfrastructureFailure: ``residency-changed`` (see the class), ``unload-stuck``, or the host's.
        """
        transition = self._timed(lambda: self._ensure(model, fresh))
        if transition.loaded and self._on_transition:
            self._on_transition(transition)
        return transition

    def verify(self) -> VerifiedFacts:
        """After a block of requests: the same model is still resident, alone and unchanged.

        Raises:
            InfrastructureFailure: ``residency-changed``; the block is void.
        """
        return self._timed(self._verify)

    @contextmanager
    def block(self, model: ModelFacts, fresh: bool) -> Iterator[Transition]:
        """Requests inside the block went to `model` alone, or the end of the block raises."""
        yield self.ensure(model, fresh)
        self.verify()

    def release(self) -> tuple[str, ...]:
        """Unload everything; the ids that were unloaded."""
        return self._timed(lambda: self._clear(self._host.list_models(), self._rules)[0])

    def _ensure(self, model: ModelFacts, fresh: bool) -> Transition:
        rules = self._rules.at("run" if model.key in self._known else "start")
        if self._required_level == "rest+lms" and self._lms is None:
            raise rules.noticed("level-too-low", f"{model.key}: level {self.level}")
        listing = self._host.list_models()
        self._demand(model, surface_differences(listing, self._lms.ps()) if self._lms else (), rules)
        self._demand(model, catalogue_differences(model, listing), rules)
        if not fresh and not self._differences(model, listing, "use"):
            self._await_idle()
            return Transition(model.key, fresh, False, (), self._settle(model, "use", rules), self.level)
        unloaded, listing = self._clear(listing, rules)
        self._demand(model, catalogue_differences(model, listing), rules)
        loaded, retries = self._load(model, rules)
        self._demand(model, load_differences(model, loaded), rules)
        verified = self._settle(model, "load", rules)
        if self._warm_up:
            self._probe(model, verified, rules)
            verified = self._settle(model, "use", rules)
        return Transition(model.key, fresh, True, unloaded, verified, self.level, retries)

    def _load(self, model: ModelFacts, rules: FailureRules) -> tuple[Loaded, tuple[str, ...]]:
        retries: list[str] = []
        while True:
            try:
                return self._host.load(model.key, model.context_tokens), tuple(retries)
            except InfrastructureFailure as failure:
                row = rules.of_kind(failure.kind)
                if not row.retries:
                    raise
                if len(retries) >= row.retries:
                    raise rules.raised(row, failure.message) from failure
                retries.append(row.id)
            self._sleep(self._retry_seconds)
            self._clear(self._host.list_models(), rules)

    def _probe(self, model: ModelFacts, verified: VerifiedFacts, rules: FailureRules) -> None:
        reasoned = self._host.warm_up(verified.instance_id, model.kind)
        if reasoned and model.reasoning_default == "off":
            self._demand(model, (Difference("reasoning", "off", "on", "reasoning-differs"),), rules)

    def _settle(self, model: ModelFacts, moment: Moment, rules: FailureRules) -> VerifiedFacts:
        self._current = None
        listing = self._host.list_models()
        ids = self._host.inference_ids()
        self._demand(model, self._differences(model, listing, moment, ids), rules)
        verified = verified_facts(model, listing, ids)
        self._known.add(model.key)
        self._current = (model, verified)
        return verified

    def _differences(
        self, model: ModelFacts, listing: Listing, moment: Moment, ids: tuple[str, ...] | None = None
    ) -> tuple[Difference, ...]:
        seen = self._host.inference_ids() if ids is None else ids
        found = resident_differences(model, listing, seen, allow_jit=self._allow_jit, moment=moment)
        return (*found, *(lms_differences(model, listing, self._lms.ps()) if self._lms else ()))

    def _verify(self) -> VerifiedFacts:
        rules = self._rules.at("run")
        if self._current is None:
            raise rules.noticed("model-gone", "no model has been verified as resident")
        model, before = self._current
        after = self._settle(model, "block", rules)
        if after != before:
            self._current = None
            raise rules.noticed("facts-changed", f"{model.key}: {_changed(before, after)}")
        return after

    def _clear(self, listing: Listing, rules: FailureRules) -> tuple[tuple[str, ...], Listing]:
        """Unload every instance, and wait until list, second view and memory agree that nothing is left."""
        self._current = None
        ids = tuple(instance.id for _, instance in listing.resident)
        for instance_id in ids:
            self._unload(instance_id)
        limit = self._clock() + self._unload_seconds
        looks = 0
        while left := self._left(listing if not ids and looks == 0 else None):
            if self._clock() >= limit:
                condition, what = left
                message = f"{self._unload_seconds:g} s after unloading: {what}"
                raise rules.noticed(condition, message)
            self._sleep(_POLL_SECONDS[min(looks, len(_POLL_SECONDS) - 1)])
            looks += 1
        return ids, self._host.list_models() if ids else listing

    def _unload(self, instance_id: str) -> None:
        """Ask for it. The answer proves nothing: what is just leaving is told to be "not loaded"."""
        try:
            self._host.unload(instance_id)
        except InfrastructureFailure as failure:
            if failure.kind != _NOT_LOADED:
                raise

    def _left(self, known: Listing | None) -> tuple[Condition, str] | None:
        """What is still there after an unload, or ``None``; `known` is a list that was just read."""
        listing = known or self._host.list_models()
        listed = [instance.id for _, instance in listing.resident]
        seen = [entry.identifier for entry in self._lms.ps()] if self._lms else []
        if listed or seen:
            return "unload-stuck", f"still loaded: {', '.join(sorted({*listed, *seen}))}"
        if self._memory is None:
            return None
        free = self._memory.free_bytes()
        before = free if self._empty_bytes is None else self._empty_bytes
        if free + MEMORY_SLACK_BYTES < before:
            return "memory-held", f"{before - free} bytes of device memory are still taken"
        self._empty_bytes = max(free, before)
        return None

    def _await_idle(self) -> None:
        """A model that is kept may still be busy with a request that was given up; it has to end first."""
        if self._lms is None:
            return
        limit = self._clock() + self._unload_seconds
        while any(entry.queued or entry.status != "idle" for entry in self._lms.ps()):
            if self._clock() >= limit:
                raise self._rules.at("run").noticed("host-silent", "a request that was given up still runs")
            self._sleep(_POLL_SECONDS[-1])

    def _demand(self, model: ModelFacts, differences: Sequence[Difference], rules: FailureRules) -> None:
        if differences:
            raise _refusal(model, differences, rules)

    def _timed(self, work: Callable[[], _ResultT]) -> _ResultT:
        started = self._clock()
        try:
            return work()
        finally:
            self.seconds_spent += self._clock() - started


def _refusal(model: ModelFacts, differences: Sequence[Difference], rules: FailureRules) -> RepairlabError:
    """All differences in one message. The gravest class counts, and the first row of it gives the kind."""
    rows: list[Failure] = [rules.of(difference.condition) for difference in differences]
    message = f"{model.key}: " + "; ".join(str(difference) for difference in differences)
    repair = " ".join(dict.fromkeys(row.repair for row in rows if row.repair))
    gravest = next((row for row in rows if rules.refuses(row)), rows[0])
    if rules.refuses(gravest):
        return RefuseToStart(message, repair=repair)
    return InfrastructureFailure(message, kind=gravest.kind, repair=repair)


def _changed(before: VerifiedFacts, after: VerifiedFacts) -> str:
    names = VerifiedFacts.__dataclass_fields__
    return ", ".join(name for name in names if getattr(before, name) != getattr(after, name))
