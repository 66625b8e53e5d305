"""A study is a directory of fixed layout; this module reads its frozen inputs, whole and strictly."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from repairlab.contract.controls import SharedControls
from repairlab.contract.errors import BadInput
from repairlab.contract.excluded import Exclusions
from repairlab.contract.experiment import Experiment
from repairlab.contract.models import Model, Models
from repairlab.contract.strict import load
from repairlab.contract.task import Task
from repairlab.contract.treatments import Treatment, Treatments
from repairlab.contract.wording import Wording, load_wording

EntryT = TypeVar("EntryT", Treatment, Model)


@dataclass(frozen=True, slots=True)
class Study:
    """Paths of a study directory. Nothing is read before it is asked for."""

    root: Path

    @property
    def contracts(self) -> Path:
        return self.root / "contracts"

    @property
    def preregistration(self) -> Path:
        return self.root / "preregistration"

    @property
    def experiments(self) -> Path:
        return self.root / "experiments"

    @property
    def raw(self) -> Path:
        return self.root / "raw"

    @property
    def incomplete(self) -> Path:
        return self.root / "incomplete"

    def experiment_file(self, name: str) -> Path:
        """Where the experiment `name` is described."""
        return self.experiments / f"{name}.toml"

    @property
    def excluded_file(self) -> Path:
        """Where the fixes that may be no tasks of the study are listed."""
        return self.preregistration / "excluded.toml"

    def task_file(self, name: str) -> Path:
        """Where the facts of the task `name` stand."""
        return self.preregistration / "tasks" / f"{name}.toml"


@dataclass(frozen=True, slots=True)
class Inputs:
    """Every frozen input of one experiment, validated against each other."""

    experiment: Experiment
    shared: SharedControls
    wording: Wording
    treatments: dict[str, Treatment]
    models: dict[str, Model]
    tasks: dict[str, Task]
    embedder: Model | None = None
    """``None`` exactly where no treatment has dense retrieval."""

    def task(self, name: str) -> Task:
        """The task `name`."""
        return self.tasks[name]


def open_study(root: Path) -> Study:
    """The study at `root`.

    Raises:
        BadInput: if `root` lacks the folders of a study.
    """
    study = Study(root.resolve())
    missing = [p.name for p in (study.contracts, study.experiments, study.preregistration) if not p.is_dir()]
    if missing:
        raise BadInput(
            f"{study.root} is no study directory: it has no {', '.join(missing)}/",
            repair="run the command inside a study, or name one with --study DIR",
        )
    return study


def load_inputs(study: Study, name: str) -> Inputs:
    """Read what `experiments/<name>.toml` names.

    Raises:
        BadInput: naming file, line and field of each fault.
    """
    path = study.experiment_file(name)
    if not path.is_file():
        known = sorted(p.stem for p in study.experiments.glob("*.toml"))
        raise BadInput(
            f"{study.experiments} has no {name}.toml",
            repair=f"experiments here: {', '.join(known) or 'none'}",
        )
    experiment = load(Experiment, path)
    if experiment.name != name:
        raise BadInput(f"{path}: name: is {experiment.name!r} but the file is called {name}.toml")
    shared = load(SharedControls, study.contracts / "shared.toml")
    wording = load_wording(study.contracts)
    treatments = load(Treatments, study.contracts / "treatments.toml").root
    models = load(Models, study.contracts / "models.toml").root
    _check_tools(treatments, wording, study)
    arms = _pick(treatments, experiment.treatments, path, "treatments")
    return Inputs(
        experiment=experiment,
        shared=shared,
        wording=wording,
        treatments=arms,
        models=_checked_models(_pick(models, experiment.models, path, "models"), experiment, path),
        tasks=_tasks(study, experiment, path),
        embedder=_embedder(models, arms, experiment, path),
    )


def _pick(known: dict[str, EntryT], wanted: tuple[str, ...], path: Path, field: str) -> dict[str, EntryT]:
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise BadInput(f"{path}: {field}: unknown {unknown[0]!r} (known: {', '.join(sorted(known))})")
    return {name: known[name] for name in wanted}


def _check_tools(treatments: dict[str, Treatment], wording: Wording, study: Study) -> None:
    for name, treatment in treatments.items():
        for tool in treatment.tools:
            if tool not in wording.tools:
                path = study.contracts / "treatments.toml"
                raise BadInput(f"{path}: {name}.tools: {tool!r} has no file in prompts/tools")
        wording.offered(treatment.tools)


def _embedder(
    models: dict[str, Model], arms: dict[str, Treatment], experiment: Experiment, path: Path
) -> Model | None:
    name = experiment.embedder
    users = [arm for arm, treatment in arms.items() if treatment.embeds]
    if not users:
        if name:
            raise BadInput(f"{path}: embedder: {name} is named, and no treatment has dense retrieval")
        return None
    if not name:
        raise BadInput(f"{path}: embedder: the treatment {users[0]} needs one")
    model = _pick(models, (name,), path, "embedder")[name]
    if model.role != "embedder":
        raise BadInput(f"{path}: embedder: {name} is no embedder but an {model.role}")
    if model.calibration != (experiment.kind == "calibration"):
        raise BadInput(f"{path}: embedder: {name} does not fit an experiment of kind {experiment.kind!r}")
    if model.facts.padded and experiment.preregistered:
        what = f"{name} has {model.facts.native_dimensions} dimensions, padded with zeros"
        raise BadInput(f"{path}: embedder: {what}; a {experiment.kind} run refuses it")
    return model


def _checked_models(models: dict[str, Model], experiment: Experiment, path: Path) -> dict[str, Model]:
    for name, model in models.items():
        if model.role != "agent":
            raise BadInput(f"{path}: models: {name} is no agent but an {model.role}")
        if model.calibration and experiment.preregistered:
            raise BadInput(
                f"{path}: models: {name} is a calibration model; a {experiment.kind} run refuses it"
            )
        if model.calibration != (experiment.kind == "calibration"):
            raise BadInput(f"{path}: models: {name} does not fit an experiment of kind {experiment.kind!r}")
    return models


def _tasks(study: Study, experiment: Experiment, path: Path) -> dict[str, Task]:
    excluded = _exclusions(study) if experiment.preregistered else Exclusions()
    tasks = {}
    for name in experiment.tasks:
        file = study.task_file(name)
        if not file.is_file():
            raise BadInput(f"{path}: tasks: {file} does not exist")
        task = load(Task, file)
        if task.id != name:
            raise BadInput(f"{file}: id: is {task.id!r} but the file is called {name}.toml")
        if experiment.allow_unsandboxed and not task.repository.startswith("embedded:"):
            raise BadInput(
                f"{path}: allow_unsandboxed: {name} is a real repository, and its tests are hostile code",
                repair="only an experiment on embedded repositories may run tests without a sandbox",
            )
        if used := excluded.of(task):
            raise BadInput(
                f"{path}: tasks: {name} is the fix {used.fix[:12]}, which is excluded: {used.reason}",
                repair="take the next candidate of its repository in the registered order",
            )
        tasks[name] = task
    return tasks


def _exclusions(study: Study) -> Exclusions:
    if not study.excluded_file.is_file():
        raise BadInput(
            f"{study.excluded_file} does not exist",
            repair="a preregistered experiment needs the list of excluded fixes, empty or not",
        )
    return load(Exclusions, study.excluded_file)
