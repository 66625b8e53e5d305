"""What the models of a host must show before a run, each loaded and verified as in a run.

Nothing here depends on a task of a study: the caller brings the openings. What is found is a value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from repairlab.contract.errors import InfrastructureFailure, RefuseToStart
from repairlab.hosts.asking import ChatHost
from repairlab.hosts.embedder import Embedder, EmbeddingHost, EmbeddingSettings
from repairlab.hosts.embedding_probe import probe
from repairlab.hosts.facts import ModelFacts, Transition, VerifiedFacts
from repairlab.hosts.failures import FailureRules
from repairlab.hosts.preflight_asking import Asker, Finding, Opening, Terms, by_table, failed
from repairlab.hosts.preflight_checks import SEED_TOKENS, counted, long_output, reasoning, round_trips, seeds
from repairlab.hosts.transport import Clock
from repairlab.hosts.wire import Listing

_LOADED = "loaded and verified as pinned"
_STAYS = "stays as it was verified"


class Resident(Protocol):
    """What loads and verifies; see `repairlab.hosts.residency.Residency`."""

    def ensure(self, model: ModelFacts, fresh: bool) -> Transition: ...

    def verify(self) -> VerifiedFacts: ...


@dataclass(frozen=True, slots=True)
class Speeds:
    """What was measured. Tokens a second are lower bounds: each holds the whole time of its requests."""

    load_seconds: float
    """The longer of two fresh loads, with their verification."""
    prompt: float | None
    completion: float | None


@dataclass(frozen=True, slots=True)
class Examination:
    """All that was found on one model."""

    findings: tuple[Finding, ...]
    speeds: Speeds | None
    """``None`` when the model could not be loaded as pinned."""


def jit_finding(listing: Listing, inference_ids: tuple[str, ...]) -> Finding:
    """Whether the inference routes offer what is not loaded."""
    extra = sorted(set(inference_ids) - {instance.id for _, instance in listing.resident})
    return Finding(
        "just-in-time loading is off",
        not extra,
        f"offered without being loaded: {', '.join(extra[:3])}"
        if extra
        else "only loaded models are offered",
        "switch just-in-time loading off in the server's settings: it loads with a context of its own choice",
    )


def examine(
    host: ChatHost,
    residency: Resident,
    rules: FailureRules,
    model: ModelFacts,
    openings: Sequence[Opening],
    terms: Terms,
    clock: Clock,
) -> Examination:
    """Load an agent twice as a cell would, and ask it what a run will ask.

    Args:
        host: the client.
        residency: of the same host.
        rules: the frozen table of failures.
        model: the pinned facts.
        openings: at least one.
        terms: of the experiment.
        clock: monotonic seconds.
    """
    findings: list[Finding] = []
    what = _LOADED
    try:
        first = _load(residency, model, clock)
        findings.append(_loaded(first))
        what = _STAYS
        asker = Asker(host, rules.at("start"), first.transition.verified, terms, clock)
        before = asker.try_once(openings[0], SEED_TOKENS, terms.seed)
        findings += round_trips(asker, openings)
        findings.append(reasoning(asker, model.reasoning_default))
        findings += counted(asker)
        findings.append(long_output(asker))
        residency.verify()
        second = _load(residency, model, clock)
        findings += seeds(asker, openings[0], before)
        residency.verify()
    except (RefuseToStart, InfrastructureFailure) as failure:
        findings.append(failed(what, failure))
        return Examination(tuple(findings), None)
    seconds = max(first.seconds, second.seconds)
    return Examination(tuple(findings), Speeds(seconds, asker.prompt_speed(), asker.completion_speed()))


def examine_embedder(
    host: EmbeddingHost,
    residency: Resident,
    rules: FailureRules,
    model: ModelFacts,
    settings: EmbeddingSettings,
    clock: Clock,
) -> Examination:
    """Load an embedder and look at its vectors; see `repairlab.hosts.embedding_probe`."""
    what, vectors = _LOADED, "vectors"
    findings: list[Finding] = []
    try:
        first = _load(residency, model, clock)
        findings.append(_loaded(first))
        what = vectors
        embedder = Embedder(host, first.transition.verified, settings, rules.at("start"))
        found = probe(embedder, model.context_tokens, settings.bytes_per_token)
        findings += [by_table(rules.at("start"), vectors, one.condition, one.what) for one in found]
        what = _STAYS
        residency.verify()
    except (RefuseToStart, InfrastructureFailure) as failure:
        findings.append(failed(what, failure))
        return Examination(tuple(findings), None)
    if not found:
        said = f"{settings.dimensions} dimensions; texts are read to their end, repeat, and rank"
        findings.append(Finding(vectors, True, said))
    return Examination(tuple(findings), Speeds(first.seconds, None, None))


@dataclass(frozen=True, slots=True)
class _Load:
    transition: Transition
    seconds: float


def _load(residency: Resident, model: ModelFacts, clock: Clock) -> _Load:
    started = clock()
    transition = residency.ensure(model, fresh=True)
    return _Load(transition, clock() - started)


def _loaded(load: _Load) -> Finding:
    verified, level = load.transition.verified, load.transition.level
    facts = (verified.format, verified.quantization, verified.selected_variant, verified.reasoning_default)
    shown = ", ".join(fact or "-" for fact in facts)
    return Finding(
        _LOADED, True, f"{verified.key}, context {verified.context_tokens}, {shown}; level {level}"
    )
