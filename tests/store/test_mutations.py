"""One change anywhere in a sealed cell is found, whichever file it is in."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repairlab.contract.errors import IntegrityViolation
from repairlab.manifest.cell import Cell
from repairlab.store.attempt import Attempt
from repairlab.store.layout import ARTIFACTS, OUTCOME_SUMS, SUMS, TIMING, Layout
from repairlab.store.sealed import check_seal, faults, open_sealed

FILES = (*ARTIFACTS, TIMING, SUMS, OUTCOME_SUMS)


@pytest.fixture
def cell(
    layout: Layout, cells: tuple[Cell, ...], fill: Callable[[Attempt, Cell], None], tmp_path: Path
) -> Path:
    """A sealed cell in which no file is empty, copied to where it can be written."""
    with Attempt(layout, cells[0].name) as attempt:
        fill(attempt, cells[0])
        attempt.write("patch.diff", b"diff --git a/pkg/a.py b/pkg/a.py\n")
        sealed = attempt.seal()
    copy = tmp_path / "raw" / sealed.name
    shutil.copytree(sealed, copy)
    copy.chmod(0o755)
    for path in copy.iterdir():
        path.chmod(0o644)
    check_seal(copy)
    return copy


def flip(path: Path, offset: int, bit: int) -> bytes:
    """Flip one bit; the bytes as they were."""
    before = path.read_bytes()
    changed = bytearray(before)
    changed[offset] ^= 1 << bit
    path.write_bytes(bytes(changed))
    return before


def test_a_flipped_byte_of_every_file_is_found_all_along_it(cell: Path) -> None:
    """Of each file the first byte, the last one, and every thirteenth between them."""
    count = 0
    for name in FILES:
        path = cell / name
        size = path.stat().st_size
        for offset in sorted({*range(0, size, 13), size - 1}):
            before = flip(path, offset, offset % 8)
            with pytest.raises(IntegrityViolation, match=cell.name):
                check_seal(cell)
            path.write_bytes(before)
            count += 1
    check_seal(cell)
    assert count > 200


def test_any_edit_of_any_file_is_found(cell: Path) -> None:
    """Not only flips: bytes inserted, removed, swapped, files emptied or grown."""

    @settings(max_examples=40, deadline=None)
    @given(st.sampled_from(FILES), st.data())
    def holds(name: str, data: st.DataObject) -> None:
        path = cell / name
        before = path.read_bytes()
        start = data.draw(st.integers(0, len(before)))
        end = data.draw(st.integers(start, len(before)))
        after = before[:start] + data.draw(st.binary(max_size=8)) + before[end:]
        path.write_bytes(after)
        try:
            if after == before:
                check_seal(cell)
            else:
                with pytest.raises(IntegrityViolation):
                    check_seal(cell)
        finally:
            path.write_bytes(before)

    holds()


@pytest.mark.parametrize("name", FILES)
def test_a_removed_file_is_named(cell: Path, name: str) -> None:
    (cell / name).unlink()
    with pytest.raises(IntegrityViolation, match=f"{name} is missing"):
        check_seal(cell)


@pytest.mark.parametrize("name", ["notes.txt", ".hidden", "SHA256SUMS.bak"])
def test_an_added_file_is_named(cell: Path, name: str) -> None:
    (cell / name).write_bytes(b"")
    with pytest.raises(IntegrityViolation, match=f"{name} is foreign"):
        check_seal(cell)


@pytest.mark.parametrize("name", FILES)
def test_a_file_swapped_for_a_link_to_the_same_bytes_is_found(cell: Path, name: str, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    shutil.move(cell / name, elsewhere)
    (cell / name).symlink_to(elsewhere)
    for read in (check_seal, open_sealed):
        with pytest.raises(IntegrityViolation, match=f"{name} is no regular file"):
            read(cell)


def test_a_cell_swapped_for_a_link_to_its_copy_is_found(
    cell: Path, cells: tuple[Cell, ...], tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    shutil.move(cell, elsewhere)
    cell.symlink_to(elsewhere)
    layout = Layout(cell.parent, tmp_path / "incomplete")
    (fault,) = faults(layout, {cell.name: cells[0]})
    assert "is no folder but a link or a file" in fault


def test_checksums_made_to_fit_again_are_another_seal(cell: Path, layout: Layout) -> None:
    """A forger who recomputes both lists passes the lists; the digest of the seal, once noted, tells."""
    from repairlab.store.attempt import checksum_list

    before = check_seal(cell)
    flip(cell / "metrics.json", 30, 0)
    (cell / OUTCOME_SUMS).write_bytes(checksum_list(cell, sorted(ARTIFACTS)))
    (cell / SUMS).write_bytes(checksum_list(cell, sorted([*ARTIFACTS, TIMING, OUTCOME_SUMS])))
    after = check_seal(cell)
    assert after.whole != before.whole
    assert after.outcome != before.outcome
