"""What `repairlab doctor` asks of the model host of an experiment, and the trace of its answers."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from repairlab.agents.context import ContextBound
from repairlab.agents.prompts import first_messages, stage_messages, tool_schemas
from repairlab.cli.forecast import forecast
from repairlab.cli.hosting import Host, connect
from repairlab.cli.settings import Settings
from repairlab.contract.canonical import Json, canonical_json
from repairlab.contract.errors import RefuseToStart
from repairlab.contract.failures import load_failures
from repairlab.contract.models import Model
from repairlab.contract.study import Inputs, Study
from repairlab.contract.task import Task
from repairlab.contract.treatments import Treatment
from repairlab.contract.wording import fill
from repairlab.hosts.conformance import Secrets, trace_lines
from repairlab.hosts.facts import ModelFacts
from repairlab.hosts.failures import FailureRules
from repairlab.hosts.preflight import Speeds, examine, examine_embedder, jit_finding
from repairlab.hosts.preflight_asking import Finding, Opening, Terms
from repairlab.hosts.preflight_texts import FILE, STATEMENT
from repairlab.hosts.transport import Exchange
from repairlab.manifest.cell import Cell
from repairlab.runner.embedding import embedding_settings

_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


def host_findings(
    study: Study,
    inputs: Inputs,
    cells: Sequence[Cell],
    settings: Settings,
    environment: Mapping[str, str],
    record: Path | None,
) -> Iterator[Finding]:
    """Everything about the host, its models one by one, and the bound. Whatever is loaded gets unloaded.

    Args:
        study: whose table of failures counts.
        inputs: of the experiment.
        cells: its planned cells.
        settings: where the host is.
        environment: where `lms` and the devices' tools are looked for.
        record: a file for the conformance trace, or ``None``.

    Raises:
        RefuseToStart, InfrastructureFailure: the host does not answer as one.
    """
    rules = FailureRules(load_failures(study.contracts))
    silence = inputs.shared.generation.silence_seconds
    exchanges: list[Exchange] = []
    level = inputs.experiment.host_level
    with connect(settings.host, settings.token, rules, silence, environment, level) as host:
        host.journal.append(exchanges.append)
        try:
            yield from _host(host, settings)
            yield from _models(inputs, cells, host)
            host.residency.release()
        finally:
            if record is not None:
                _write(record, exchanges, host.provenance.facts(), _secrets(settings))


def _host(host: Host, settings: Settings) -> Iterator[Finding]:
    host.client.greet()
    listing = host.client.list_models()
    facts = host.provenance
    seen = facts.app_version or "version not visible from here"
    shown = f"{settings.host}, {len(listing.models)} models, {seen}, level {host.residency.level}"
    yield Finding("model host answers", True, shown)
    yield jit_finding(listing, host.client.inference_ids())


def _models(inputs: Inputs, cells: Sequence[Cell], host: Host) -> Iterator[Finding]:
    speeds: dict[str, Speeds | None] = {}
    for name, model in sorted(inputs.models.items()):
        facts = ModelFacts.of(model, inputs.shared.generation.context_tokens)
        found = examine(
            host.client,
            host.residency,
            host.rules,
            facts,
            openings(inputs),
            terms(inputs, model, facts.context_tokens),
            time.monotonic,
        )
        yield from _named(name, found.findings)
        speeds[name] = found.speeds
    embedding: Speeds | None = None
    if inputs.embedder is not None:
        facts = ModelFacts.of(inputs.embedder, inputs.shared.generation.context_tokens)
        settings = embedding_settings(inputs.embedder, inputs.shared)
        found = examine_embedder(host.client, host.residency, host.rules, facts, settings, time.monotonic)
        name = inputs.experiment.embedder
        yield from _named(name, found.findings)
        embedding = speeds[name] = found.speeds
    yield from forecast(inputs, cells, speeds, embedding)


def _named(name: str, findings: Sequence[Finding]) -> Iterator[Finding]:
    for one in findings:
        yield replace(one, what=f"{name}: {one.what}")


def openings(inputs: Inputs) -> tuple[Opening, ...]:
    """First messages and tools of every treatment, around a statement that belongs to no task.

    The models of a study are not shown its tasks before the run. Treatments that send the same share one.
    """
    (base, *_) = (task for _, task in sorted(inputs.tasks.items()))
    task = base.model_copy(update={"statement": STATEMENT, "production_files": (FILE,), "created_files": ()})
    found: dict[bytes, Opening] = {}
    for name, treatment in sorted(inputs.treatments.items()):
        messages = tuple(_opening(inputs, task, treatment))
        tools = tuple(tool_schemas(treatment, inputs.wording))
        key = canonical_json([messages, tools])
        names = f"{found[key].name}, {name}" if key in found else name
        found[key] = Opening(names, messages, tools)
    return tuple(found.values())


def _opening(inputs: Inputs, task: Task, treatment: Treatment) -> list[Json]:
    """The first request's messages; a staged treatment shows a skeleton of one file."""
    wording, staged = inputs.wording, inputs.shared.staged
    if treatment.kind == "interactive":
        return first_messages(task, treatment, wording, inputs.shared.budgets)
    folder, _, name = FILE.rpartition("/")
    skeleton, most = f"{folder}/\n  {name}", str(staged.selected_files)
    work = fill(wording.prompts.staged.files, skeleton=skeleton, selected_files=most)
    return stage_messages(task, wording, work)


def terms(inputs: Inputs, model: Model, context_tokens: int) -> Terms:
    """How the experiment asks `model`. Only a trial at temperature 0 does not promise equal replies."""
    experiment, generation = inputs.experiment, inputs.shared.generation
    own = experiment.temperature
    temperature = float((model.temperature if own is None else own) or 0.0)

    def bound(messages: Sequence[Json], tools: Sequence[Json]) -> int:
        return ContextBound(generation, context_tokens).prompt_bound(list(messages), list(tools))

    return Terms(
        temperature=temperature,
        top_p=float(model.top_p or 1.0),
        seed=min(experiment.seeds),
        completion_tokens=generation.completion_tokens,
        deterministic=temperature == 0 and experiment.kind != "trial",
        prompt_bound=bound,
        reminder=inputs.wording.prompts.interactive.reminder,
    )


def _secrets(settings: Settings) -> Secrets:
    """What of this machine and of the host's address may not stand in a trace."""
    address = urlsplit(settings.host)
    names = {platform.node(), platform.node().partition(".")[0], str(Path.home()), Path.home().name}
    if address.hostname and address.hostname not in _LOOPBACK:
        names |= {address.hostname, address.netloc}
    return Secrets((settings.token,) if settings.token else (), tuple(sorted(names - {"", "/", "root"})))


def _write(path: Path, exchanges: Sequence[Exchange], host: Json, secrets: Secrets) -> None:
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with scratch.open("w", encoding="ascii") as file:
            file.writelines(f"{line}\n" for line in trace_lines(exchanges, host, secrets))
        scratch.replace(path)
    except OSError as error:
        raise RefuseToStart(f"{path}: cannot be written ({error.strerror})") from error
