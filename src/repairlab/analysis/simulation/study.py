"""The study directory of a simulation: the real contracts, invented tasks, a labelled experiment."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from repairlab.contract.canonical import sha256_hex
from repairlab.contract.errors import RefuseToStart
from repairlab.contract.study import Study, open_study

REPOSITORIES = (("alpha", "python"), ("beta", "python"), ("gamma", "go"))
"""Invented projects. Their address is one that can never exist (RFC 2606)."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How large the simulated experiment is, and what it is called."""

    name: str
    tasks_per_repository: int
    treatments: tuple[str, ...]
    models: tuple[str, ...]
    embedder: str
    """Empty where no treatment embeds."""
    order_seed: str
    rehearsal: bool = False


def write_study(source: Study, target: Path, shape: Shape) -> Study:
    """Write a new study directory at `target` with one experiment of kind ``simulation``.

    Raises:
        RefuseToStart: `target` holds anything, or the study has an experiment of that name: simulated
            records never lie where records of a study are or will be.
    """
    if target.exists() and any(target.iterdir()):
        raise RefuseToStart(
            f"{target} is not empty",
            repair="simulated records get a study directory of their own; name a new one",
        )
    if source.experiment_file(shape.name).is_file():
        raise RefuseToStart(
            f"{shape.name} is an experiment of {source.root}",
            repair="a simulation has a name of its own, so that nobody takes one for the other",
        )
    tasks = target / "preregistration" / "tasks"
    tasks.mkdir(parents=True)
    (target / "experiments").mkdir()
    shutil.copytree(source.contracts, target / "contracts")
    hypotheses = source.preregistration / "hypotheses.toml"
    if hypotheses.is_file():
        shutil.copy(hypotheses, target / "preregistration")
    names = []
    for repository, language in REPOSITORIES:
        for number in range(shape.tasks_per_repository):
            name = f"simulated-{repository}-{number:04d}"
            (tasks / f"{name}.toml").write_text(_task(name, repository, language), encoding="utf-8")
            names.append(name)
    (target / "experiments" / f"{shape.name}.toml").write_text(_experiment(shape, names), encoding="utf-8")
    return open_study(target)


def _experiment(shape: Shape, tasks: Sequence[str]) -> str:
    offsets = [(4 * index) % len(shape.treatments) for index in range(len(shape.models))]
    lines = {
        "schema_version": 1,
        "name": shape.name,
        "kind": "simulation",
        "rehearsal": shape.rehearsal,
        "title": "SIMULATED outcomes: drawn by a random generator, no agent ran, no results",
        "tasks": list(tasks),
        "treatments": list(shape.treatments),
        "models": list(shape.models),
        "embedder": shape.embedder,
        "seeds": [0],
        "host": "emulator",
    }
    text = "".join(f"{name} = {json.dumps(value)}\n" for name, value in lines.items())
    return f"{text}[order]\nseed = {json.dumps(shape.order_seed)}\nmodel_offsets = {json.dumps(offsets)}\n"


def _task(name: str, repository: str, language: str) -> str:
    suffix = "go" if language == "go" else "py"
    environment = 'go = ">=1.21"' if language == "go" else 'python = ">=3.11"'
    base, fix = (sha256_hex(f"{name} {end}".encode())[:40] for end in ("base", "fix"))
    return f"""\
schema_version = 1
id = "{name}"
repository = "https://{repository}.simulated.invalid/{repository}"
language = "{language}"
base = "{base}"
fix = "{fix}"
statement = "The simulated task {name}: it has no repository, and nothing can be run on it."
production_files = ["src/gold.{suffix}"]
hidden_test_files = ["tests/hidden.{suffix}"]
fail_to_pass = ["tests/hidden.{suffix}::new"]
pass_to_pass = ["tests/hidden.{suffix}::old", "tests/hidden.{suffix}::older"]
public_tests = ["tests/public.{suffix}"]
[environment]
{environment}
[limits]
public_seconds = 60
evaluation_seconds = 120
[digests]
gold_patch = "{sha256_hex(f"{name} gold".encode())}"
hidden_tests = "{sha256_hex(f"{name} hidden".encode())}"
"""
