"""Our placing of hunks against git's: two implementations of one rule, held together by random diffs."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from repairlab.repositories.diffs import Fault, Patch
from repairlab.repositories.locate import place
from repairlab.repositories.parse import parse
from repairlab.repositories.scratch import apply_strictly

files = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\n", b"\n"]), min_size=1, max_size=14).map(b"".join)
body_lines = st.tuples(
    st.sampled_from([b" ", b" ", b"-", b"+"]), st.sampled_from([b"a\n", b"b\n", b"c\n", b"\n"])
)


@st.composite
def hunks_near(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """A file and a diff whose hunks are mostly cut from it, with stated lines that may be wrong."""
    content = draw(files)
    lines = content.split(b"\n")[:-1]
    parts = [b"--- a/f.py\n+++ b/f.py\n"]
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(lines) - 1))
        size = draw(st.integers(1, 5))
        body: list[bytes] = []
        for line in lines[start : start + size]:
            if draw(st.integers(0, 3)) == 0:
                body.append(b"+" + draw(st.sampled_from([b"x", b"a", b""])) + b"\n")
            body.append(draw(st.sampled_from([b" ", b" ", b" ", b"-"])) + line + b"\n")
        if draw(st.integers(0, 5)) == 0:
            body.append(b"".join(draw(body_lines)))
        if all(line.startswith(b" ") for line in body):
            body.insert(draw(st.integers(0, len(body))), b"+y\n")
        stated = max(0, start + 1 + draw(st.sampled_from([0, 0, 0, 1, -1, 3])))
        parts.append(b"@@ -%d,9 +%d,9 @@\n" % (stated, draw(st.integers(0, 12))) + b"".join(body))
    return content, b"".join(parts)


@given(hunks_near())
@settings(max_examples=250, deadline=None, derandomize=True)
def test_git_places_every_hunk_where_we_do(case):
    content, text = case
    patch = parse(text, recount=True)
    assert isinstance(patch, Patch), (patch, text)
    placed = place(patch.files[0], content)
    by_git = git_apply(patch, content)
    if isinstance(placed, Fault):
        # Where git is laxer than we are, it guessed.
        assert by_git is None or placed.code in ("ambiguous-hunk", "no-context"), (placed, by_git, patch.text)
    else:
        assert by_git == {"f.py": placed.content}, (placed, by_git, patch.text)


def git_apply(patch: Patch, content: bytes) -> object:
    with tempfile.TemporaryDirectory() as folder:
        return apply_strictly(patch.text, {"f.py": ("100644", content)}, Path(folder))


def test_lines_that_a_hunk_put_in_match_no_later_hunk():
    text = b"--- a/f.py\n+++ b/f.py\n@@ -1,2 +1,2 @@\n-a\n+b\n c\n@@ -1,2 +1,2 @@\n-b\n+d\n c\n"
    patch = parse(text, recount=True)
    assert isinstance(patch, Patch)
    assert isinstance(place(patch.files[0], b"a\nc\n"), Fault)
    assert git_apply(patch, b"a\nc\n") is None
