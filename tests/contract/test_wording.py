"""Prompts as files: each text and tool is read whole, and a file that does not belong is refused."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from repairlab.contract.errors import BadInput
from repairlab.contract.wording import fill, load_wording

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def contracts(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "contracts", tmp_path / "contracts")
    return tmp_path / "contracts"


def test_a_text_is_its_file_without_the_last_line_feed(contracts: Path) -> None:
    (contracts / "prompts" / "interactive" / "reminder.txt").write_text("One.\n\nTwo.\n")
    assert load_wording(contracts).prompts.interactive.reminder == "One.\n\nTwo."


def test_a_tool_has_the_name_of_its_file(contracts: Path) -> None:
    names = {path.stem for path in (contracts / "prompts" / "tools").iterdir()}
    assert set(load_wording(contracts).tools) == names


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        ("task.txt", lambda p: p.unlink(), "cannot be read"),
        ("more.txt", lambda p: p.write_text("x\n"), "unknown file"),
        ("tools/search.txt", lambda p: p.write_text("x\n"), "unknown file"),
        ("task.txt", lambda p: p.write_text(p.read_text().replace("$work", "x")), "slots: oracle, statement"),
        ("oracle.txt", lambda p: p.write_text("$files $more\n"), "slots: files, more"),
        ("oracle.txt", lambda p: p.write_text("$files for 5 $\n"), "slots"),
        ("system.txt", lambda p: p.write_text(p.read_text().rstrip("\n")), "line feed"),
        ("system.txt", lambda p: p.write_text(p.read_text() + "\n"), "not blank"),
        ("system.txt", lambda p: p.write_bytes(p.read_bytes().replace(b"\n", b"\r\n")), "line feed"),
        ("system.txt", lambda p: p.write_bytes(b"\xff\n"), "not UTF-8"),
        ("tools/finish.toml", lambda p: p.write_text("describtion = 'x'\n"), "did you mean description"),
    ],
)
def test_a_prompt_file_that_is_not_as_it_must_be_is_named(
    contracts: Path, name: str, change: Callable[[Path], object], says: str
) -> None:
    path = contracts / "prompts" / name
    change(path)
    with pytest.raises(BadInput, match=says) as caught:
        load_wording(contracts)
    assert path.name in str(caught.value)


def test_what_fills_a_slot_is_not_read_for_slots() -> None:
    assert fill("a $b c", b="$d and $5") == "a $d and $5 c"
