from __future__ import annotations

import dataclasses
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from repairlab.contract.errors import BadInput, InfrastructureFailure, IntegrityViolation
from repairlab.contract.task import Environment
from repairlab.evaluation.installed import files_unlike_record
from repairlab.evaluation.interpreters import Interpreter, choose

EMPTY = Environment(python=">=3.11", requirements=())
ONE = Environment(python=">=3.11", requirements=("iniconfig==2.1.0",))


@pytest.fixture
def fresh(environments, tmp_path):
    """The same maker with a root of its own; uv's cache makes this quick."""
    return dataclasses.replace(environments, root=tmp_path / "root")


def nowhere(environments):
    """A maker that cannot make anything."""
    return dataclasses.replace(environments, uv=Path("/nowhere/uv"))


def test_an_environment_holds_the_closure_and_nothing_else(installed):
    assert [d.name for d in installed.distributions] == [
        *("iniconfig-2.1.0", "packaging-25.0", "pluggy-1.6.0", "pygments-2.19.2", "pytest-9.0.2")
    ]
    version = subprocess.run(
        (str(installed.python), "-c", "import platform; print(platform.python_version())"),
        capture_output=True,
        check=True,
        text=True,
    )
    assert version.stdout.strip() == installed.python_version


@pytest.mark.parametrize(
    "text", ["pytest", "pytest>=8", "pytest==8.*", "git+https://host/x", "./local", "-r x"]
)
def test_what_is_not_pinned_is_refused(environments, text):
    with pytest.raises(BadInput, match="not pinned"):
        environments.key_of(Environment(python="", requirements=(text,)))


def test_a_name_that_comes_twice_is_refused(environments):
    with pytest.raises(BadInput, match="typing-extensions is listed twice"):
        environments.key_of(
            Environment(python="", requirements=("typing_extensions==4.1", "Typing.Extensions==4.2"))
        )


def test_the_key_covers_content_and_not_order(environments):
    def key(*requirements, maker=environments):
        return maker.key_of(Environment(python=">=3.11", requirements=requirements))[0]

    assert key("a==1", "b==2") == key("B==2", "a==1")
    assert key("a==1") != key("a==2")
    interpreter = environments.interpreters[0]
    for change in ({"version": (3, 99, 0)}, {"platform": "other"}):
        other = dataclasses.replace(environments, interpreters=(dataclasses.replace(interpreter, **change),))
        assert key("a==1", maker=other) != key("a==1")


def test_no_interpreter_says_which_were_seen(environments):
    with pytest.raises(BadInput) as caught:
        environments.ensure(Environment(python=">=3.99", requirements=()))
    assert str(environments.interpreters[0].executable) in str(caught.value)
    assert environments.interpreters[0].version_text in str(caught.value)


def test_the_newest_admitted_interpreter_is_chosen():
    def at(path, *version):
        return Interpreter(Path(path), "CPython", version, "linux", ())

    seen = (at("/a", 3, 9, 1), at("/c", 3, 12, 3), at("/b", 3, 12, 3), at("/d", 3, 14, 0))
    assert choose(">=3.9,<3.14", seen).executable == Path("/b")


def test_a_present_environment_needs_nothing(fresh):
    first = fresh.ensure(ONE)
    assert nowhere(fresh).ensure(ONE) == first
    with pytest.raises(InfrastructureFailure):
        nowhere(fresh).ensure(EMPTY)


def test_a_failure_leaves_nothing_that_could_be_taken_for_an_environment(fresh):
    impossible = Environment(python=">=3.11", requirements=("iniconfig==0.0.0.1",))
    with pytest.raises(InfrastructureFailure, match="iniconfig") as caught:
        fresh.ensure(impossible)
    assert caught.value.kind == "environment"
    key, _ = fresh.key_of(impossible)
    assert not (fresh.root / key).exists()


def test_a_killed_installation_is_begun_again(fresh):
    key, _ = fresh.key_of(ONE)
    half = fresh.root / f"{key}.unfinished"
    child = os.fork()
    if child == 0:
        try:
            fresh.ensure(ONE)
        finally:
            os._exit(0)
    deadline = time.monotonic() + 20
    while not half.exists() and time.monotonic() < deadline:
        time.sleep(0.001)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert half.exists()
    assert not (fresh.root / key).exists()
    fresh.verify(fresh.ensure(ONE))
    assert not half.exists()


def test_damage_in_one_environment_does_not_reach_another(fresh, tmp_path):
    """Files linked from uv's cache would carry an edit into the cache, and from there everywhere."""
    first = fresh.ensure(ONE)
    (module,) = first.root.glob("lib/python*/site-packages/iniconfig/__init__.py")
    assert module.stat().st_nlink == 1
    module.write_bytes(module.read_bytes() + b"#")
    rebuilt = fresh.rebuild(ONE)
    assert files_unlike_record(rebuilt.root) == ()
    (again,) = rebuilt.root.glob("lib/python*/site-packages/iniconfig/__init__.py")
    assert not again.read_bytes().endswith(b"#")


def test_a_file_that_is_not_the_wheel_s_is_named(fresh):
    installed = fresh.ensure(ONE)
    (module,) = installed.root.glob("lib/python*/site-packages/iniconfig/__init__.py")
    module.write_bytes(b"other")
    (named,) = files_unlike_record(installed.root)
    assert named.endswith("site-packages/iniconfig/__init__.py")


@pytest.mark.parametrize("damage", ["edit", "add", "remove", "compiled"])
def test_verify_sees_a_changed_file(fresh, damage):
    installed = fresh.ensure(ONE)
    fresh.verify(installed)
    package = (
        installed.root / f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages/iniconfig"
    )
    if damage == "edit":
        (package / "__init__.py").write_bytes((package / "__init__.py").read_bytes() + b"#")
    elif damage == "add":
        (package.parent / "extra.pth").write_text("import os\n")
    elif damage == "remove":
        (package / "py.typed").unlink()
    else:
        next((package / "__pycache__").iterdir()).write_bytes(b"other code")
    with pytest.raises(IntegrityViolation, match="differ"):
        fresh.verify(installed)
    fresh.verify(fresh.rebuild(ONE))


def test_verify_sees_another_distribution(fresh):
    installed = fresh.ensure(ONE)
    folder = next(installed.root.glob("lib/python*/site-packages"))
    other = folder / "other-1.dist-info"
    other.mkdir()
    (other / "RECORD").write_text("")
    with pytest.raises(IntegrityViolation, match="other distributions"):
        fresh.verify(installed)
