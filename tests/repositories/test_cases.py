"""Diffs as models write them, one test for each fault. Each looks at the tree, not at what the tool says."""

from __future__ import annotations

import textwrap

import pytest

from repairlab.repositories.workspace import Applied, Refused, Workspace

GOOD = (
    "--- a/src/kit/calc.py\n+++ b/src/kit/calc.py\n@@ -1,6 +1,6 @@\n"
    " def minus(a, b):\n     # the difference\n-    return a + b\n+    return a - b\n \n \n def grow(a, k):\n"
)

CALC = "src/kit/calc.py"

NOEOL = (
    "--- a/src/kit/noeol.py\n+++ b/src/kit/noeol.py\n@@ -1,2 +1,2 @@\n-LIMIT = 5\n+LIMIT = 6\n NAME = 'y'\n"
)

NO_NEWLINE = "\\ No newline at end of file\n"


def state(workspace: Workspace) -> dict[str, bytes | None]:
    return {path: workspace.read(path) for path in workspace.paths()}


def applied(workspace: Workspace, diff: str) -> Applied:
    before = state(workspace)
    answer = workspace.apply(diff)
    assert isinstance(answer, Applied), answer
    after = state(workspace)
    changed = {path for path in {*before, *after} if before.get(path) != after.get(path)}
    assert set(answer.paths) == changed
    assert answer.raw == diff
    rebuilt = Workspace.from_patch(
        workspace.template,
        workspace._layer.folder / "again",
        workspace._rules,
        "python",
        workspace.final_patch(),
    )
    assert state(rebuilt) == after
    return answer


def refused(workspace: Workspace, diff: str, code: str) -> Refused:
    before = state(workspace)
    answer = workspace.apply(diff)
    assert isinstance(answer, Refused), answer
    assert answer.code == code, answer
    assert state(workspace) == before
    assert workspace.changes() == {}
    assert workspace.final_patch() == b""
    assert answer.raw == diff
    assert "\n" not in answer.message
    return answer


def fixed(workspace: Workspace) -> bool:
    content = workspace.read(CALC)
    return content is not None and b"return a - b" in content and b"return a + b" not in content


def test_p00_a_good_diff_applies_and_needs_no_repair(workspace):
    answer = applied(workspace, GOOD)
    assert fixed(workspace)
    assert answer.repairs == ()
    assert answer.normalised == GOOD
    assert [(hunk.stated, hunk.found) for hunk in answer.hunks] == [(1, 1)]
    assert not answer.white_space_only


def test_p01a_counts_too_big_are_recounted(workspace):
    answer = applied(workspace, GOOD.replace("-1,6 +1,6", "-1,9 +1,8"))
    assert fixed(workspace)
    assert answer.repairs == ("recount-hunks",)
    assert answer.normalised == GOOD


def test_p01a_counts_too_big_do_not_swallow_the_next_file(workspace):
    answer = applied(workspace, GOOD.replace("-1,6 +1,6", "-1,7 +1,7") + NOEOL + NO_NEWLINE)
    assert answer.paths == (CALC, "src/kit/noeol.py")


def test_p01b_counts_too_small_drop_no_line(workspace):
    lines = GOOD.replace("-1,6 +1,6", "-1,3 +1,3").split("\n")
    lines[7:7] = ["+# a line beyond the counts"]
    answer = applied(workspace, "\n".join(lines))
    assert fixed(workspace)
    assert b"# a line beyond the counts" in workspace.read(CALC)
    assert answer.repairs == ("recount-hunks",)


def test_p01c_new_file_gets_all_its_lines(workspace):
    diff = (
        "diff --git a/src/kit/more.py b/src/kit/more.py\nnew file mode 100644\n"
        "--- /dev/null\n+++ b/src/kit/more.py\n"
        "@@ -0,0 +1,2 @@\n+ONE = 1\n+TWO = 2\n+\n+THREE = 3\n"
    )
    applied(workspace, diff)
    assert workspace.read("src/kit/more.py") == b"ONE = 1\nTWO = 2\n\nTHREE = 3\n"


def test_p01d_ellipsis_in_a_hunk_header_is_refused(workspace):
    answer = refused(workspace, GOOD.replace("@@ -1,6 +1,6 @@", "@@ ... @@"), "bad-hunk-header")
    assert "Hunk 1 of src/kit/calc.py" in answer.message


def test_p01e_hunk_without_context_below_asks_for_context(workspace):
    lines = GOOD.split("\n")[:7]
    diff = "\n".join(lines).replace("-1,6 +1,6", "-1,3 +1,3") + "\n"
    answer = refused(workspace, diff, "context-missing")
    assert "Add unchanged lines below" in answer.message


def test_p01_counts_are_refused_by_both_numbers_when_recounting_is_not_frozen(cases, rules, tmp_path):
    strict = rules.model_copy(update={"normalisation": ("unwrap-one-fence", "add-final-newline")})
    workspace = Workspace(cases.template, tmp_path / "layer", strict, "python")
    answer = refused(workspace, GOOD.replace("-1,6 +1,6", "-1,9 +1,8"), "hunk-counts")
    assert all(number in answer.message for number in ("9 old", "8 new", "has 6 and 6"))


def test_p02a_missing_final_newline_is_added_and_recorded(workspace):
    answer = applied(workspace, GOOD.removesuffix("\n"))
    assert answer.repairs == ("add-final-newline",)
    assert answer.normalised == GOOD


def test_p02b_blank_context_without_its_space_is_context(workspace):
    answer = applied(workspace, GOOD.replace("\n \n \n", "\n\n\n"))
    assert fixed(workspace)
    assert answer.repairs == ()


def test_p02c_missing_marker_at_the_end_is_named(workspace):
    assert "No newline at end of file" in refused(workspace, NOEOL, "end-of-file-marker").message


def test_p02d_marker_at_the_end_applies(workspace):
    applied(workspace, NOEOL + NO_NEWLINE)
    assert workspace.read("src/kit/noeol.py") == b"LIMIT = 6\nNAME = 'y'"


def test_p03a_one_fence_with_prose_is_unwrapped(workspace):
    answer = applied(workspace, f"The sign is wrong.\n\n```diff\n{GOOD}```\n\nThat is all.\n")
    assert answer.repairs == ("unwrap-one-fence",)
    assert answer.normalised == GOOD


def test_p03a_fence_inside_a_hunk_is_no_fence(workspace):
    diff = GOOD.replace("-1,6 +1,6", "-1,6 +1,8").replace(
        "+    return a - b\n", "+    return a - b\n+```\n+```\n"
    )
    assert applied(workspace, diff).repairs == ()


@pytest.mark.parametrize(
    "draft", [GOOD.replace("+    return a - b", "+    return 0"), NOEOL], ids=["same", "other"]
)
def test_p03b_p03c_draft_and_final_are_refused_as_a_whole(workspace, draft):
    refused(workspace, f"First:\n```diff\n{draft}```\nBetter:\n```diff\n{GOOD}```\n", "several-fences")


def test_p03c_diff_beside_the_fence_is_refused(workspace):
    refused(workspace, f"{NOEOL}\n```diff\n{GOOD}```\n", "diff-outside-fence")


def test_p03_fence_that_is_cut_off_is_refused(workspace):
    refused(workspace, f"```diff\n{GOOD}", "fence-not-closed")


def test_p03_prose_around_an_unfenced_diff_is_refused(workspace):
    refused(workspace, f"Here it is:\n{GOOD}", "no-diff")
    refused(workspace, f"{GOOD}That is all.\n", "text-outside-diff")


def test_p03d_prose_alone_is_refused(workspace):
    refused(workspace, "I would change the sign in minus().\n", "no-diff")


def test_p03e_other_envelope_is_refused(workspace):
    refused(
        workspace, "*** Begin Patch\n*** Update File: src/kit/calc.py\n*** End Patch\n", "not-a-unified-diff"
    )


DOS = (
    "--- a/src/kit/dos.py\n+++ b/src/kit/dos.py\n@@ -1,4 +1,4 @@\n"
    " def head(xs):\n-    return xs[1]\n+    return xs[0]\n \n \n"
)


def crlf_body(diff: str) -> str:
    head, body = diff.split("@@\n", 1)
    return head + "@@\n" + body.replace("\n", "\r\n")


def test_p04a_lf_diff_on_a_crlf_file_is_refused(workspace):
    assert "CRLF" in refused(workspace, DOS, "line-endings").message


@pytest.mark.parametrize("whole", [False, True])
def test_p04b_crlf_diff_on_a_crlf_file_keeps_every_ending(workspace, whole):
    applied(workspace, DOS.replace("\n", "\r\n") if whole else crlf_body(DOS))
    assert workspace.read("src/kit/dos.py") == (
        b"def head(xs):\r\n    return xs[0]\r\n\r\n\r\ndef tail(xs):\r\n    return xs[-1]\r\n"
    )


def test_p04c_crlf_diff_on_an_lf_file_is_refused(workspace):
    assert "LF" in refused(workspace, GOOD.replace("\n", "\r\n"), "line-endings").message


def test_p04d_spaces_for_tabs_are_refused(go_workspace):
    diff = (
        "--- a/src/kit/tabs.go\n+++ b/src/kit/tabs.go\n@@ -3,3 +3,3 @@\n"
        " func Half(n int) int {\n-    return n * 2\n+    return n / 2\n }\n"
    )
    assert "tabs" in refused(go_workspace, diff, "white-space").message


def test_p05a_form_feed_and_line_separator_end_no_line(workspace):
    diff = (
        "--- a/src/kit/feed.py\n+++ b/src/kit/feed.py\n@@ -1,6 +1,6 @@\n A = 1\n \f\n B = 2\n"
        " TEXT = 'up\u2028down'\n C = 3\n-D = 4\n+D = 5\n"
    )
    applied(workspace, diff)
    assert workspace.read("src/kit/feed.py").endswith(b"\nC = 3\nD = 5\n")


def test_p05b_header_forged_behind_a_line_separator_is_text(workspace):
    forged = (
        "+    # \u2028diff --git a/tests/test_calc.py b/tests/test_calc.py\u2028+++ b/tests/test_calc.py\n"
    )
    diff = GOOD.replace("-1,6 +1,6", "-1,6 +1,7").replace("+    return", forged + "+    return")
    assert applied(workspace, diff).paths == (CALC,)


def new_file(path: str, mode: str = "100644", line: str = "+x = 1") -> str:
    head = f"diff --git a/{path} b/{path}\nnew file mode {mode}\n"
    return f"{head}--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n{line}\n"


def plain_new(path: str) -> str:
    return f"--- /dev/null\n+++ {path}\n@@ -0,0 +1 @@\n+x = 1\n"


@pytest.mark.parametrize("path", ["b/../escape.py", "b/src/../../escape.py", "b/src/../src/kit/other.py"])
def test_p06a_dotdot_is_refused(workspace, path, tmp_path):
    refused(workspace, plain_new(path), "outside-tree")
    assert not list(tmp_path.rglob("escape.py"))


def test_p06b_absolute_path_is_refused(workspace, tmp_path):
    refused(workspace, plain_new(str(tmp_path / "abs.py")), "absolute-path")
    refused(workspace, plain_new("/abs/kit.py"), "absolute-path")
    refused(workspace, plain_new("b//abs/kit.py"), "absolute-path")
    assert not list(tmp_path.rglob("*.py"))


@pytest.mark.parametrize(
    "path",
    [
        ".git/hooks/post-checkout",
        ".GIT/config",
        "src/.git/x.py",
        ".g\u200cit/x.py",
        "git~1/x.py",
        ".gitattributes",
    ],
)
def test_p06c_git_folder_is_refused(workspace, path):
    refused(workspace, new_file(path, "100644"), "git-folder")


def test_p06d_link_then_write_through_it_is_refused(workspace):
    link = new_file("src/out", "120000", "+../..\n\\ No newline at end of file")
    refused(workspace, link + new_file("src/out/escape.py"), "link")


def test_p06e_existing_folder_link_is_not_written_through(workspace, cases):
    diff = (
        "--- a/src/link_tests/test_calc.py\n+++ b/src/link_tests/test_calc.py\n"
        "@@ -4,2 +4,2 @@\n def test_minus():\n"
        "-    assert minus(2, 2) == 0\n+    assert True\n"
    )
    refused(workspace, diff, "protected-file")
    refused(workspace, new_file("src/link_tests/helper.py"), "through-link")
    assert not (cases.template.root / "tests/helper.py").exists()


def test_p06f_file_link_is_not_replaced(workspace):
    diff = (
        "--- a/src/kit/alias.py\n+++ b/src/kit/alias.py\n@@ -4,2 +4,2 @@\n def test_minus():\n"
        "-    assert minus(2, 2) == 0\n+    assert True\n"
    )
    refused(workspace, diff, "through-link")


def git_head(old: str, new: str, *lines: str) -> str:
    return "\n".join([f"diff --git a/{old} b/{new}", *lines, ""])


def test_p07a_rename_of_a_test_is_refused(workspace):
    old, new = "tests/test_calc.py", "src/kit/old.py"
    diff = git_head(old, new, "similarity index 100%", f"rename from {old}", f"rename to {new}")
    refused(workspace, diff, "rename")


def test_p07_rename_by_plain_headers_is_refused(workspace):
    refused(workspace, GOOD.replace("+++ b/src/kit/calc.py", "+++ b/src/kit/calc2.py"), "paths-disagree")


@pytest.mark.parametrize("side", ["rename from", "rename to"])
def test_p07_both_sides_of_a_rename_are_held_to_the_tree(workspace, side):
    sides = {"rename from": CALC, "rename to": "src/kit/old.py"} | {side: "../outside.py"}
    lines = [f"{key} {path}" for key, path in sides.items()]
    refused(workspace, git_head(CALC, "src/kit/old.py", *lines), "outside-tree")


def test_p07b_mode_change_is_refused(workspace):
    refused(workspace, git_head(CALC, CALC, "old mode 100644", "new mode 100755"), "mode-change")
    refused(workspace, git_head(CALC, CALC, "old mode 100644", "new mode 100755") + GOOD, "mode-change")


def test_p07_executable_new_file_is_refused(workspace):
    refused(workspace, new_file("src/kit/run.py", "100755"), "executable")


def test_p07c_gitlink_is_refused(workspace):
    refused(workspace, new_file("src/sub", "160000", "+Subproject commit " + "1" * 40), "gitlink")
    refused(workspace, new_file("src/sub.py", "160000", "+Subproject commit " + "1" * 40), "gitlink")


def test_p07d_copy_of_a_test_is_refused(workspace):
    old, new = "tests/test_calc.py", "src/kit/peek.py"
    diff = git_head(old, new, "similarity index 100%", f"copy from {old}", f"copy to {new}")
    refused(workspace, diff, "copy")


def test_p07e_deletion_of_a_test_is_refused(workspace):
    diff = "--- a/tests/test_calc.py\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-from src.kit.calc import minus\n"
    refused(workspace, diff, "protected-file")


def test_p07_deletion_of_a_production_file_is_allowed(workspace):
    applied(
        workspace,
        "--- a/kit/calc.py\n+++ /dev/null\n@@ -1,20 +0,0 @@\n" + minus_lines(workspace, "kit/calc.py"),
    )
    assert workspace.read("kit/calc.py") is None
    assert "kit/calc.py" not in workspace.paths()
    assert workspace.changes() == {"kit/calc.py": None}


def minus_lines(workspace: Workspace, path: str) -> str:
    content = workspace.read(path)
    assert content is not None
    return "".join(f"-{line}\n" for line in content.decode().removesuffix("\n").split("\n"))


def test_p07_deletion_that_leaves_lines_is_refused(workspace):
    lines = minus_lines(workspace, "kit/calc.py").split("\n")[:5]
    refused(
        workspace,
        "--- a/kit/calc.py\n+++ /dev/null\n@@ -1,5 +0,0 @@\n" + "\n".join(lines) + "\n",
        "context-missing",
    )


def test_p07_binary_patch_is_refused(workspace):
    refused(
        workspace,
        git_head(CALC, CALC, "index 1..2 100644", "GIT binary patch", "literal 1", "IcmZ"),
        "binary",
    )
    refused(workspace, git_head(CALC, CALC, f"Binary files a/{CALC} and b/{CALC} differ"), "binary")


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("conftest.py", "protected-file"),
        ("src/kit/Conftest.py", "protected-file"),
        ("src/kit/sitecustomize.py", "protected-file"),
        ("pytest.ini", "not-production"),
        ("setup.cfg", "not-production"),
        ("tests/test_hidden.py", "protected-file"),
        ("src/TESTS/helper.py", "protected-file"),
        ("src/kit/test_new.py", "protected-file"),
        ("go.mod", "not-production"),
    ],
)
def test_p08_files_that_steer_the_tests_are_refused(workspace, path, code):
    refused(workspace, new_file(path), code)


def test_p08c_message_is_the_same_whether_or_not_a_hidden_test_stands_there(workspace):
    there = refused(workspace, new_file("tests/test_calc.py"), "protected-file").message
    not_there = refused(workspace, new_file("tests/test_gone.py"), "protected-file").message
    assert there.replace("calc", "gone") == not_there


@pytest.mark.parametrize(
    ("path", "code"), [("src/kit/zz_test.go", "protected-file"), ("go.mod", "not-production")]
)
def test_p08d_p08e_go_module_and_test_main_are_refused(go_workspace, path, code):
    refused(go_workspace, new_file(path), code)


def test_p08f_good_edit_with_a_test_edit_is_refused_as_a_whole(workspace):
    test = (
        "--- a/tests/test_calc.py\n+++ b/tests/test_calc.py\n@@ -4,2 +4,2 @@\n def test_minus():\n"
        "-    assert minus(2, 2) == 0\n+    assert True\n"
    )
    refused(workspace, GOOD + test, "protected-file")


def test_p09_second_file_fails_and_the_first_stays(workspace, tmp_path):
    refused(workspace, GOOD + NOEOL.replace("LIMIT = 5", "LIMIT = 99"), "context-mismatch")
    assert not [path for path in tmp_path.rglob("*") if path.suffix in (".rej", ".orig")]


def test_p10_checkout_inside_another_repository_still_changes(cases, rules, tmp_path, git_out):
    outer = tmp_path / "outer"
    outer.mkdir()
    git_out(outer, "init", "--quiet")
    workspace = Workspace(cases.template, outer / "deep/layer", rules, "python")
    applied(workspace, f"diff --git a/{CALC} b/{CALC}\n{GOOD}")
    assert fixed(workspace)


TWICE = (
    "--- a/src/kit/calc.py\n+++ b/src/kit/calc.py\n@@ -{line},3 +{line},4 @@\n"
    "     out = a\n     out = out + 1\n+    out = out + 1\n     return out\n"
)


def test_p11_ambiguous_block_with_a_wrong_line_is_refused(workspace):
    answer = refused(workspace, TWICE.format(line=13), "ambiguous-hunk")
    assert "12, 18" in answer.message


@pytest.mark.parametrize(("line", "other"), [(12, 18), (18, 12)])
def test_p11_exact_line_chooses_and_the_choice_is_recorded(workspace, line, other):
    (hunk,) = applied(workspace, TWICE.format(line=line)).hunks
    assert (hunk.stated, hunk.found, hunk.also) == (line, line, (other,))
    lines = workspace.read(CALC).split(b"\n")
    assert lines[line : line + 2] == [b"    out = out + 1"] * 2


def test_p11_new_start_is_derived_so_that_git_takes_the_stated_old_line(workspace):
    # Git looks at the new start alone: left as it is, it would take the other block.
    answer = applied(workspace, TWICE.format(line=12).replace("+12,4", "+18,4"))
    assert answer.hunks[0].found == 12
    assert answer.repairs == ("recount-hunks",)


def test_p11_only_place_is_taken_and_the_offset_recorded(workspace):
    (hunk,) = applied(workspace, GOOD.replace("-1,6 +1,6", "-3,6 +3,6")).hunks
    assert (hunk.stated, hunk.found) == (3, 1)


def test_p12_nothing_to_do_has_five_different_messages(workspace, cases, rules, tmp_path):
    header = "--- a/src/kit/calc.py\n+++ b/src/kit/calc.py\n"
    context = header + "@@ -1,2 +1,2 @@\n def minus(a, b):\n     # the difference\n"
    answers = [
        refused(workspace, "", "empty"),
        refused(workspace, "\n\n", "blank"),
        refused(workspace, header, "no-hunks"),
        refused(workspace, context, "hunk-changes-nothing"),
        refused(
            workspace,
            GOOD.replace("-    return a + b", "-    return a - b").replace(
                "+    return a - b", "+    return a + b"
            ),
            "already-applied",
        ),
    ]
    assert len({answer.message for answer in answers}) == 5


def test_p12_line_replaced_by_itself_is_refused(workspace):
    refused(workspace, GOOD.replace("a - b", "a + b"), "changes-nothing")


def test_p12e_white_space_only_change_is_flagged(workspace):
    assert applied(workspace, GOOD.replace("+    return a - b", "+    return a + b  ")).white_space_only


def test_p12_edit_and_its_reverse_are_no_patch(workspace):
    applied(workspace, GOOD)
    workspace.apply(
        GOOD.replace("+    return a - b\n", "").replace(
            "-    return a + b", "-    return a - b\n+    return a + b"
        )
    )
    assert workspace.final_patch() == b""
    assert workspace.edited() == ()


def test_p13a_missing_prefix_never_edits_the_twin(workspace):
    refused(workspace, GOOD.replace("a/src", "src").replace("b/src", "src"), "prefix-missing")
    refused(workspace, "diff --git src/kit/calc.py src/kit/calc.py\n" + GOOD, "prefix-missing")


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        ("a/src/a dir/part one.py", "b/src/a dir/part one.py", "src/a dir/part one.py"),
        ("a/src/a dir/part one.py\t", "b/src/a dir/part one.py\t", "src/a dir/part one.py"),
        (r'"a/src/kit/\303\244rger.py"', r'"b/src/kit/\303\244rger.py"', "src/kit/\u00e4rger.py"),
        ("a/src/kit/\u00e4rger.py", "b/src/kit/\u00e4rger.py", "src/kit/\u00e4rger.py"),
    ],
    ids=["p13b-space", "p13b-space-tab", "p13c-quoted", "p13d-raw"],
)
@pytest.mark.parametrize("git_line", [False, True])
def test_p13bcd_spellings_of_a_path_name_the_real_file(workspace, old, new, path, git_line):
    letter = "X" if "dir" in path else "Y"
    head = f"diff --git {old} {new}\n".replace("\t", "") if git_line else ""
    answer = applied(workspace, f"{head}--- {old}\n+++ {new}\n@@ -1 +1 @@\n-{letter} = 1\n+{letter} = 2\n")
    assert answer.paths == (path,)


def test_p13e_time_stamp_after_the_name_is_no_part_of_it(workspace):
    stamp = "\t2024-05-01 10:00:00.000000000 +0200\n"
    applied(workspace, GOOD.replace("calc.py\n", "calc.py" + stamp))
    assert fixed(workspace)


def test_p13e_time_stamp_at_the_epoch_does_not_delete_the_file(workspace):
    # Git takes a new side that is dated at the epoch for a deletion; the lines say that the file is emptied.
    stamp = "\t1970-01-01 00:00:00.000000000 +0000"
    lines = minus_lines(workspace, "kit/calc.py")
    refused(workspace, f"--- a/kit/calc.py\n+++ b/kit/calc.py{stamp}\n@@ -1,20 +0,0 @@\n{lines}", "no-effect")
    applied(workspace, f"--- a/kit/calc.py\n+++ b/kit/calc.py\n@@ -1,20 +0,0 @@\n{lines}")
    assert workspace.read("kit/calc.py") == b""


def test_git_header_without_its_mode_line_is_explained(workspace):
    diff = f"diff --git a/src/n.py b/src/n.py\n{plain_new('b/src/n.py')}"
    assert "new file mode 100644" in refused(workspace, diff, "header-contradiction").message


def test_empty_new_file_and_its_deletion(workspace):
    applied(workspace, git_head("src/n/__init__.py", "src/n/__init__.py", "new file mode 100644"))
    assert workspace.read("src/n/__init__.py") == b""
    workspace.apply(git_head("src/n/__init__.py", "src/n/__init__.py", "deleted file mode 100644"))
    assert workspace.changes() == {}


def test_file_with_a_nul_byte_is_not_edited(workspace):
    refused(
        workspace, "--- a/src/kit/nul.py\n+++ b/src/kit/nul.py\n@@ -1,1 +1,2 @@\n A = 1\n+Q = 1\n", "binary"
    )


def test_bytes_that_are_not_utf8_survive_an_edit_near_them(workspace):
    applied(workspace, "--- a/src/kit/latin.py\n+++ b/src/kit/latin.py\n@@ -2,1 +2,1 @@\n-Z = 1\n+Z = 2\n")
    assert workspace.read("src/kit/latin.py") == b"# caf\xe9\nZ = 2\n"


@pytest.mark.parametrize(
    ("diff", "code"),
    [
        ("\ud800", "not-unicode"),
        ("x" * 131_073, "too-long"),
        (GOOD + "\0", "binary"),
        (new_file("src/kit/Calc.py"), "file-exists"),
        (new_file("src/kit/calc.py"), "file-exists"),
        (new_file("src/kit/calc.py/x.py"), "not-a-file"),
        (new_file("src/a\\b.py"), "odd-path"),
        (new_file("src//x.py"), "odd-path"),
        (new_file("src/./x.py"), "odd-path"),
        (GOOD.replace("calc", "nobody"), "no-such-file"),
        (new_file("src/n.py") + new_file("src/n.py"), "file-twice"),
        ("--- a/src/kit/calc.py\n+++ b/src/kit/calc.py\n@@ -3,0 +4,1 @@\n+x\n", "no-context"),
        ("@@ -1,1 +1,1 @@\n-a\n+b\n", "hunk-without-file"),
        ("--- a/src/kit/calc.py\n@@ -1,1 +1,1 @@\n-a\n+b\n", "no-new-name"),
    ],
)
def test_other_refusals(workspace, diff, code):
    refused(workspace, diff, code)


def test_file_in_two_parts_of_a_diff_is_changed_by_both(workspace):
    second = textwrap.dedent(
        """\
        --- a/src/kit/calc.py
        +++ b/src/kit/calc.py
        @@ -6,3 +6,3 @@
         def grow(a, k):
        -    # a times k
        +    # k times a
             return a * k
        """
    )
    applied(workspace, GOOD + second)
    assert fixed(workspace)
    assert b"# k times a" in workspace.read(CALC)
