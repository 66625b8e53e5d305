"""The syntax check of A002: what the interpreter refuses is found, what it takes is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from repairlab.agents.syntax import SyntaxCheck
from repairlab.agents.toolbox import Toolbox

SOUND = [
    "", "def f():\n    return 1\n", "if x: y; z\n", "x = 1; y = 2\n", "if (a and\n    b): c\nelse: d\n",
    "def f():\n\tx\n\ty\n", "class A: pass\nclass B:\n    # c\n    x = 1\n\n# d\n    y = 2\n",
    "@d\ndef f():\n    pass\n", "\ufeffx = 1\n", "def f(): # c\n    '''d'''\n", "\x0cdef f():\n    pass\n",
    "if a:\n    x\nelif b:\n    y\nelse:\n    z\n", "match x:\n    case 1:\n        pass\n",
    "try:\n    x\nexcept* E:\n    y\n", "x = [\n  1,\n    2]; y = 3\n", "def f(a,\n      b): return a\n",
    "if a:\n    b = '''\n  c\n'''\n    d = 1\n",
]  # fmt: skip
FAULTY = {
    "def f()\n    return 1\n": (1,),
    "def f():\n  x = 1\n    y = 2\n": (3,),
    "def f():\nreturn 1\n": (1,),
    "def f():\n    if a:\n        b\n  c\n": (4,),
    "class A:\n    def f(self):\n        x\n     y = 3\n": (4,),
    "def f():\n    for x in y:\n    z()\n": (2,),
    " x = 1\n": (1,),
    "if a:\n    # only\nb\n": (1,),
    "x = 1\n+ = 3\n": (2,),
    "def f(x):\n    return x)\n": (2,),
}


@pytest.mark.parametrize("source", SOUND)
def test_what_python_takes_is_taken(source: str) -> None:
    compile(source.removeprefix("\ufeff"), "x", "exec")
    assert SyntaxCheck("python").faults(source.encode()) == ()


@pytest.mark.parametrize("source", FAULTY)
def test_what_python_refuses_is_found(source: str) -> None:
    with pytest.raises(SyntaxError):
        compile(source, "x", "exec")
    assert SyntaxCheck("python").faults(source.encode()) == FAULTY[source]


def test_go_is_checked_by_its_own_grammar() -> None:
    check = SyntaxCheck("go")
    assert check.faults(b"package a\n\nfunc F[T any](x T) T { return x }\n") == ()
    assert check.faults(b"package a\n\nfunc f() int {\n\tx :=\n}\n") != ()


def test_the_report_names_files_and_lines() -> None:
    check = SyntaxCheck("python")
    files = {"a.py": b"x = 1\n", "b.py": b"x = )\ny\n\n)\ny\n\n)\ny\n\n)\n", "gone.py": None}
    assert check.report(files) == "Syntax check: b.py cannot be parsed: lines 1, 4, 7 and 1 more."
    assert check.report({"a.py": b"x = 1\n"}) == "Syntax check: every changed file can be parsed."


def test_the_check_stands_behind_the_answer_to_a_patch_where_it_is_asked_for(
    bench: Any, call_of: Callable[..., Any], fix: str
) -> None:
    plain = Toolbox(bench.workspace, bench.shared.view, bench.tests)
    checking = Toolbox(bench.workspace, bench.shared.view, bench.tests, syntax=SyntaxCheck("python"))
    good = checking.execute(call_of("apply_patch", diff=fix))
    assert good.text == "Applied. Changed: pkg/calc.py.\nSyntax check: every changed file can be parsed."
    head = "--- a/pkg/calc.py\n+++ b/pkg/calc.py\n@@ -1,2 +1,2 @@\n"
    spoilt = f"{head}-def add(a, b):\n+def add(a, b)\n     return a + b\n"
    bad = checking.execute(call_of("apply_patch", diff=spoilt))
    assert bad.text.endswith("Syntax check: pkg/calc.py cannot be parsed: line 1.")
    assert bad.accepted
    mended = f"{head}-def add(a, b)\n+def add(a, b):\n     return a + b\n"
    assert plain.execute(call_of("apply_patch", diff=mended)).text == "Applied. Changed: pkg/calc.py."
    refused = checking.execute(call_of("apply_patch", diff="nothing"))
    assert "Syntax" not in refused.text
