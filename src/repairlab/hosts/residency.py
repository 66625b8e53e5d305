"""The only owner of what a host has loaded. No other code loads or unloads.

A transition unloads every instance, waits until the list agrees, loads one model, and holds what the host
then shows against what is pinned. What the REST surfaces cannot show (device memory, a time to live) is not
claimed: a transition names the level of its verification.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from repairlab.contract.errors import InfrastructureFailure, RefuseToStart, RepairlabError
from repairlab.hosts.facts import ModelFacts, Transition, VerifiedFacts
from repairlab.hosts.transport import Clock
from repairlab.hosts.verify import (
    Difference,
    catalogue_differences,
    load_differences,
    resident_differences,
    verified_facts,
)
from repairlab.hosts.wire import Listing, Loaded

_ResultT = TypeVar("_ResultT")
_POLL_SECONDS = (0.02, 0.05, 0.1, 0.25, 0.5)
"""Waits between looks at the list; the last one repeats."""


class LifecycleHost(Protocol):
    """What residency needs of a client; see `repairlab.hosts.client.LMStudioClient`."""

    def list_models(self) -> Listing: ...

    def load(self, key: str, context_tokens: int) -> Loaded: ...

    def unload(self, instance_id: str) -> None: ...

    def inference_ids(self) -> tuple[str, ...]: ...


class Residency:
    """Knows, changes and verifies what one host has loaded.

    A difference is a `RefuseToStart` until the model has once been verified here: then a pinned fact or a
    setting of the host is wrong. After that it is an `InfrastructureFailure` of kind ``residency-changed``:
    the host changed in mid-run, and what it answered meanwhile is void.

    Args:
        host: the client.
        clock: monotonic seconds, for `seconds_spent` and the limit on unloading.
        sleep: waits so many seconds between looks at the list.
        unload_seconds: how long an unloaded instance may stay in the list.
        allow_jit: accept a host whose inference routes show models that are not loaded. Such a host may
            reload a lost model by itself, with a context of its own choice.
    """

    def __init__(
        self,
        host: LifecycleHost,
        clock: Clock,
        sleep: Callable[[float], None],
        *,
        unload_seconds: float = 60.0,
        allow_jit: bool = False,
    ) -> None:
        self._host = host
        self._clock = clock
        self._sleep = sleep
        self._unload_seconds = unload_seconds
        self._allow_jit = allow_jit
        self._known: set[str] = set()
        self._current: tuple[ModelFacts, VerifiedFacts] | None = None
        self.seconds_spent = 0.0
        """The residency clock: seconds spent in transitions and verifications, failed ones included."""

    def ensure(self, model: ModelFacts, fresh: bool) -> Transition:
        """Make `model` the one resident model and return what was done and verified.

        Args:
            model: the pinned facts.
            fresh: load anew even if the model is resident as pinned, so that no prompt cache is inherited.

        Raises:
            RefuseToStart: a fact differs; the message names it and a repair.
            InfrastructureFailure: ``residency-changed`` (see the class), ``unload-stuck``, or the host's.
        """
        return self._timed(lambda: self._ensure(model, fresh))

    def verify(self) -> VerifiedFacts:
        """After a block of requests: the same model is still resident, alone and unchanged.

        Raises:
            InfrastructureFailure: ``residency-changed``; the block is void.
        """
        return self._timed(self._verify)

    def release(self) -> tuple[str, ...]:
        """Unload everything; the ids that were unloaded."""
        return self._timed(lambda: self._clear(self._host.list_models())[0])

    def _ensure(self, model: ModelFacts, fresh: bool) -> Transition:
        listing = self._host.list_models()
        self._demand(model, catalogue_differences(model, listing))
        if not fresh and self._resident_as_pinned(model, listing):
            return Transition(model.key, fresh, False, (), self._settle(model))
        unloaded, listing = self._clear(listing)
        self._demand(model, catalogue_differences(model, listing))
        loaded = self._host.load(model.key, model.context_tokens)
        self._demand(model, load_differences(model, loaded))
        return Transition(model.key, fresh, True, unloaded, self._settle(model))

    def _resident_as_pinned(self, model: ModelFacts, listing: Listing) -> bool:
        ids = self._host.inference_ids()
        return not resident_differences(model, listing, ids, allow_jit=self._allow_jit)

    def _settle(self, model: ModelFacts) -> VerifiedFacts:
        self._current = None
        listing = self._host.list_models()
        ids = self._host.inference_ids()
        self._demand(model, resident_differences(model, listing, ids, allow_jit=self._allow_jit))
        verified = verified_facts(model, listing, ids)
        self._known.add(model.key)
        self._current = (model, verified)
        return verified

    def _verify(self) -> VerifiedFacts:
        if self._current is None:
            raise InfrastructureFailure("no model has been verified as resident", kind="residency-changed")
        model, before = self._current
        after = self._settle(model)
        if after != before:
            self._current = None
            raise InfrastructureFailure(
                f"{model.key}: the host shows other facts than before: {_changed(before, after)}",
                kind="residency-changed",
            )
        return after

    def _clear(self, listing: Listing) -> tuple[tuple[str, ...], Listing]:
        self._current = None
        ids = tuple(instance.id for _, instance in listing.resident)
        for instance_id in ids:
            self._host.unload(instance_id)
        if not ids:
            return ids, listing
        limit = self._clock() + self._unload_seconds
        looks = 0
        while True:
            listing = self._host.list_models()
            if not listing.resident:
                return ids, listing
            if self._clock() >= limit:
                left = ", ".join(instance.id for _, instance in listing.resident)
                raise InfrastructureFailure(
                    f"still listed as loaded {self._unload_seconds:g} s after unloading: {left}",
                    kind="unload-stuck",
                    repair="Unload it in LM Studio, or restart the server.",
                )
            self._sleep(_POLL_SECONDS[min(looks, len(_POLL_SECONDS) - 1)])
            looks += 1

    def _demand(self, model: ModelFacts, differences: Sequence[Difference]) -> None:
        if differences:
            raise self._refusal(model, differences)

    def _refusal(self, model: ModelFacts, differences: Sequence[Difference]) -> RepairlabError:
        message = f"{model.key}: " + "; ".join(str(difference) for difference in differences)
        repair = " ".join(dict.fromkeys(one.repair for one in differences if one.repair))
        if model.key in self._known:
            return InfrastructureFailure(message, kind="residency-changed", repair=repair)
        return RefuseToStart(message, repair=repair or "Correct the pinned facts, or the model at the host.")

    def _timed(self, work: Callable[[], _ResultT]) -> _ResultT:
        started = self._clock()
        try:
            return work()
        finally:
            self.seconds_spent += self._clock() - started


def _changed(before: VerifiedFacts, after: VerifiedFacts) -> str:
    names = VerifiedFacts.__dataclass_fields__
    return ", ".join(name for name in names if getattr(before, name) != getattr(after, name))
