"""What is taken of a stage's answer, and what is dropped and counted."""

from __future__ import annotations

import pytest

from repairlab.agents.staged.answers import (
    Definitions,
    Dropped,
    Localisation,
    Selection,
    either_form,
    read_places,
    read_selection,
    render_places,
)
from repairlab.repositories.diffs import Fault, Step
from repairlab.search.results import quote_path

STEPS: tuple[Step, ...] = ("unwrap-one-fence", "add-final-newline", "recount-hunks")
PATHS = ("pkg/a.py", "pkg/b.py", "setup.py", 'odd "name".py')
KNOWN = either_form(PATHS)
FILES = {
    "pkg/a.py": Definitions(
        50,
        {
            ("function", "run"): ((3, 9), (30, 35)),
            ("function", "Agent.run"): ((30, 35),),
            ("class", "Agent"): ((20, 40),),
        },
    ),
    "pkg/b.py": Definitions(5, {}),
}


def selection(reply: str, limit: int = 10) -> Selection | Fault:
    return read_selection(reply, KNOWN, limit, STEPS)


def places(reply: str, limit: int = 10) -> Localisation | Fault:
    return read_places(reply, FILES, limit, STEPS)


@pytest.mark.parametrize(
    "reply",
    [
        "```\npkg/a.py\nsetup.py\n```",
        "I think it is one of these.\n\n```text\npkg/a.py\n./setup.py\n```\nThat is all.",
        "pkg/a.py\nsetup.py",
        "1. pkg/a.py\n2. `setup.py`\n",
        "- pkg/a.py\n* setup.py",
    ],
)
def test_paths_are_read_from_the_one_fence_or_from_the_whole_reply(reply: str) -> None:
    found = selection(reply)
    assert isinstance(found, Selection)
    assert found.paths == ("pkg/a.py", "setup.py")


def test_what_is_not_taken_is_counted() -> None:
    found = selection("```\npkg/x.py\npkg/a.py\nPKG/b.py\npkg/a.py\npkg/b.py\nsetup.py\n```", limit=2)
    assert found == Selection(("pkg/a.py", "pkg/b.py"), Dropped(unknown=2, repeated=1, beyond=1))


def test_a_path_is_known_as_it_is_shown_too() -> None:
    found = selection(quote_path(PATHS[3]))
    assert isinstance(found, Selection)
    assert found.paths == (PATHS[3],)


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        ("I leave everything as it is.", "no-known-file"),
        ("", "empty"),
        (" \n", "blank"),
        ("```\npkg/a.py\n```\n```\npkg/b.py\n```", "several-fences"),
        ("```\npkg/a.py\n", "fence-not-closed"),
        ("the file pkg/a.py\n", "no-known-file"),
    ],
)
def test_an_answer_that_names_no_file_is_unusable(reply: str, code: str) -> None:
    found = selection(reply)
    assert isinstance(found, Fault)
    assert found.code == code


def test_places_are_functions_classes_and_lines() -> None:
    found = places(
        "```\npkg/a.py\nfunction: run\nfunction: Agent.run()\nclass: Agent\ntype: Agent\nline: 7\n"
        "lines: 8 - 9\npkg/b.py\nlines: 2-2\n```"
    )
    assert isinstance(found, Localisation)
    assert [(one.path, one.label, one.start_line, one.end_line) for one in found.places] == [
        ("pkg/a.py", "function: run", 3, 9),
        ("pkg/a.py", "function: run", 30, 35),
        ("pkg/a.py", "function: Agent.run", 30, 35),
        ("pkg/a.py", "class: Agent", 20, 40),
        ("pkg/a.py", "type: Agent", 20, 40),
        ("pkg/a.py", "line: 7", 7, 7),
        ("pkg/a.py", "lines: 8-9", 8, 9),
        ("pkg/b.py", "line: 2", 2, 2),
    ]
    assert render_places(found.places).split("\n") == [
        "pkg/a.py", "function: run", "function: Agent.run", "class: Agent", "type: Agent", "line: 7",
        "lines: 8-9", "pkg/b.py", "line: 2",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "line",
    [
        "function: walk", "class: run", "line: 0", "line: 51", "lines: 9-3", "lines: 49-51", "line: seven",
        "lines: -3", "function run", "nothing", "line: 99999999999",
    ],
)  # fmt: skip
def test_a_place_that_is_none_is_dropped(line: str) -> None:
    found = places(f"```\npkg/a.py\nline: 1\n{line}\n```")
    assert isinstance(found, Localisation)
    assert [one.label for one in found.places] == ["line: 1"]
    assert found.dropped == Dropped(unknown=1)


def test_places_before_any_path_and_repeated_or_too_many_ones_are_dropped() -> None:
    found = places("line: 3\npkg/a.py\nline: 3\nline: 3\nline: 4\nline: 5\n", limit=2)
    assert isinstance(found, Localisation)
    assert [one.label for one in found.places] == ["line: 3", "line: 4"]
    assert found.dropped == Dropped(unknown=1, repeated=1, beyond=1)


def test_an_answer_without_a_place_is_unusable() -> None:
    found = places("```\npkg/a.py\n```")
    assert isinstance(found, Fault)
    assert found.code == "no-known-place"
