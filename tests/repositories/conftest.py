"""A small embedded repository of the tests' own, and git for looking at results."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

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
