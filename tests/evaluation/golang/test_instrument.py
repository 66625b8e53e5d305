"""Lines are put in exactly where they belong, or not at all."""

from __future__ import annotations

import pytest

from repairlab.contract.errors import RefuseToStart
from repairlab.evaluation.golang.instrument import INSERTIONS, Insertion, insert, overlay

BEFORE = Insertion("\tcall(", "\tnoted()", after=False)
AFTER = Insertion("func f(", "\tnoted()", after=True)


def test_before_and_after_the_one_place():
    text = "func f() {\n\tcall(1)\n}\n"
    assert insert(text, BEFORE, "f.go") == "func f() {\n\tnoted()\n\tcall(1)\n}\n"
    assert insert(text, AFTER, "f.go") == "func f() {\n\tnoted()\n\tcall(1)\n}\n"


@pytest.mark.parametrize("text", ["func g() {}\n", "func f() {\n}\nfunc f() {\n}\n", "func f()\n{\n}\n"])
def test_a_place_that_is_missing_or_doubtful_refuses_the_toolchain(text):
    with pytest.raises(RefuseToStart, match=r"cannot be instrumented: f\.go"):
        insert(text, AFTER, "f.go")


def test_the_toolchain_at_hand_has_every_place(toolchain):
    files = overlay(toolchain.root)
    assert set(INSERTIONS) < set(files)
    for name in INSERTIONS:
        assert (toolchain.root / "src" / name).read_bytes() != files[name]
    assert files["testing/repairlab_frames.go"].startswith(b"package testing\n")
    assert b"package main" not in files["testing/repairlab_frames.go"]
