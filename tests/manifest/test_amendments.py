"""Amendments: a chain behind the freeze record that nobody can rewrite, and that changes no experiment."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from repairlab.contract.errors import BadInput, RefuseToStart
from repairlab.contract.study import Study, load_inputs
from repairlab.manifest.amendments import recoded, with_code
from repairlab.manifest.freeze import (
    Frozen,
    SourceState,
    amendment_file,
    differences,
    encode,
    manifest_file,
    read_frozen,
    record_file,
)
from repairlab.manifest.making import Moment, amend, make_freeze
from repairlab.manifest.revision import Code

FIRST = Code("c" * 64, {"src/agents/loop.py": "1" * 64, "src/search/exact.py": "2" * 64})
SECOND = Code("d" * 64, {"src/agents/loop.py": "1" * 64, "src/search/snippets.py": "3" * 64})
THIRD = Code("e" * 64, {"src/agents/loop.py": "4" * 64, "src/search/snippets.py": "3" * 64})
MOMENT = Moment(SourceState("a" * 40, dirty=False), "2026-01-01T00:00:00Z")


@pytest.fixture
def frozen(study: Study) -> Frozen:
    made = make_freeze(study, load_inputs(study, "small"), FIRST, MOMENT)
    manifest_file(study, "small").write_bytes(encode(made.manifest))
    record_file(study, "small").write_bytes(encode(made.record))
    return made


def amended(study: Study, frozen: Frozen, code: Code, reason: str = "a repair") -> Frozen:
    found = amend(study, load_inputs(study, "small"), frozen, code, MOMENT, reason)
    last = found.amendments[-1]
    amendment_file(study, "small", last.number).write_bytes(encode(last))
    return found


@pytest.fixture
def twice(study: Study, frozen: Frozen) -> Frozen:
    return amended(study, amended(study, frozen, SECOND), THIRD)


def test_a_chain_reads_back_equal_and_the_first_record_is_as_it_was(study: Study, frozen: Frozen) -> None:
    record = record_file(study, "small").read_bytes()
    manifest = manifest_file(study, "small").read_bytes()
    found = amended(study, amended(study, frozen, SECOND), THIRD)
    assert read_frozen(study, "small") == found
    assert record_file(study, "small").read_bytes() == record
    assert manifest_file(study, "small").read_bytes() == manifest


def test_each_link_names_its_parent_and_what_it_changed(frozen: Frozen, twice: Frozen) -> None:
    one, two = twice.amendments
    assert (one.parent, two.parent) == (frozen.record.digest(), one.digest())
    assert twice.chain == (frozen.record.digest(), one.digest(), two.digest())
    assert twice.revisions == (FIRST.revision, SECOND.revision, THIRD.revision)
    changed = {path: (change.before, change.after) for path, change in one.changed.items()}
    assert changed == {"src/search/exact.py": ("2" * 64, None), "src/search/snippets.py": (None, "3" * 64)}
    assert set(two.changed) == {"src/agents/loop.py"}


def test_the_manifest_in_force_differs_in_the_code_revision_alone(frozen: Frozen, twice: Frozen) -> None:
    assert twice.manifest == with_code(frozen.manifest, THIRD.revision)
    for before, after in zip(frozen.manifest.cells, twice.manifest.cells, strict=True):
        assert after.identity.code == THIRD.revision
        assert after.digest == after.identity.digest() != before.digest
        assert recoded(after, FIRST.revision) == before


def test_nothing_differs_right_after_an_amendment(study: Study, twice: Frozen) -> None:
    assert differences(study, load_inputs(study, "small"), twice, THIRD) == ()
    (message,) = differences(study, load_inputs(study, "small"), twice, SECOND)
    assert message.endswith("is not the frozen eeeeeeeeeeee (src/agents/loop.py)")


@pytest.mark.parametrize(
    ("file", "old", "new", "named"),
    [
        ("contracts/shared.toml", "snippet_lines = 24", "snippet_lines = 23", "the treatment of one-"),
        ("contracts/shared.toml", "completion_tokens = 8192", "completion_tokens = 81", "the generation of"),
        ("preregistration/tasks/two-a.toml", "evaluation_seconds = 120", "evaluation_seconds = 9", "task of"),
        ("experiments/small.toml", '"H000", "H018"', '"H000"', "12 cells became 6"),
        ("experiments/small.toml", "[0, 1]", "[0, 0]", "the order: cell"),
    ],
)  # fmt: skip
def test_a_changed_experiment_is_no_repair(
    study: Study, frozen: Frozen, file: str, old: str, new: str, named: str
) -> None:
    path = study.root / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(RefuseToStart, match=f"{named}.*that is another experiment"):
        amend(study, load_inputs(study, "small"), frozen, SECOND, MOMENT, "a repair")


def test_a_task_whose_meaning_is_the_same_still_counts_as_changed(study: Study, frozen: Frozen) -> None:
    path = study.task_file("two-a")
    path.write_text(f"# a remark\n{path.read_text()}")
    with pytest.raises(RefuseToStart, match=r"preregistration/tasks/two-a\.toml changed"):
        amend(study, load_inputs(study, "small"), frozen, SECOND, MOMENT, "a repair")


def test_prose_of_the_contract_may_be_amended_and_is_named(study: Study, frozen: Frozen) -> None:
    path = study.contracts / "CONTRACT.md"
    path.write_text(f"{path.read_text()}\nOne sentence more.\n")
    found = amended(study, frozen, FIRST, "a sentence that was missing")
    assert set(found.amendments[-1].changed) == {"contracts/CONTRACT.md"}
    assert found.code == FIRST.revision
    assert found.manifest == frozen.manifest


def test_nothing_is_amended_without_a_difference_or_a_reason(study: Study, frozen: Frozen) -> None:
    inputs = load_inputs(study, "small")
    with pytest.raises(RefuseToStart, match="nothing differs from its freeze"):
        amend(study, inputs, frozen, FIRST, MOMENT, "no reason to")
    with pytest.raises(BadInput, match="needs a reason"):
        amend(study, inputs, frozen, SECOND, MOMENT, "  ")


def edit(path: Path, **fields: object) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))


@pytest.mark.parametrize(
    ("number", "fields", "named"),
    [
        (1, {"reason": "another one"}, "amendment-02.json: parent"),
        (1, {"parent": "0" * 64}, "amendment-01.json: parent"),
        (2, {"code": "f" * 64}, "amendment-02.json: manifest"),
        (2, {"experiment": "other"}, "amendment-02.json: experiment"),
        (2, {"number": 3}, "amendment-02.json: number"),
        (2, {"changed": {"src/agents/loop.py": {"before": "9" * 64, "after": None}}}, "other bytes"),
    ],
)  # fmt: skip
def test_an_edited_link_breaks_the_chain(
    study: Study, twice: Frozen, number: int, fields: dict[str, object], named: str
) -> None:
    edit(amendment_file(study, "small", number), **fields)
    with pytest.raises(RefuseToStart, match=named):
        read_frozen(study, "small")


def test_a_rewritten_record_breaks_the_chain(study: Study, twice: Frozen) -> None:
    edit(record_file(study, "small"), frozen_at="2025-01-01T00:00:00Z")
    with pytest.raises(RefuseToStart, match=r"amendment-01\.json: parent"):
        read_frozen(study, "small")


def test_a_link_taken_out_of_the_middle_is_missed(study: Study, twice: Frozen) -> None:
    amendment_file(study, "small", 1).unlink()
    with pytest.raises(RefuseToStart, match="follows on nothing: amendment 1 is missing"):
        read_frozen(study, "small")
