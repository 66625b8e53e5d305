"""The embedded study, run for real once a session: processes, sockets, git, sandboxed tests."""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from repairlab.repositories.embedded import folder_of
from repairlab.repositories.mirrors import Mirror
from repairlab.tasks.material import hidden_digest

ROOT = Path(__file__).resolve().parent.parent.parent
REPAIRLAB = [sys.executable, "-m", "repairlab.cli"]
Done = subprocess.CompletedProcess[str]


def copy_study(target: Path) -> Path:
    """The repository's own study without its results."""
    for name in ("contracts", "experiments", "preregistration"):
        shutil.copytree(
            ROOT / name, target / name, ignore=shutil.ignore_patterns("*.freeze.json", "*.manifest.json")
        )
    return target


@dataclass(frozen=True)
class Place:
    """A study and a cache, and a way to run commands on them."""

    study: Path
    cache: Path

    def command(self, *arguments: str) -> list[str]:
        return [*REPAIRLAB, arguments[0], *arguments[1:], "--study", str(self.study)]

    def environment(self) -> dict[str, str]:
        return {**os.environ, "REPAIRLAB_CACHE": str(self.cache)}

    def run(self, *arguments: str, expect: int = 0) -> Done:
        done = subprocess.run(
            self.command(*arguments), capture_output=True, text=True, env=self.environment(), check=False
        )
        assert done.returncode == expect, done.stdout + done.stderr
        return done

    def cells(self, experiment: str = "embedded") -> list[Path]:
        return sorted((self.study / "raw" / experiment).iterdir())


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="session")
def embedded(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Place:
    """The embedded study after one `repairlab demo`; tests only read it."""
    place = Place(copy_study(tmp_path_factory.mktemp("study")), cache)
    place.run("demo", "--plain")
    return place


FEW = ("almanak-rows-without-a-date", "ledgerline-text-round-trip")


@pytest.fixture
def fresh(tmp_path: Path, embedded: Place) -> Place:
    """A frozen study of its own over the same cache, with two of the tasks and nothing sealed.

    The identity of a cell does not depend on which other tasks there are, so its cells have the same names.
    """
    place = Place(copy_study(tmp_path / "study"), embedded.cache)
    path = place.study / "experiments" / "embedded.toml"
    path.write_text(re.sub(r"tasks = \[.*?\]", f"tasks = {list(FEW)}", path.read_text(), flags=re.DOTALL))
    place.run("freeze", "embedded")
    return place


@pytest.fixture
def pairs(embedded: Place) -> Callable[[Place], list[tuple[Path, Path]]]:
    """Each cell of another place beside the cell of the same name in the embedded study."""
    return lambda place: [(embedded.study / "raw" / "embedded" / c.name, c) for c in place.cells()]


@pytest.fixture
def make_place() -> Callable[[Path, Path], Place]:
    return Place


@pytest.fixture(scope="session")
def place_of() -> Callable[[Path, Path], Place]:
    """As `make_place`, for fixtures that outlive a test."""
    return Place


@pytest.fixture
def study_copy() -> Callable[[Path], Path]:
    """Copies the repository's own study without its results to a folder."""
    return copy_study


MARK = "cnry_7f3a9c2e51d8_"
"""Begins every secret that is planted; nothing else anywhere holds it."""


def needles(mark: bytes) -> frozenset[bytes]:
    """Forms in which `mark` is looked for: plain, hex, base64 at each alignment, per cent, JSON escapes."""
    import base64

    digits = [f"{byte:02x}" for byte in mark]
    found = {mark, b"".join(b"%%%02x" % byte for byte in mark)}
    found |= {"".join(digits).encode(), "".join(f"\\u00{pair}" for pair in digits).encode()}
    found |= {one.replace(b"%", b"%25") for one in found} | {one.upper() for one in found}
    found |= {one.replace(b"\\U", b"\\u") for one in found}
    for shift in range(3):  # only the characters that the bytes of the mark alone decide
        encoded = base64.b64encode(bytes(shift) + mark)
        found.add(encoded[-(-shift * 4 // 3) : (shift + len(mark)) * 4 // 3])
    return frozenset(found)


LOOK_AROUND = '''"""What tested code can see of this machine holds nothing that the evaluation alone knows."""

import os
import stat
import sys

MARK = {reversed_mark!r}[::-1].encode()
SYSTEM = ("/proc", "/sys", "/dev", "/usr", "/lib", "/lib64", "/bin", "/sbin", sys.base_prefix)
EDITED = os.path.join("src", "ledgerline", "formats")  # where the agent's own patch stands


{needles}

def seen_below(root):
    """Paths whose name or content holds the mark, and repositories other than the checkout."""
    for folder, folders, names in os.walk(root):
        folders[:] = [one for one in folders if os.path.join(folder, one) not in SYSTEM]
        if folder.endswith(".git") and folder != os.path.join(os.getcwd(), ".git"):
            yield folder
        for name in names:
            path = os.path.join(folder, name)
            told = os.fsencode(path) + content(path)
            if any(needle in told for needle in NEEDLES):
                yield path


def content(path):
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return b""
        with open(path, "rb") as file:
            return file.read(2**24)
    except OSError:
        return b""


def told_to_processes():
    """Environment and arguments of every process that can be seen."""
    for process in filter(str.isdigit, os.listdir("/proc") if os.path.isdir("/proc") else ()):
        for name in ("environ", "cmdline"):
            if any(needle in content(os.path.join("/proc", process, name)) for needle in NEEDLES):
                yield f"/proc/{{process}}/{{name}}"


NEEDLES = needles(MARK)


def test_nothing_secret_can_be_seen():
    own = os.path.join(os.getcwd(), EDITED)
    seen = [path for path in seen_below("/") if not path.startswith(own)]
    assert [*seen, *told_to_processes()] == []
'''


@dataclass(frozen=True)
class Planted:
    """A study whose task has secrets in everything that a model must not see."""

    study: Path
    secrets: dict[str, str]
    """Where each stands, and its text."""
    later: tuple[str, ...]
    """Git objects that are younger than the base."""


@pytest.fixture(scope="session")
def plant() -> Callable[[Path, Path], Planted]:
    """Puts secrets into a study: its task's gold patch, hidden tests and later history, and another cell."""
    return _plant


@pytest.fixture(scope="session")
def secret_forms() -> frozenset[bytes]:
    """What is searched for."""
    return needles(MARK.encode())


@pytest.fixture
def look_around(tmp_path: Path) -> Any:
    """The planted test as a module, for a control that it finds what there is."""
    path = tmp_path / "surroundings.py"
    path.write_text(_look_around())
    spec = importlib.util.spec_from_file_location("surroundings", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _look_around() -> str:
    return LOOK_AROUND.format(reversed_mark=MARK[::-1], needles=inspect.getsource(needles))


def _plant(study: Path, folder: Path) -> Planted:
    """Base: the embedded repository and a test that looks around. Fix: its repair with secrets. Then more."""
    names = ("gold", "name", "hidden", "message", "later", "tag", "cell")
    secrets = {name: f"{MARK}{name}" for name in names}
    work, bare = folder / "work", folder / "planted.git"

    def git(*arguments: str) -> str:
        who = ["-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "core.autocrlf=false"]
        done = subprocess.run(["git", *who, *arguments], cwd=work, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def commit(message: str) -> str:
        git("add", "-A")
        git("commit", "-q", "-m", message)
        return git("rev-parse", "HEAD")

    source = folder_of("ledgerline")
    shutil.copytree(source / "tree", work, ignore=shutil.ignore_patterns("__pycache__"))
    git("init", "-q", "-b", "main")
    (work / "tests" / "test_surroundings.py").write_text(_look_around())
    base = commit("base")
    git("apply", str(source / "fixes" / "ledgerline-text-round-trip.patch"))
    formats, created = work / "src" / "ledgerline" / "formats", f"{secrets['name']}.py"
    lexer = formats / "lexer.py"
    lexer.write_text(lexer.read_text().replace("\n_MEANINGS = ", f"\n# {secrets['gold']}\n_MEANINGS = ", 1))
    (formats / created).write_text(f'"""{secrets["gold"]}"""\n')
    hidden = work / "tests" / "test_text_format.py"
    hidden.write_text(f"{hidden.read_text()}\n\nHIDDEN = {secrets['hidden']!r}\n")
    fix = commit("repair")
    (work / "LATER.txt").write_text(secrets["later"])
    later = commit(secrets["message"])
    git("tag", "-a", "later", "-m", secrets["tag"])
    git("clone", "-q", "--bare", str(work), str(bare))
    objects = git("rev-list", "--objects", "--no-object-names", f"{base}..{later}").split()
    _point_task_at(study, Mirror("https://example.org/o/planted", bare), base, fix, created)
    (study / "settings.toml").write_text(f'sources = "{folder}/{{name}}.git"\n')
    cell = study / "raw" / "another" / "ledgerline-text-round-trip.H000.FLOOR.s0.r0.000000000000"
    cell.mkdir(parents=True)
    (cell / "patch.diff").write_text(f"+{secrets['cell']}\n")
    return Planted(study, secrets, (*objects, git("rev-parse", "later")))


def _point_task_at(study: Path, mirror: Mirror, base: str, fix: str, created: str) -> None:
    path = study / "preregistration" / "tasks" / "ledgerline-text-round-trip.toml"
    text, created = path.read_text(), f"src/ledgerline/formats/{created}"
    task = tomllib.loads(text)
    production = sorted([*task["production_files"], created])
    gold = hashlib.sha256(mirror.diff(base, fix, production)).hexdigest()
    files = {name: mirror.read(fix, name) for name in sorted(task["hidden_test_files"])}
    changes = {
        '"embedded:ledgerline"': f'"{mirror.repository}"',
        task["base"]: base,
        task["fix"]: fix,
        task["digests"]["gold_patch"]: gold,
        task["digests"]["hidden_tests"]: hidden_digest(files),
        "production_files = [": f'production_files = [\n  "{created}",',
        "created_files = []": f'created_files = ["{created}"]',
        '  "tests/test_reports.py",': '  "tests/test_reports.py",\n  "tests/test_surroundings.py",',
    }
    for old, new in changes.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    path.write_text(text)
