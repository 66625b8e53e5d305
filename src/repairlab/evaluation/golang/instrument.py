"""What is added to Go's own packages so that a test program reports in a way that its tests cannot.

A test program is linked with a `testing` package that sends one authenticated record when a test begins and
one when it has ended (``inside/channel.go``), under a key that package `runtime` takes from a pipe before
any other package is initialised (``inside/key.go``). The go command compiles these in through its
``-overlay`` option; the toolchain's own files are not touched. The calls are put in at places that are the
same in every release from 1.21 on. A toolchain in which such a place is missing or comes twice is refused:
nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from repairlab.contract.errors import RefuseToStart
from repairlab.evaluation.golang import inside

_SOURCES = Path(inside.__file__).parent
DRIVER_FILES = ("build.go", "frames.go", "main.go", "places.go", "rest_linux.go", "rest_other.go", "run.go")


@dataclass(frozen=True, slots=True)
class Insertion:
    """Lines to put before or after the one line of a file that begins with `place`."""

    place: str
    lines: str
    after: bool


INSERTIONS: Mapping[str, tuple[Insertion, ...]] = MappingProxyType(
    {
        "testing/testing.go": (
            Insertion("\tgo tRunner(t, f)", "\trepairlabBegin(t.name)", after=False),
            Insertion("\tdstr := fmtDuration(t.duration)", "\trepairlabEnd(t.name, &t.common)", after=False),
            Insertion("func MainStart(", "\trepairlabStart()", after=True),
            Insertion(
                "func (m *M) Run() (code int) {", "\tdefer func() { repairlabRan(m, code) }()", after=True
            ),
            Insertion("func RunTests(", '\trepairlabForeign("RunTests")', after=True),
        ),
        "testing/fuzz.go": (
            Insertion("\tdstr := fmtDuration(f.duration)", "\trepairlabEnd(f.name, &f.common)", after=False),
        ),
        "testing/example.go": (
            Insertion("func RunExamples(", '\trepairlabForeign("RunExamples")', after=True),
        ),
    }
)
_EXAMPLE_CALL = "\t\tif !runExample(eg) {"
_OUR_EXAMPLE_CALL = "\t\tif !repairlabExample(eg) {"


def overlay(goroot: Path) -> Mapping[str, bytes]:
    """Files of the standard library to replace or add, by their path below ``GOROOT/src``.

    Raises:
        RefuseToStart: the toolchain at `goroot` is unlike every one that this was written for.
    """
    files = {
        "runtime/repairlab_key.go": source("key.go"),
        "testing/repairlab_channel.go": source("channel.go"),
        "testing/repairlab_frames.go": source("frames.go").replace(b"package main", b"package testing", 1),
    }
    for name, insertions in INSERTIONS.items():
        text = (goroot / "src" / name).read_text(encoding="utf-8")
        for insertion in insertions:
            text = insert(text, insertion, name)
        files[name] = text.encode()
    files["testing/example.go"] = _with_example_call(files["testing/example.go"].decode()).encode()
    return files


def insert(text: str, insertion: Insertion, name: str) -> str:
    """`text` with the lines of `insertion` at its place.

    Raises:
        RefuseToStart: the place is missing or comes twice; `name` says in which file.
    """
    lines = text.split("\n")
    found = [number for number, line in enumerate(lines) if line.startswith(insertion.place)]
    if len(found) != 1 or (insertion.after and not lines[found[0]].endswith("{")):
        raise _unlike(name, insertion.place)
    at = found[0] + 1 if insertion.after else found[0]
    return "\n".join([*lines[:at], insertion.lines, *lines[at:]])


def source(name: str) -> bytes:
    """One of the Go sources that this room carries."""
    return (_SOURCES / name).read_bytes()


def _with_example_call(text: str) -> str:
    if text.count(_EXAMPLE_CALL) != 1:
        raise _unlike("testing/example.go", _EXAMPLE_CALL)
    return text.replace(_EXAMPLE_CALL, _OUR_EXAMPLE_CALL)


def _unlike(name: str, place: str) -> RefuseToStart:
    return RefuseToStart(
        f"this Go toolchain cannot be instrumented: {name} has not exactly one line {place.strip()!r}",
        repair="use a release of Go from 1.21 to 1.27",
    )
