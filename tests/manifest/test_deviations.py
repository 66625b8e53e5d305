"""The deviations log: what is appended is read back, and no later edit passes unseen."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from repairlab.contract.errors import BadInput, IntegrityViolation
from repairlab.contract.study import Study
from repairlab.manifest.deviations import Deviation, append, deviations_file, read


def deviation(number: int) -> Deviation:
    return Deviation(
        experiment="e08-main",
        at=f"2026-12-01T00:00:0{number}Z",
        unsealing="before",
        what=f"task {number} was replaced",
        why="its gold check flaked: 1 of 3",
        who="a.person",
        effect="none: no agent had run",
    )


@pytest.fixture
def study(tmp_path: Path) -> Study:
    (tmp_path / "preregistration").mkdir()
    return Study(tmp_path)


def test_what_is_appended_is_read_back_in_order(study: Study) -> None:
    assert read(study) == ()
    for number in range(3):
        append(study, deviation(number))
    assert [(entry.number, entry.deviation) for entry in read(study)] == [
        (number + 1, deviation(number)) for number in range(3)
    ]


def test_the_page_opens_with_what_it_is(study: Study) -> None:
    append(study, deviation(0))
    assert deviations_file(study).read_text(encoding="utf-8").startswith("# Deviations\n")


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_changed_character_anywhere_is_found(study: Study, data: st.DataObject) -> None:
    path = deviations_file(study)
    path.unlink(missing_ok=True)
    for number in range(2):
        append(study, deviation(number))
    text = path.read_text(encoding="utf-8")
    # The last entry is covered by its own form and by the next entry; its free texts are not, until then.
    covered = text.rindex("## D002") + len("## D002")
    place = data.draw(st.integers(0, covered - 1))
    path.write_text(text[:place] + "~" + text[place + 1 :], encoding="utf-8")
    with pytest.raises(IntegrityViolation):
        read(study)


def test_a_removed_entry_is_found(study: Study) -> None:
    for number in range(3):
        append(study, deviation(number))
    path = deviations_file(study)
    text = path.read_text(encoding="utf-8")
    path.write_text(text[: text.index("## D002")] + text[text.index("## D003") :], encoding="utf-8")
    with pytest.raises(IntegrityViolation, match="D003 stands where D002 is due"):
        read(study)


def test_nothing_is_appended_to_a_log_that_was_edited(study: Study) -> None:
    for number in range(2):
        append(study, deviation(number))
    path = deviations_file(study)
    path.write_text(path.read_text(encoding="utf-8").replace("1 of 3", "3 of 3", 1), encoding="utf-8")
    with pytest.raises(IntegrityViolation, match="before D002 was changed"):
        append(study, deviation(2))


@pytest.mark.parametrize("text", ["", "  ", "two\nlines", "ends\n", "a\u2028b"])
def test_a_text_that_is_not_one_line_is_refused(study: Study, text: str) -> None:
    with pytest.raises(BadInput, match="why: one line of text"):
        append(study, deviation(0)._replace(why=text))
    assert not deviations_file(study).exists()
