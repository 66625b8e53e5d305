from __future__ import annotations

from repairlab.hosts.emulator.engines.hunks import Hunk, hunks_of


def test_hunks_name_the_old_file_and_its_lines(gold_patch: str):
    (hunk,) = hunks_of(gold_patch)
    assert (hunk.path, hunk.start, hunk.length) == ("shop/order.py", 41, 7)
    assert hunk.removed == ("            return None  # nothing ordered",)
    assert len(hunk.context) == 6


def test_a_removed_line_that_looks_like_a_header_is_none():
    diff = "--- a/x.sql\n+++ b/x.sql\n@@ -1,2 +1,2 @@\n--- a comment\n+++ b comment\n keep\n"
    body = (("-", "-- a comment"), ("+", "++ b comment"), (" ", "keep"))
    assert hunks_of(diff) == (Hunk("x.sql", 1, 2, ("-- a comment",), ("keep",), body),)


def test_a_created_file_has_no_old_path():
    diff = "--- /dev/null\n+++ b/new.py\n@@ -0,0 +1 @@\n+x = 1\n\\ No newline at end of file\n"
    assert hunks_of(diff) == (Hunk(None, 0, 0, (), (), (("+", "x = 1"),)),)
