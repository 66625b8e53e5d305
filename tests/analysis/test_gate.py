"""The gate: what passes, what closes it, and that nothing gets around it."""

from __future__ import annotations

import copy
import json
import pickle
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repairlab.analysis.checks import store_findings
from repairlab.analysis.gate import GateClosed, Gated, admit, admit_frames
from repairlab.analysis.hypotheses import load_hypotheses
from repairlab.analysis.outcomes import Key, Outcome, crossed
from repairlab.analysis.pairing import paired
from repairlab.analysis.report.assemble import assemble
from repairlab.contract.errors import BadInput, IncompleteData
from repairlab.store.layout import OUTCOME_SUMS, SUMS

DESIGN = crossed({"easy": ["t1", "t2"], "hard": ["t3"]}, ["A", "B"], ["M"], ["1"])
ALL = [Outcome(key, number % 2) for number, key in enumerate(DESIGN.planned)]


def rules(error: pytest.ExceptionInfo[GateClosed]) -> set[str]:
    return {finding.rule for finding in error.value.findings}


def closed(frames: Any, **options: bool) -> pytest.ExceptionInfo[GateClosed]:
    with pytest.raises(GateClosed) as error:
        admit_frames(frames, **options)
    assert error.value.exit_status == 3
    return error


def test_a_complete_store_passes_and_carries_no_stamp(small: Any) -> None:
    gated = admit_frames(small.frames())
    assert len(gated.resolved) == len(small.frozen.manifest.cells) == len(small.cells())
    assert (gated.stamp, gated.missing, gated.notes) == ("", (), ())
    assert gated.provenance.manifest == small.frozen.record.manifest


def test_outcomes_are_those_of_the_sealed_metrics(small: Any) -> None:
    gated = admit_frames(small.frames())
    for folder in small.cells():
        task, arm, model, seed, repetition = folder.name.split(".")[:5]
        metrics = json.loads((folder / "metrics.json").read_text())
        assert gated.resolved[Key(task, arm, model, f"{seed}.{repetition}")] == metrics["resolved_at_1"]


def test_readers_beside_each_other_read_the_same(small: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("repairlab.analysis.frames._ALONE", 10)
    monkeypatch.setattr("repairlab.analysis.frames._BATCH", 40)
    one, two = small.frames(1), small.frames(2)
    for name, table in one.tables.items():
        assert table.equals(two.tables[name]), name


def test_every_missing_cell_is_listed(damaged: Any) -> None:
    gone = damaged.cells()[3:6]
    for folder in gone:
        shutil.rmtree(folder)
    error = closed(damaged.frames())
    assert rules(error) == {"missing"}
    assert len(error.value.findings) == 3
    assert isinstance(error.value, IncompleteData)
    gated = admit_frames(damaged.frames(), incomplete=True)
    planned = len(damaged.frozen.manifest.cells)
    assert gated.stamp == f"INCOMPLETE {planned - 3}/{planned}"
    assert {str(key).replace(".s0", ".s0") for key in gated.missing} == {f.name[:-13] for f in gone}


def test_blocked_cells_are_missing_and_counted_as_tried(simulate: Callable[..., Any]) -> None:
    store = simulate(blocked=4, missing=2)
    error = closed(store.frames())
    tried = [finding for finding in error.value.findings if "tried, without" in finding.text]
    assert (len(error.value.findings), len(tried)) == (6, 4)
    assert len(admit_frames(store.frames(), incomplete=True).infrastructure) == 4


def reseal(folder: Path) -> None:
    """Checksums of a tampered cell, made anew: the gate must find what seals cannot."""
    from repairlab.store.attempt import checksum_list
    from repairlab.store.layout import ARTIFACTS, TIMING

    for name, members in ((OUTCOME_SUMS, ARTIFACTS), (SUMS, (*ARTIFACTS, TIMING, OUTCOME_SUMS))):
        rewrite(folder / name, checksum_list(folder, sorted(members)))


def edit(folder: Path, name: str, change: Callable[[Any], None]) -> None:
    value = json.loads((folder / name).read_text())
    change(value)
    rewrite(folder / name, json.dumps(value).encode())


def rewrite(path: Path, data: bytes) -> None:
    path.parent.chmod(0o755)
    path.unlink()
    path.write_bytes(data)


def test_one_changed_byte_closes_the_gate_for_good(damaged: Any) -> None:
    edit(damaged.cells()[0], "metrics.json", lambda metrics: metrics.update(prompt_tokens=1))
    for options in ({}, {"incomplete": True}):
        error = closed(damaged.frames(), **options)
        assert "seal" in rules(error)
        assert "metrics.json is not what" in str(error.value)


def of_another_freeze(record: Any) -> None:
    record["freeze"] = "0" * 64


def in_another_environment(record: Any) -> None:
    record["facts"]["environment"]["key"] = "another"


def in_another_sandbox(record: Any) -> None:
    record["facts"]["sandbox"]["name"] = "copy"


def by_another_evaluator(record: Any) -> None:
    record["facts"]["software"]["repairlab"] = "0.0.9"


def by_an_agent(record: Any) -> None:
    record["facts"]["residency"]["level"] = "rest"


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (of_another_freeze, "freeze"),
        (in_another_environment, "environment"),
        (in_another_sandbox, "sandbox"),
        (by_another_evaluator, "evaluator"),
        (by_an_agent, "simulated"),
    ],
)
def test_a_record_made_otherwise_closes_the_gate_for_good(
    damaged: Any, change: Callable[[Any], None], rule: str
) -> None:
    folder = damaged.cells()[5]
    edit(folder, "cell.json", change)
    reseal(folder)
    assert rule in rules(closed(damaged.frames()))
    assert rule in rules(closed(damaged.frames(), incomplete=True))


def test_a_carried_record_may_come_from_an_earlier_version(damaged: Any) -> None:
    folder = damaged.cells()[5]
    edit(folder, "cell.json", by_another_evaluator)
    reseal(folder)
    frames = damaged.frames()
    assert "evaluator" in {rule for rule, _ in store_findings(frames)}
    carried = replace(frames, plan=replace(frames.plan, carried={folder.name: "the.earlier.name"}))
    assert "evaluator" not in {rule for rule, _ in store_findings(carried)}


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("metrics.json", lambda metrics: metrics.update(model_calls=13)),
        ("metrics.json", lambda metrics: metrics.update(tool_calls=13)),
        ("metrics.json", lambda metrics: metrics.update(public_test_runs=3)),
        ("timing.json", lambda timing: timing["agent_intervals"][0].update(seconds=1801.0)),
    ],
)
def test_a_budget_overrun_closes_the_gate(damaged: Any, name: str, change: Callable[[Any], None]) -> None:
    folder = damaged.cells()[5]
    edit(folder, name, change)
    reseal(folder)
    assert rules(closed(damaged.frames())) == {"budget"}


def test_calls_that_were_counted_and_refused_are_no_overrun(damaged: Any) -> None:
    folder = damaged.cells()[5]
    change = {"tool_calls": 15, "calls_by_kind": {"over-budget": 2, "too-many-calls": 1}}
    edit(folder, "metrics.json", lambda metrics: metrics.update(change))
    reseal(folder)
    admit_frames(damaged.frames())


def test_a_missing_label_closes_the_gate(damaged: Any) -> None:
    folder = next(folder for folder in damaged.cells() if ".A002." in folder.name)
    edit(folder, "metrics.json", lambda metrics: metrics.update(label=""))
    reseal(folder)
    assert "seal" in rules(closed(damaged.frames()))


def test_an_edited_manifest_closes_the_gate(small: Any) -> None:
    frames = small.frames()
    plan = replace(frames.plan, recomputed="0" * 64)
    assert "manifest" in rules(closed(replace(frames, plan=plan)))


def test_cells_of_two_manifests_are_never_pooled(small: Any) -> None:
    frames = small.frames()
    first = frames.plan.cells[0]
    other = first.model_copy(update={"identity": first.identity.model_copy(update={"experiment": "another"})})
    plan = replace(frames.plan, cells=(other, *frames.plan.cells[1:]))
    assert "manifest" in rules(closed(replace(frames, plan=plan)))


def test_a_record_that_nobody_planned_closes_the_gate_of_a_preregistered_experiment(small: Any) -> None:
    frames = replace(small.frames(), unplanned=("some-cell",))
    assert "unplanned" in rules(closed(frames))
    main = replace(frames, plan=replace(frames.plan, kind="main"))
    assert {"unplanned", "simulated"} <= rules(closed(main))


def test_a_planned_cell_that_occurs_twice_closes_the_gate(small: Any) -> None:
    frames = small.frames()
    plan = replace(frames.plan, cells=(*frames.plan.cells, frames.plan.cells[0]))
    assert "duplicate" in rules(closed(replace(frames, plan=plan)))


def test_arms_that_hold_different_tasks_close_the_gate(small: Any) -> None:
    frames = small.frames()
    cells = tuple(
        cell
        for cell in frames.plan.cells
        if (cell.treatment, cell.task) != ("H003", frames.plan.cells[0].task)
    )
    tables = dict(frames.tables)
    tables["cells"] = tables["cells"].filter(pl.col("sequence").is_in([cell.sequence for cell in cells]))
    fewer = replace(frames, plan=replace(frames.plan, cells=cells), tables=tables)
    assert rules(closed(fewer)) == {"unequal arms"}


@pytest.mark.parametrize(
    "way",
    [
        lambda gated: Gated(object(), resolved={}),
        lambda gated: Gated(None),
        copy.copy,
        copy.deepcopy,
        pickle.dumps,
        lambda gated: setattr(gated, "missing", ()),
        lambda gated: delattr(gated, "missing"),
        lambda gated: Gated.__new__(Gated).resolved,
    ],
)
def test_nothing_gets_around_the_gate(way: Callable[[Gated], Any]) -> None:
    with pytest.raises((TypeError, AttributeError)):
        way(admit(DESIGN, ALL, "table"))


@settings(max_examples=60)
@given(st.data())
def test_any_duplicate_or_missing_record_raises(data: Any) -> None:
    records = list(ALL)
    place = data.draw(st.integers(0, len(records) - 1))
    if data.draw(st.booleans()):
        records.append(records[place]._replace(resolved=data.draw(st.integers(0, 1))))
        expected = {"duplicate"}
    else:
        records.pop(place)
        expected = {"missing"}
    with pytest.raises(GateClosed) as error:
        admit(DESIGN, data.draw(st.permutations(records)), "table")
    assert rules(error) == expected


@settings(max_examples=30)
@given(st.permutations(ALL))
def test_the_order_of_records_is_irrelevant(records: list[Outcome]) -> None:
    one, other = admit(DESIGN, ALL, "table"), admit(DESIGN, records, "table")
    assert (one.resolved, one.provenance) == (other.resolved, other.provenance)
    assert list(one.resolved) == list(other.resolved)


def test_a_long_list_is_shortened_in_the_message_and_whole_in_the_findings() -> None:
    design = crossed({"s": [f"t{n:03d}" for n in range(200)]}, ["A", "B"], ["M"], ["1"])
    few = [Outcome(key, 0) for key in design.planned[:4]]
    with pytest.raises(GateClosed) as error:
        admit(design, few, "table")
    assert len(error.value.findings) == 396
    assert len(str(error.value).splitlines()) < 40
    assert "and 376 more" in str(error.value)


def test_a_verdict_that_the_tests_do_not_bear_out_closes_the_gate(damaged: Any) -> None:
    def fail_one(tests: Any) -> None:
        name = next(name for name, outcome in tests["required"].items() if outcome == "passed")
        tests["required"][name] = "failed"

    folder = damaged.cells()[2]
    edit(folder, "tests.json", fail_one)
    reseal(folder)
    assert "other counts of tests than tests.json" in str(closed(damaged.frames(), incomplete=True).value)


def test_a_verdict_on_other_tests_than_the_task_s_closes_the_gate(damaged: Any) -> None:
    folder = damaged.cells()[2]
    edit(folder, "tests.json", lambda tests: tests["required"].update(another="passed"))
    edit(
        folder,
        "metrics.json",
        lambda one: one.update(required_tests=4, required_tests_passed=one["required_tests_passed"] + 1),
    )
    reseal(folder)
    assert "other tests than the task requires" in str(closed(damaged.frames()).value)


def test_a_link_in_the_place_of_a_sealed_file_closes_the_gate(damaged: Any, tmp_path: Path) -> None:
    folder = damaged.cells()[4]
    outside = tmp_path / "outside.json"
    outside.write_bytes((folder / "metrics.json").read_bytes())
    folder.chmod(0o755)
    (folder / "metrics.json").unlink()
    (folder / "metrics.json").symlink_to(outside)
    assert "metrics.json is no regular file" in str(closed(damaged.frames(), incomplete=True).value)


def test_an_experiment_outside_the_study_may_hold_cells_of_an_earlier_freeze(small: Any) -> None:
    frames = small.frames()
    tables = dict(frames.tables)
    tables["cells"] = tables["cells"].with_columns(host_level=pl.lit("rest"))
    plan = replace(frames.plan, kind="calibration", freezes=("0" * 64,))
    gated = admit_frames(replace(frames, plan=plan, tables=tables, unplanned=("some-cell",)))
    assert len(gated.notes) == 2
    assert all("earlier freeze" in note for note in gated.notes)


def test_a_reliability_design_passes_and_its_arms_are_never_contrasted(small: Any) -> None:
    frames = small.frames()
    some = frames.plan.cells[::5]
    tables = dict(frames.tables)
    tables["cells"] = tables["cells"].filter(pl.col("sequence").is_in([cell.sequence for cell in some]))
    fewer = replace(frames, plan=replace(frames.plan, cells=some, design="reliability"), tables=tables)
    gated = admit_frames(fewer)
    report = assemble(gated, load_hypotheses(small.study))
    assert [table.name for table in report.tables] == ["T1", "T3", "R1", "R2"]
    with pytest.raises(BadInput, match="not planned on the same tasks"):
        paired(gated, "H007", "H000")
