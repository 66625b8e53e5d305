"""Changing one value changes exactly the identities that depend on it."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from repairlab.contract.models import Model
from repairlab.contract.strict import load
from repairlab.contract.study import Inputs, Study, load_inputs
from repairlab.contract.treatments import Treatment, Treatments
from repairlab.manifest.cell import Cell, Identity
from repairlab.manifest.expand import expand
from repairlab.manifest.revision import code_revision

CODE = "c" * 64
ROOT = Path(__file__).resolve().parent.parent.parent


def golden() -> dict[str, Any]:
    return {
        "experiment": "e08-main",
        "task": "1" * 64,
        "treatment": "2" * 64,
        "generation": "3" * 64,
        "context_tokens": 65536,
        "seed": 0,
        "repetition": 0,
        "repository": "4" * 40,
        "code": "5" * 64,
    }


def test_golden_identity() -> None:
    # The same bytes by hand: the sorted keys in one line of JSON without blanks, through sha256sum.
    assert Identity(**golden()).digest() == "8517b9c10c2aee1e31b871044803190285b8fac3cca12e92fccb6cb597c0a023"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("experiment", "e08-other"),
        ("task", "a" * 64),
        ("treatment", "a" * 64),
        ("generation", "a" * 64),
        ("context_tokens", 32768),
        ("seed", 1),
        ("repetition", 1),
        ("repository", "a" * 40),
        ("code", "a" * 64),
    ],
)
def test_every_field_is_part_of_the_identity(field: str, value: object) -> None:
    assert set(Identity.model_fields) == set(golden())
    assert Identity(**golden() | {field: value}).digest() != Identity(**golden()).digest()


def moved(inputs: Inputs, changed: Inputs) -> set[tuple[str, str, str]]:
    """Labels of the cells whose identity differs between two versions of the inputs."""
    before, after = expand(inputs, CODE).cells, expand(changed, CODE).cells
    assert [label(c) for c in before] == [label(c) for c in after]
    return {label(b) for b, a in zip(before, after, strict=True) if b.digest != a.digest}


def label(cell: Cell) -> tuple[str, str, str]:
    return cell.task, cell.treatment, cell.model


def everywhere(inputs: Inputs, keep: Callable[[tuple[str, str, str]], bool]) -> set[tuple[str, str, str]]:
    return {label(cell) for cell in expand(inputs, CODE).cells if keep(label(cell))}


def edit(study: Study, file: str, old: str, new: str) -> Inputs:
    path = study.root / file
    assert path.read_text().count(old) >= 1
    path.write_text(path.read_text().replace(old, new, 1))
    return load_inputs(study, "small")


def test_a_task_moves_its_own_cells(study: Study) -> None:
    before = load_inputs(study, "small")
    after = edit(
        study, "preregistration/tasks/one-a.toml", "evaluation_seconds = 120", "evaluation_seconds = 121"
    )
    assert moved(before, after) == everywhere(before, lambda c: c[0] == "one-a")


def test_a_base_commit_moves_the_repository_field_too(study: Study) -> None:
    before = load_inputs(study, "small")
    after = edit(study, "preregistration/tasks/one-a.toml", f"{0:040x}", "d" * 40)
    assert moved(before, after) == everywhere(before, lambda c: c[0] == "one-a")
    assert {c.identity.repository for c in expand(after, CODE).cells if c.task == "one-a"} == {"d" * 40}


def test_a_model_moves_its_own_cells(study: Study) -> None:
    before = load_inputs(study, "small")
    after = edit(study, "contracts/models.toml", '"repairlab/calibration-floor"', '"repairlab/other"')
    assert moved(before, after) == everywhere(before, lambda c: c[2] == "FLOOR")


def test_temperature_of_a_model_moves_its_own_cells(study: Study) -> None:
    before = load_inputs(study, "small")
    old = '[NAVIGATOR]\nrole = "agent"\ncalibration = true\ntemperature = 0.0'
    after = edit(study, "contracts/models.toml", old, old.replace("0.0", "0.1"))
    assert moved(before, after) == everywhere(before, lambda c: c[2] == "NAVIGATOR")


def test_temperature_of_the_experiment_moves_every_cell(study: Study) -> None:
    before = load_inputs(study, "small")
    after = edit(study, "experiments/small.toml", "seeds = [0]", "seeds = [0]\ntemperature = 0.2")
    assert moved(before, after) == everywhere(before, lambda _: True)


def test_an_unused_model_moves_nothing(study: Study) -> None:
    before = load_inputs(study, "small")
    after = edit(study, "contracts/models.toml", "context_tokens = 32768", "context_tokens = 16384")
    assert moved(before, after) == set()


def test_the_tool_search_moves_the_treatments_that_have_it(study: Study) -> None:
    before = load_inputs(study, "small")
    after = edit(
        study, "contracts/prompts/tools/search.toml", "Search the repository", "Look through the repository"
    )
    assert moved(before, after) == everywhere(before, lambda c: c[1] == "H000")


def test_the_oracle_text_moves_the_oracle_treatment(study: Study) -> None:
    before = load_inputs(study, "small")
    after = edit(study, "contracts/prompts/oracle.txt", "The fault is repaired in", "The repair lies in")
    assert moved(before, after) == everywhere(before, lambda c: c[1] == "H018")


def test_the_purpose_of_one_treatment_moves_that_treatment(study: Study) -> None:
    before = load_inputs(study, "small")
    after = edit(study, "contracts/treatments.toml", '"lexical floor"', '"another floor"')
    assert moved(before, after) == everywhere(before, lambda c: c[1] == "H000")


def test_code_moves_every_cell(study: Study) -> None:
    inputs = load_inputs(study, "small")
    before, after = expand(inputs, CODE), expand(inputs, "d" * 64)
    assert not {c.digest for c in before.cells} & {c.digest for c in after.cells}


USERS = {
    "budgets": "all", "patch": "all", "evaluation": "all", "infrastructure": "all", "generation": "all",
    "interaction": "interactive", "view": "interactive", "staged": "staged",
    "corpus": "searching", "search": "tool-searching",
    "exact": "exact", "paths": "paths",
    "dense": "chunked", "lexical": "lexical", "fuzzy": "lexical", "named_paths": "lexical",
    "symbols": "symbols", "fusion": "fused", "graph": "graph",
}  # fmt: skip

ARMS = {
    "exact": Treatment(purpose="p", kind="interactive", tools=("finish",), components=("exact",)),
    "finding": Treatment(
        purpose="p", kind="interactive", tools=("finish",), components=("exact", "paths")
    ),
    "dense": Treatment(purpose="p", kind="interactive", tools=("finish",), components=("exact", "dense")),
    "hybrid": Treatment(
        purpose="p", kind="interactive", tools=("finish",), fusion="reciprocal-rank",
        components=("exact", "lexical", "symbols", "dense"),
    ),
    "graph": Treatment(
        purpose="p", kind="interactive", tools=("finish",),
        components=("exact", "lexical", "symbols", "dense", "graph"),
    ),
    "oracle": Treatment(purpose="p", kind="interactive", tools=("finish",), oracle_files=True),
    "staged": Treatment(purpose="p", kind="staged"),
}  # fmt: skip
AFFECTED = {
    "all": set(ARMS),
    "interactive": set(ARMS) - {"staged"},
    "staged": {"staged"},
    "searching": set(ARMS) - {"oracle"},
    "tool-searching": {"exact", "finding", "dense", "hybrid", "graph"},
    "exact": {"exact", "finding", "dense", "hybrid", "graph"},
    "paths": {"finding"},
    "chunked": {"dense", "hybrid", "graph"},
    "lexical": {"hybrid", "graph"},
    "symbols": {"hybrid", "graph"},
    "fused": {"hybrid", "graph"},
    "graph": {"graph"},
}


def leaves() -> Iterator[tuple[str, str]]:
    shared = tomllib.loads((ROOT / "contracts" / "shared.toml").read_text())
    for group, fields in shared.items():
        if isinstance(fields, dict):
            yield from ((group, name) for name in fields)


@pytest.mark.parametrize(("group", "name"), list(leaves()))
def test_each_shared_control_moves_exactly_the_treatments_that_use_it(
    study: Study, group: str, name: str
) -> None:
    inputs = load_inputs(study, "small")
    arms = _with(inputs, treatments=ARMS)
    part = getattr(inputs.shared, group)
    fresh = part.model_copy(update={name: _other(getattr(part, name))})
    shared = inputs.shared.model_copy(update={group: fresh})
    changed = {c[1] for c in moved(arms, _with(arms, shared=shared))}
    assert changed == AFFECTED[USERS[group]]


def test_the_file_holds_every_shared_control(study: Study) -> None:
    """So no default can be a control that the test above does not change."""
    shared = load_inputs(study, "small").shared
    written = {
        (group, name) for group, part in shared if hasattr(part, "model_fields_set") for name, _ in part
    }
    assert written == set(leaves())


CHUNKED = {"H003", "H007", "H011"}
HYBRID = {"H007", "H011"}
SEARCHING = {"H000", "H003", "H007", "H011", "A002"}
EVERY = SEARCHING | {"H018", "A001"}
OF_THE_STUDY: dict[str, set[str]] = {
    "budgets": EVERY, "patch": EVERY, "evaluation": EVERY, "infrastructure": EVERY, "generation": EVERY,
    "interaction": EVERY - {"A001"}, "view": EVERY - {"A001"}, "staged": {"A001"},
    "corpus": EVERY - {"H018"}, "search": SEARCHING, "exact": SEARCHING, "paths": {"A002"},
    "dense": CHUNKED, "lexical": HYBRID, "fuzzy": HYBRID, "named_paths": HYBRID, "symbols": HYBRID,
    "fusion": HYBRID, "graph": {"H011"},
}  # fmt: skip
"""Which of the seven treatments each group of controls can change an outcome of."""


def test_each_index_and_chunk_parameter_and_the_query_instruction_move_the_arms_of_the_study_that_use_them(
    study: Study,
) -> None:
    inputs = load_inputs(study, "small")
    seven = load(Treatments, study.contracts / "treatments.toml").root
    arms = _with(inputs, treatments=seven, embedder=_embedder())
    assert set(seven) == EVERY
    assert set(OF_THE_STUDY) == {group for group, _ in leaves()}
    before = {cell.treatment: cell.digest for cell in expand(arms, CODE).cells}
    for group, name in leaves():
        part = getattr(inputs.shared, group)
        fresh = part.model_copy(update={name: _other(getattr(part, name))})
        shared = inputs.shared.model_copy(update={group: fresh})
        after = {cell.treatment: cell.digest for cell in expand(_with(arms, shared=shared), CODE).cells}
        assert {arm for arm in EVERY if before[arm] != after[arm]} == OF_THE_STUDY[group], (group, name)


@pytest.mark.parametrize(
    ("name", "users"),
    [
        ("system.txt", "all"),
        ("task.txt", "all"),
        ("oracle.txt", "oracle"),
        ("interactive/access.txt", "interactive"),
        ("interactive/conduct.txt", "interactive"),
        ("interactive/budgets.txt", "interactive"),
        ("interactive/reminder.txt", "interactive"),
        ("staged/access.txt", "staged"),
        ("staged/conduct.txt", "staged"),
        ("staged/files.txt", "staged"),
        ("staged/lines.txt", "staged"),
        ("staged/repair.txt", "staged"),
        ("tools/finish.toml", "interactive"),
        ("tools/search.toml", "none"),
    ],
)
def test_each_prompt_file_moves_exactly_the_treatments_that_use_it(
    study: Study, name: str, users: str
) -> None:
    before = load_inputs(study, "small")
    path = study.contracts / "prompts" / name
    text = path.read_text()
    path.write_text(text.replace('"', '"Also ', 1) if name.endswith(".toml") else f"Also {text}")
    after = load_inputs(study, "small")
    changed = {c[1] for c in moved(_with(before, treatments=ARMS), _with(after, treatments=ARMS))}
    assert changed == {**AFFECTED, "oracle": {"oracle"}, "none": set()}[users]


def test_every_prompt_file_is_listed_above(study: Study) -> None:
    folder = study.contracts / "prompts"
    (mark,) = test_each_prompt_file_moves_exactly_the_treatments_that_use_it.pytestmark
    listed = {name for name, _ in mark.args[1]}
    texts = {path.relative_to(folder).as_posix() for path in folder.rglob("*.txt")}
    assert texts == {name for name in listed if name.endswith(".txt")}


def _with(inputs: Inputs, **fields: Any) -> Inputs:
    import dataclasses

    fresh = dataclasses.replace(inputs, **fields)
    if "treatments" in fields:
        experiment = inputs.experiment.model_copy(update={"treatments": tuple(fields["treatments"])})
        fresh = dataclasses.replace(fresh, experiment=experiment)
    return fresh


def _other(value: object) -> object:
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    return (*value, "x") if isinstance(value, tuple) else f"{value}x"


def test_the_revision_covers_code_but_not_analysis_or_the_command_line(tmp_path: Path) -> None:
    package, contracts = tmp_path / "repairlab", tmp_path / "contracts"
    for name in (
        "agents/a.py", "analysis/b.py", "cli/c.py", "repositories/embedded/x/tree/d.py", "e.py",
        "search/queries/q.scm", "evaluation/inside/d.go", "agents/__pycache__/a.pyc",
    ):  # fmt: skip
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text("one")
    for name in ("shared.toml", "models.toml", "prompts/task.txt", "prompts/tools/a.toml", "failures.toml"):
        (contracts / name).parent.mkdir(parents=True, exist_ok=True)
        (contracts / name).write_text("one")

    def moves(path: Path) -> bool:
        before = code_revision(package, contracts)
        path.write_text("two")
        return code_revision(package, contracts) != before

    assert moves(package / "agents" / "a.py")
    assert moves(package / "e.py")
    assert moves(package / "search" / "queries" / "q.scm")
    assert moves(package / "evaluation" / "inside" / "d.go")
    assert moves(contracts / "failures.toml")
    assert not moves(package / "agents" / "__pycache__" / "a.pyc")
    assert not moves(package / "analysis" / "b.py")
    assert not moves(package / "cli" / "c.py")
    assert not moves(package / "repositories" / "embedded" / "x" / "tree" / "d.py")
    for name in ("shared.toml", "models.toml", "prompts/task.txt", "prompts/tools/a.toml"):
        assert not moves(contracts / name)


def test_the_revision_moves_when_a_file_is_renamed(tmp_path: Path) -> None:
    package, contracts = tmp_path / "repairlab", tmp_path / "contracts"
    (package / "agents").mkdir(parents=True)
    contracts.mkdir()
    (package / "agents" / "a.py").write_text("one")
    before = code_revision(package, contracts)
    (package / "agents" / "a.py").rename(package / "agents" / "b.py")
    assert code_revision(package, contracts) != before


@pytest.mark.parametrize("change", ["key", "quantization", "native_dimensions", "context_tokens"])
def test_each_fact_of_the_embedder_moves_exactly_the_treatments_that_embed(study: Study, change: str) -> None:
    inputs = _with(load_inputs(study, "small"), treatments=ARMS, embedder=_embedder())
    facts: dict[str, Any] = {"facts": {"key": "one", change: "other"}}
    if change == "native_dimensions":
        facts = {"facts": {"key": "one", change: 384, "padded": True}}
    if change == "context_tokens":
        facts = {change: 16384}
    changed = {c[1] for c in moved(inputs, _with(inputs, embedder=_embedder(**facts)))}
    assert changed == {"dense", "hybrid", "graph"}


def _embedder(**facts: Any) -> Model:
    return Model.model_validate(
        {"role": "embedder", "context_tokens": 32768, "facts": {"key": "one"}, **facts}, strict=False
    )
