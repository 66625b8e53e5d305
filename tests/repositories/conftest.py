"""A small embedded repository of the tests' own, and git for looking at results."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from repairlab.contract.controls import PatchRules, SharedControls
from repairlab.contract.strict import load
from repairlab.repositories.mirrors import Mirror, Mirrors
from repairlab.repositories.sources import Sources
from repairlab.repositories.templates import Template, Templates
from repairlab.repositories.workspace import Workspace

GIT_ENVIRONMENT = {
    "PATH": os.defpath + ":/usr/local/bin:/opt/homebrew/bin",
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_AUTHOR_NAME": "t",
    "GIT_AUTHOR_EMAIL": "t@example.invalid",
    "GIT_COMMITTER_NAME": "t",
    "GIT_COMMITTER_EMAIL": "t@example.invalid",
}

FIX = b"""\
diff --git a/ledger/total.py b/ledger/total.py
--- a/ledger/total.py
+++ b/ledger/total.py
@@ -1,2 +1,2 @@
 def total(amounts):
-    return sum(amounts[1:])
+    return sum(amounts)
diff --git a/tests/test_total.py b/tests/test_total.py
--- a/tests/test_total.py
+++ b/tests/test_total.py
@@ -3,2 +3,6 @@ from ledger.total import total
 def test_nothing():
     assert total([]) == 0
+
+
+def test_first_counts():
+    assert total([2, 3]) == 5
diff --git a/ledger/extra.py b/ledger/extra.py
new file mode 100644
--- /dev/null
+++ b/ledger/extra.py
@@ -0,0 +1 @@
+RATE = 2
"""


def write_embedded(folder: Path) -> Path:
    files = {
        "tree/ledger/__init__.py": b"",
        "tree/ledger/total.py": b"def total(amounts):\n    return sum(amounts[1:])\n",
        "tree/tests/test_total.py": (
            b"from ledger.total import total\n\ndef test_nothing():\n    assert total([]) == 0\n"
        ),
        "tree/gitignore": b"*.py\n",
        'tree/odd "name" \xc3\xafx.txt'.encode("latin-1").decode(): b"no newline at the end",
        "fixes/first-amount.patch": FIX,
    }
    for path, content in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    return folder


@pytest.fixture
def embedded_folder(tmp_path: Path) -> Path:
    return write_embedded(tmp_path / "data")


@pytest.fixture
def git_out() -> Callable[..., bytes]:
    """`git_out(folder, *arguments)`: output of the real git, called independently of the code under test."""

    def call(folder: Path, *arguments: str, stdin: bytes = b"") -> bytes:
        ended = subprocess.run(
            ["git", *arguments], cwd=folder, env=GIT_ENVIRONMENT, input=stdin, capture_output=True, check=True
        )
        return ended.stdout

    return call


CALC = b"""\
def minus(a, b):
    # the difference
    return a + b


def grow(a, k):
    # a times k
    return a * k


def once(a):
    out = a
    out = out + 1
    return out


def again(a):
    out = a
    out = out + 1
    return out
"""

FILES = {
    "src/kit/__init__.py": b"",
    "src/kit/calc.py": CALC,
    "kit/calc.py": CALC,
    "src/kit/dos.py": b"def head(xs):\r\n    return xs[1]\r\n\r\n\r\ndef tail(xs):\r\n    return xs[-1]\r\n",
    "src/kit/noeol.py": b"LIMIT = 5\nNAME = 'y'",
    "src/kit/feed.py": "A = 1\n\f\nB = 2\nTEXT = 'up\u2028down'\nC = 3\nD = 4\n".encode(),
    "src/kit/tabs.go": b"package kit\n\nfunc Half(n int) int {\n\treturn n * 2\n}\n",
    "src/kit/nul.py": b"A = 1\nB = '\0'\nC = 3\n",
    "src/a dir/part one.py": b"X = 1\n",
    "src/kit/\u00e4rger.py": b"Y = 1\n",
    "src/kit/latin.py": b"# caf\xe9\nZ = 1\n",
    "tests/test_calc.py": (
        b"from src.kit.calc import minus\n\n\ndef test_minus():\n    assert minus(2, 2) == 0\n"
    ),
    "conftest.py": b"# fixtures for all\n",
    "go.mod": b"module example.invalid/kit\n\ngo 1.21\n",
    ".gitattributes": b"*.py text eol=crlf diff=python\n*.txt ident filter=none\n",
    "docs/notes.txt": b"$Id$ notes\n",
}


@dataclass(frozen=True)
class Cases:
    """A small upstream repository and what is made of it."""

    upstream: Path
    base: str
    mirror: Mirror
    template: Template


@pytest.fixture(scope="session")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Cases:
    """The tree that the patch cases are written against."""
    home = tmp_path_factory.mktemp("cases")
    upstream = home / "upstream"
    for path, content in FILES.items():
        target = upstream / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    (upstream / "src/link_tests").symlink_to("../tests")
    (upstream / "src/kit/alias.py").symlink_to("../../tests/test_calc.py")
    (upstream / "src/kit/tool.py").write_bytes(b"#!/usr/bin/env python\nprint(1)\n")
    (upstream / "src/kit/tool.py").chmod(0o755)

    def call(*arguments: str) -> str:
        ended = subprocess.run(
            ["git", "-c", "core.autocrlf=false", *arguments],
            cwd=upstream,
            env=GIT_ENVIRONMENT,
            capture_output=True,
            check=True,
        )
        return ended.stdout.decode().strip()

    call("init", "--quiet", "--initial-branch=main")
    # The attributes must not touch what is stored.
    (upstream / ".git/info/attributes").write_text("* -text !filter !ident\n")
    call("add", "--all")
    call("commit", "--quiet", "-m", "base")
    base = call("rev-parse", "HEAD")
    (upstream / "src/kit/calc.py").write_bytes(CALC.replace(b"a + b", b"a - b"))
    call("commit", "--quiet", "-a", "-m", "the fix, which no template may hold")
    mirrors = Mirrors(home / "mirrors", Sources(str(home / "{name}")))
    mirror = mirrors.ensure("https://example.invalid/owner/upstream", [base])
    return Cases(upstream, base, mirror, Templates(home / "templates").ensure(mirror, base))


@pytest.fixture(scope="session")
def rules() -> PatchRules:
    return load(SharedControls, Path(__file__).parents[2] / "contracts/shared.toml").patch


@pytest.fixture
def workspace(cases: Cases, rules: PatchRules, tmp_path: Path) -> Workspace:
    return Workspace(cases.template, tmp_path / "layer", rules, "python")


@pytest.fixture
def go_workspace(cases: Cases, rules: PatchRules, tmp_path: Path) -> Workspace:
    return Workspace(cases.template, tmp_path / "layer", rules, "go")
