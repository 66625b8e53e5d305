"""Workspaces: random edits come out as written, reconstruct exactly, and touch nothing else."""

from __future__ import annotations

import itertools
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from repairlab.contract.errors import IntegrityViolation
from repairlab.repositories.canonical import diff_states
from repairlab.repositories.layer import Layer
from repairlab.repositories.workspace import Applied, Refused, Workspace

EDIT = (
    "--- a/src/kit/calc.py\n+++ b/src/kit/calc.py\n@@ -6,3 +6,3 @@\n"
    " def grow(a, k):\n-    # a times k\n+    # grown\n     return a * k\n"
)
NEW = "--- /dev/null\n+++ b/src/kit/more.py\n@@ -0,0 +1 @@\n+x = 1\n"

# Few distinct lines, so that blocks repeat; some look like parts of a diff or differ in their ends alone.
LINES = [
    "a\n",
    "b\n",
    "\n",
    " \n",
    "\tx\n",
    "a\r\n",
    "-- a/q\n",
    "++ b/q\n",
    "@@ -1 +1 @@\n",
    "```\n",
    "\u2028\f\n",
]
texts = st.lists(st.sampled_from(LINES), max_size=24).map("".join)
contents = st.tuples(texts, st.sampled_from(["", "end"])).map("".join)
states = st.dictionaries(
    st.sampled_from(["src/kit/calc.py", "src/kit/new.py", "pkg/sub dir/\u00fc.py"]), contents
)


def quick(examples: int) -> settings:
    return settings(
        max_examples=examples,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture],
        derandomize=True,
    )


def fresh(cases, rules) -> Workspace:
    return Workspace(cases.template, Path(tempfile.mkdtemp()), rules, "python")


@given(target=states)
@quick(60)
def test_canonical_diff_applies_to_exactly_its_state_and_is_reconstructed(cases, rules, target):
    workspace = fresh(cases, rules)
    folder = workspace._layer.folder
    base = {"src/kit/calc.py": ("100644", workspace.read("src/kit/calc.py"))}
    after = {path: ("100644", text.encode()) for path, text in target.items()}
    patch = diff_states(base, after, folder / "diff")
    answer = workspace.apply(patch.decode())
    if not patch:
        assert isinstance(answer, Refused)
    else:
        assert isinstance(answer, Applied), answer
        assert answer.repairs == ()
        assert workspace.read("src/kit/calc.py") == after.get("src/kit/calc.py", (None, None))[1]
        assert {path: workspace.read(path) for path in target} == {path: c for path, (_, c) in after.items()}
    assert workspace.final_patch() == patch
    shutil.rmtree(folder)


@given(first=contents, second=contents)
@quick(40)
def test_edits_in_two_steps_reconstruct_as_one_patch(cases, rules, first, second):
    workspace = fresh(cases, rules)
    path = "src/kit/calc.py"
    steps = [workspace.read(path), first.encode(), second.encode()]
    for number, (old, new) in enumerate(itertools.pairwise(steps)):
        before, after = {path: ("100644", old)}, {path: ("100644", new)}
        patch = diff_states(before, after, workspace._layer.folder / f"diff{number}")
        assert isinstance(workspace.apply(patch.decode()), Applied) or old == new
    whole = diff_states(
        {path: ("100644", steps[0])}, {path: ("100644", steps[2])}, workspace._layer.folder / "w"
    )
    assert workspace.final_patch() == whole
    shutil.rmtree(workspace._layer.folder)


@given(
    path=st.lists(
        st.sampled_from(["..", ".", "", "src", "kit", "x.py", ".git", "link_tests", "tests", "~"]), min_size=1
    )
    .map("/".join)
    .map(lambda text: text.removesuffix("/")),
    absolute=st.booleans(),
)
@quick(60)
def test_no_path_leaves_the_tree_or_reaches_a_link(cases, rules, path, absolute):
    workspace = fresh(cases, rules)
    path = f"/{path}" if absolute else path
    answer = workspace.apply(f"--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+x = 1\n")
    parts = path.split("/")
    if isinstance(answer, Applied):
        assert path.endswith(".py")
        assert not {"..", ".", "", ".git", "tests"} & set(parts)
        assert not path.startswith("src/link_tests")
        assert workspace.read(path) == b"x = 1\n"
    written = [p for p in workspace._layer.folder.rglob("*") if p.is_file()]
    assert all(p.parent == workspace._layer.folder or p.parent.name == "contents" for p in written)
    shutil.rmtree(workspace._layer.folder)


def test_read_gives_tracked_files_and_nothing_else(workspace, cases):
    (cases.template.root / "untracked.py").write_bytes(b"x\n")
    try:
        for path in (
            "untracked.py",
            ".git/HEAD",
            "src",
            "src/kit/alias.py",
            "src/link_tests/test_calc.py",
            "../upstream/go.mod",
            str(cases.template.root / "go.mod"),
            "src/../go.mod",
            "src/kit/\udcff",
            "",
        ):
            assert workspace.read(path) is None, path
            assert path not in workspace.paths()
    finally:
        (cases.template.root / "untracked.py").unlink()
    assert workspace.read("go.mod") == b"module example.invalid/kit\n\ngo 1.21\n"
    assert workspace.paths() == tuple(sorted(workspace.paths(), key=os.fsencode))


def test_altered_template_is_an_integrity_violation(workspace, cases):
    path = cases.template.root / "src/kit/noeol.py"
    content = path.read_bytes()
    path.write_bytes(content + b"#")
    try:
        with pytest.raises(IntegrityViolation, match="altered"):
            workspace.read("src/kit/noeol.py")
        path.unlink()
        with pytest.raises(IntegrityViolation, match="not there"):
            workspace.read("src/kit/noeol.py")
    finally:
        path.write_bytes(content)


def test_template_is_untouched_by_edits(workspace, cases, git_out):
    assert isinstance(workspace.apply(EDIT + NEW), Applied)
    workspace.final_patch()
    assert git_out(cases.template.root, "status", "--porcelain", "--ignored") == b""


def test_layer_is_taken_up_again(workspace, cases, rules):
    assert isinstance(workspace.apply(EDIT + NEW), Applied)
    again = Workspace(cases.template, workspace._layer.folder, rules, "python")
    assert again.changes() == workspace.changes()
    assert again.edited() == ("src/kit/calc.py", "src/kit/more.py")
    assert again.read("src/kit/more.py") == b"x = 1\n"


def test_layer_of_another_base_is_refused(workspace, cases, rules):
    assert isinstance(workspace.apply(NEW), Applied)
    state = workspace._layer.folder / "state.json"
    state.write_text(state.read_text().replace(cases.template.tree_id, "0" * 40))
    with pytest.raises(IntegrityViolation, match="edits of tree 0000"):
        Workspace(cases.template, workspace._layer.folder, rules, "python")


def test_altered_layer_content_is_refused(workspace, cases, rules):
    assert isinstance(workspace.apply(NEW), Applied)
    (content,) = (workspace._layer.folder / "contents").iterdir()
    content.write_bytes(b"x = 2\n")
    with pytest.raises(IntegrityViolation, match="altered"):
        Workspace(cases.template, workspace._layer.folder, rules, "python")


@pytest.mark.parametrize("writes_before_death", range(6))
def test_killed_edit_leaves_the_old_state_or_the_new(tmp_path, writes_before_death):
    """A process dies by a signal at its n-th rename; whoever comes after sees one state or the other."""
    old, new = {"a.py": b"1\n"}, {"a.py": b"2\n", "b.py": b"3\n", "c.py": None}
    folder = tmp_path / "layer"
    Layer(folder, "t").save(old)
    program = f"""
import os, signal
from pathlib import Path
from repairlab.repositories.layer import Layer
left = {writes_before_death}
real = Path.replace
def replace(self, target):
    global left
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    left -= 1
    return real(self, target)
Path.replace = replace
Layer(Path({str(folder)!r}), "t").save({new!r})
"""
    died = subprocess.run([sys.executable, "-c", program], check=False).returncode
    assert died == (-9 if writes_before_death < 3 else 0)
    assert Layer(folder, "t").load() == (old if died else new)


def test_evaluation_refuses_a_patch_that_is_not_in_normal_form(cases, rules, tmp_path):
    def build(name: str, patch: bytes) -> Workspace:
        return Workspace.from_patch(cases.template, tmp_path / name, rules, "python", patch)

    assert build("a", b"").changes() == {}
    assert build("b", EDIT.encode()).edited() == ("src/kit/calc.py",)
    with pytest.raises(IntegrityViolation, match="needed a repair: recount-hunks"):
        build("c", EDIT.replace("-6,3", "-6,4").encode())
    with pytest.raises(IntegrityViolation, match="is refused"):
        build("d", EDIT.replace("calc", "gone").encode())
    with pytest.raises(IntegrityViolation, match="fresh folder"):
        build("b", EDIT.encode())


def test_reconstructed_patch_may_exceed_the_limit_on_one_diff(cases, rules, tmp_path):
    small = rules.model_copy(update={"diff_bytes": 1024})
    workspace = Workspace(cases.template, tmp_path / "layer", small, "python")
    for number in range(4):
        body = "".join(f"+x{line} = 1  # a comment\n" for line in range(25))
        diff = f"--- /dev/null\n+++ b/src/n{number}.py\n@@ -0,0 +1,25 @@\n{body}"
        assert isinstance(workspace.apply(diff), Applied)
    assert len(workspace.final_patch()) > 1024


def test_reconstruction_that_gives_another_state_is_an_integrity_violation(workspace, monkeypatch):
    assert isinstance(workspace.apply(EDIT), Applied)
    other = EDIT.replace("grown", "shrunk").encode()
    monkeypatch.setattr("repairlab.repositories.workspace.diff_states", lambda *_: other)
    with pytest.raises(IntegrityViolation, match="does not give the workspace's state"):
        workspace.final_patch()


def test_mode_of_an_executable_file_stays(workspace):
    edit = (
        "--- a/src/kit/tool.py\n+++ b/src/kit/tool.py\n@@ -1,2 +1,2 @@\n"
        " #!/usr/bin/env python\n-print(1)\n+print(2)\n"
    )
    assert isinstance(workspace.apply(edit), Applied)
    assert b"100755" in workspace.final_patch()
    assert b"old mode" not in workspace.final_patch()


def test_final_patch_is_the_mirrors_diff_of_the_same_change(workspace, cases, git_out):
    fix = git_out(cases.upstream, "rev-parse", "HEAD").decode().strip()
    patch = cases.mirror.diff(cases.base, fix)
    assert isinstance(workspace.apply(patch.decode()), Applied)
    assert workspace.final_patch() == patch
    assert git_out(cases.template.root, "apply", "--check", "-", stdin=patch) == b""


def test_ordinary_user_can_read_edit_and_reconstruct(cases, rules):
    """The template belongs to someone else and the umask is strict; only the layer is the user's own."""
    folder = Path(tempfile.mkdtemp())
    for parent in (cases.template.root, *cases.template.root.parents):
        if parent.stat().st_mode & 0o005 != 0o005 and parent.stat().st_uid == os.getuid():
            parent.chmod(parent.stat().st_mode | 0o055)
    program = f"""
import pickle, sys
from pathlib import Path
from repairlab.repositories.workspace import Workspace
template, rules = pickle.load(sys.stdin.buffer)
workspace = Workspace(template, Path({str(folder / "mine" / "layer")!r}), rules, "python")
answer = workspace.apply({EDIT + NEW!r})
assert answer.paths == ("src/kit/calc.py", "src/kit/more.py"), answer
sys.stdout.buffer.write(workspace.final_patch())
"""
    command = [sys.executable, "-c", program]
    if os.getuid() == 0:
        os.chown(folder, 65534, 65534)
        command = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", *command]
    ended = subprocess.run(
        command, input=pickle.dumps((cases.template, rules)), capture_output=True, check=False, umask=0o077
    )
    assert ended.returncode == 0, ended.stderr.decode()
    assert ended.stdout.startswith(b"diff --git a/src/kit/calc.py")
    shutil.rmtree(folder)
