"""`repairlab prepare` and `repairlab run`."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple

from repairlab.cli.alone import no_run_meanwhile
from repairlab.cli.freezing import checked
from repairlab.cli.hosting import Host, connect
from repairlab.cli.progress import watching
from repairlab.cli.sandboxes import choose_sandbox
from repairlab.cli.settings import Settings, settings_for
from repairlab.cli.small_models import hold_small_models, small_models
from repairlab.contract.errors import IncompleteData, RefuseToStart
from repairlab.contract.failures import load_failures
from repairlab.contract.study import Inputs, Study, open_study
from repairlab.evaluation.environments import PythonEnvironments
from repairlab.evaluation.golang.environments import GoEnvironments
from repairlab.evaluation.sandbox.model import Sandbox
from repairlab.hosts.emulator.spawn import EmulatorProcess
from repairlab.hosts.failures import FailureRules
from repairlab.manifest.freeze import Frozen
from repairlab.repositories.sources import UPSTREAM, Sources
from repairlab.runner.campaign import Standing, run_campaign
from repairlab.runner.cell import CellRuntime
from repairlab.runner.embedding import embed_documents, missing_texts
from repairlab.runner.episode import refuse_unbuilt
from repairlab.runner.events import Watch
from repairlab.runner.indexes import EmbedDocuments
from repairlab.runner.preparing import Preparation, Ready
from repairlab.runner.workplace import Workplace
from repairlab.search.chunks import CorpusChunks
from repairlab.search.vectors import VectorStore
from repairlab.store.layout import Layout, prepare_layout
from repairlab.store.lock import writer_lock

_UV_VARIABLES = (
    "PATH",
    "HOME",
    "XDG_CACHE_HOME",
    "UV_CACHE_DIR",
    "SSL_CERT_FILE",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NO_PROXY",
)


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line was given."""

    study: Path
    experiment: str
    sources: str
    cache: str
    host: str
    sandbox: str
    plain: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """A frozen experiment together with the settings of this machine."""

    study: Study
    inputs: Inputs
    frozen: Frozen
    settings: Settings
    workplace: Workplace
    sandbox: Sandbox

    @property
    def layout(self) -> Layout:
        """Where results go."""
        name = self.inputs.experiment.name
        return Layout(self.study.raw / name, self.study.incomplete / name)


def prepare_command(options: Options) -> None:
    """Prepare every task of a frozen experiment."""
    plan = make_plan(options)
    hold_small_models(plan.inputs)
    with watching(plain=options.plain) as watch, _host_alone(plan):
        prepare(plan, watch, embed=True)
    print(f"{options.experiment}: {len(plan.inputs.tasks)} tasks are ready in {plan.workplace.root}")


def run_command(options: Options, limit: int | None, *, retry_blocked: bool) -> None:
    """Run what is not sealed yet; exit status 3 when cells stay blocked."""
    plan = make_plan(options)
    with watching(plain=options.plain) as watch:
        standing = run(plan, watch, limit, retry_blocked=retry_blocked)
    report(plan, standing)


def report(plan: Plan, standing: Standing) -> None:
    """Print where an experiment stands after a run.

    Raises:
        IncompleteData: cells are blocked.
    """
    name, layout = plan.inputs.experiment.name, plan.layout
    print(f"{name}: {len(standing.sealed)} of {len(plan.frozen.manifest.cells)} cells sealed in {layout.raw}")
    if standing.blocked:
        raise IncompleteData(
            f"{len(standing.blocked)} cells are blocked by infrastructure failures, such as"
            f" {standing.blocked[0].name}",
            repair=f"see {layout.incomplete}; repair the cause, then run with --retry-blocked",
        )


def make_plan(options: Options) -> Plan:
    """Resolve settings and hold the study against its freeze.

    Raises:
        RefuseToStart: not frozen, or different; the sandbox does not work here.
    """
    study = open_study(options.study)
    inputs, frozen = checked(study, options.experiment)
    if inputs.experiment.kind == "simulation":
        raise RefuseToStart(f"{options.experiment} is simulated: there is nothing that could be run")
    refuse_unbuilt(inputs)
    settings = settings_for(study, os.environ, options.sources, options.cache, options.host)
    return Plan(study, inputs, frozen, settings, *machine_of(study, inputs, options))


def prepare(plan: Plan, watch: Watch, *, embed: bool = False) -> dict[str, Ready]:
    """Prepare every task of the plan.

    Args:
        plan: the experiment and this machine.
        watch: told of each step.
        embed: whether a host may be asked for vectors that are missing; a replay asks none.
    """
    return preparation(plan, watch, partial(_embed, plan) if embed else None).run()


def preparation(plan: Plan, watch: Watch, embed: EmbedDocuments | None = None) -> Preparation:
    """What prepares the tasks of the plan on this machine."""
    machine = Machine(plan.workplace, plan.sandbox)
    return preparation_of(plan.inputs, machine, plan.frozen.code, watch, embed)


class Machine(NamedTuple):
    """Where derived material lies and how tests run."""

    workplace: Workplace
    sandbox: Sandbox


def machine_of(study: Study, inputs: Inputs, options: Options) -> Machine:
    """Where and how things run here, as settings and options say.

    Raises:
        RefuseToStart: the sandbox does not work here.
    """
    settings = settings_for(study, os.environ, options.sources, options.cache, options.host)
    workplace = Workplace(settings.cache, Sources(settings.sources or UPSTREAM))
    return Machine(workplace, choose_sandbox(options.sandbox, inputs, workplace, os.environ))


def preparation_of(
    inputs: Inputs, machine: Machine, code: str, watch: Watch, embed: EmbedDocuments | None = None
) -> Preparation:
    """As `preparation`, for inputs that need not be frozen."""
    uv = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    if uv is None:
        raise RefuseToStart(
            "the program uv is missing", repair="it comes with repairlab: reinstall the package"
        )
    root = machine.workplace.root
    variables = {name: os.environ[name] for name in _UV_VARIABLES if name in os.environ}
    environments = PythonEnvironments.discover(
        machine.workplace.environments, Path(uv), variables, (Path(sys.executable),)
    )
    toolchains = GoEnvironments.at(root / "go", Path(uv), variables)
    return Preparation(
        inputs, machine.workplace, environments, toolchains, machine.sandbox, code, watch, embed
    )


def _host_alone(plan: Plan) -> AbstractContextManager[None]:
    """No run of the study meanwhile, where vectors may be made: that unloads what a run has loaded."""
    return nullcontext() if plan.inputs.embedder is None else no_run_meanwhile(plan.study)


def _embed(plan: Plan, chunks: Sequence[CorpusChunks], store: VectorStore) -> None:
    """Embed what has no vector yet; no host is opened where nothing is missing."""
    model = plan.inputs.embedder
    if model is None or not missing_texts(chunks, store):
        return
    with open_host(plan) as host:
        embed_documents(chunks, store, model, plan.inputs.shared, host.client, host.residency, host.rules)


@contextmanager
def open_host(plan: Plan) -> Iterator[Host]:
    """The plan's model host; an emulator of our own where the experiment asks for it."""
    experiment = plan.inputs.experiment
    rules = FailureRules(load_failures(plan.study.contracts))
    silence = plan.inputs.shared.generation.silence_seconds
    with ExitStack() as stack:
        if experiment.host == "emulator":
            calibration = experiment.kind == "calibration"
            knowledge = plan.workplace.knowledge_file(experiment.name) if calibration else None
            wanted = small_models(plan.inputs)
            emulator = EmulatorProcess(knowledge=knowledge, llama=wanted.llama, minilm=wanted.minilm)
            url = stack.enter_context(emulator).url
            yield stack.enter_context(connect(url, None, rules, silence, {}))
        else:
            settings = plan.settings
            host = connect(
                settings.host, settings.token, rules, silence, os.environ, plan.frozen.record.host_level
            )
            yield stack.enter_context(host)


def _hold_environments(plan: Plan, ready: Mapping[str, Ready]) -> None:
    """Refuse to run in other test environments than were frozen."""
    for task, key in sorted(plan.frozen.record.environments.items()):
        if ready[task].environment_key != key:
            raise RefuseToStart(
                f"{task}: its test environment is {ready[task].environment_key[:12]} here, and {key[:12]} was"
                " frozen",
                repair="run on the platform and with the interpreter or toolchain of the freeze",
            )


def run(plan: Plan, watch: Watch, limit: int | None = None, *, retry_blocked: bool = False) -> Standing:
    """Prepare, then run the campaign under the experiment's lock.

    Raises:
        RefuseToStart: the experiment runs a small model of the extra, which is missing.
    """
    hold_small_models(plan.inputs)
    layout = plan.layout
    prepare_layout(layout)
    with writer_lock(layout, datetime.now(UTC).isoformat(timespec="seconds")):
        ready = prepare(plan, watch, embed=True)
        _hold_environments(plan, ready)
        with open_host(plan) as host:
            runtime = CellRuntime(
                inputs=plan.inputs,
                ready=ready,
                freeze=plan.frozen.head,
                client=host.client,
                residency=host.residency,
                rules=host.rules,
                provenance=host.provenance,
                sandbox=plan.sandbox,
                scratch=plan.workplace.scratch,
                journal=host.journal,
                now=time.monotonic,
            )
            attempts = plan.inputs.shared.infrastructure.attempts
            cells = plan.frozen.manifest.cells
            standing = run_campaign(
                layout, cells, attempts, runtime, host.wake, watch, limit, retry_blocked=retry_blocked
            )
            host.hold_unchanged()
            return standing
