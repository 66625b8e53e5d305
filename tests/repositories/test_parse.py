"""The parser's rules for where a hunk ends, and its recounting."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repairlab.repositories.diffs import Fault, Patch, split_lines, unwrap
from repairlab.repositories.parse import parse

HEAD = b"--- a/f.py\n+++ b/f.py\n"
STEPS = ("unwrap-one-fence", "add-final-newline", "recount-hunks")


def parsed(text: bytes) -> Patch:
    patch = parse(text, recount=True)
    assert isinstance(patch, Patch), patch
    return patch


def test_second_hunks_new_start_follows_from_the_first():
    text = HEAD + b"@@ -1,2 +1,9 @@\n a\n+b\n+c\n d\n@@ -10,2 +10,2 @@ def f():\n-x\n y\n z\n"
    titles = [line for line in parsed(text).text.split(b"\n") if line.startswith(b"@@")]
    assert titles == [b"@@ -1,2 +1,4 @@", b"@@ -10,3 +12,2 @@ def f():"]


def test_right_headers_stay_as_they_are_written():
    text = HEAD + b"@@ -1 +1,2 @@\n a\n+b\n"
    assert parsed(text).text == text
    assert not parsed(text).recounted


def test_blank_lines_after_a_miscounted_hunk_separate():
    text = HEAD + b"@@ -1,7 +1,7 @@\n-a\n+b\n c\n\n\n"
    (hunk,) = parsed(text).files[0].hunks
    assert hunk.old == [b"a\n", b"c\n"]


def test_blank_line_is_no_context_when_only_one_count_fits():
    (hunk,) = parsed(HEAD + b"@@ -1,1 +1,2 @@\n-a\n-b\n+c\n\n").files[0].hunks
    assert hunk.old == [b"a\n", b"b\n"]


def test_hunk_that_comes_late_but_lies_early_is_not_shifted():
    text = HEAD + b"@@ -10,2 +10,4 @@\n a\n+b\n+c\n d\n@@ -1,2 +1,2 @@\n-x\n+y\n z\n"
    assert parsed(text).text == text


def test_blank_lines_between_hunks_are_dropped_so_that_git_sees_the_second():
    text = HEAD + b"@@ -1,2 +1,2 @@\n-a\n+b\n c\n\n@@ -5,2 +5,2 @@\n-d\n+e\n f\n"
    patch = parsed(text)
    assert len(patch.files[0].hunks) == 2
    assert b"\n\n" not in patch.text
    assert patch.recounted


def test_removed_line_that_looks_like_a_header_is_body_where_git_headers_say_so():
    text = (
        b"diff --git a/f.py b/f.py\n" + HEAD + b"@@ -1,2 +1,2 @@\n--- a/q\n+++ b/q\n x\n@@ -9 +9 @@\n-a\n+b\n"
    )
    (file,) = parsed(text).files
    assert file.hunks[0].old == [b"-- a/q\n", b"x\n"]
    assert len(file.hunks) == 2


def test_line_marked_without_newline_has_none():
    (hunk,) = parsed(HEAD + b"@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n").files[0].hunks
    assert (hunk.old, hunk.new) == ([b"a"], [b"b\n"])


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (HEAD + b"@@ -1 +1 @@\n\\ No newline at end of file\n", "bad-hunk"),
        (b'--- "a/\\q.py"\n+++ "b/\\q.py"\n@@ -1 +1 @@\n-a\n+b\n', "bad-quoting"),
        (b'--- "a/\\377.py"\n+++ "b/\\377.py"\n@@ -1 +1 @@\n-a\n+b\n', "odd-path"),
        (b"--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n", "no-path"),
        (b"diff --git /dev/null b/f.py\n", "no-path"),
        (b"diff --git a/f.py b/f.py\nindex 1..2 100644\n", "no-hunks"),
    ],
)
def test_malformed_headers(text, code):
    fault = parse(text, recount=True)
    assert isinstance(fault, Fault)
    assert fault.code == code


@given(st.binary(max_size=200).map(lambda tail: HEAD + b"@@ -1,2 +1,2 @@\n-a\n+b\n" + tail))
def test_any_bytes_give_a_value(text):
    result = unwrap(text, STEPS)
    if not isinstance(result, Fault):
        assert isinstance(parse(result.text, recount=True), Patch | Fault)


@given(st.text(alphabet="+-@ \\`d/ab\n\r\u2028", max_size=120))
def test_parsing_the_normalised_text_again_changes_nothing(text):
    result = unwrap(HEAD + text.encode(), STEPS)
    if isinstance(result, Fault):
        return
    patch = parse(result.text, recount=True)
    if isinstance(patch, Patch):
        again = parsed(patch.text)
        assert again.files == patch.files
        assert (again.text, again.recounted) == (patch.text, False)


@given(st.binary(max_size=80))
def test_only_a_newline_ends_a_line(text):
    lines = split_lines(text)
    assert b"".join(lines) == text
    assert all(line.find(b"\n") in (-1, len(line) - 1) for line in lines)
