"""Runs unittest suites on a checkout, plain or in a Django project, and reports each test by its full name.

This file is shown to the sandbox outside of the tree, with `launching` and `unittest_result` beside it, and
started by path with the environment's own interpreter. It needs the standard library alone, Django where a
project uses it, and runs on Python 3.8 and newer. What makes its report evidence, and what remains possible,
stands in `launching`.

Test files are imported as modules, loaded by unittest's own loader and run in its order. Its statuses are
those of pytest: 0 all passed, 1 some did not or a file could not be read, 2 interrupted, 3 the runner itself
failed, 4 asked for a file that is not there, 5 nothing collected.
"""

from __future__ import annotations

import importlib
import os
import platform
import sys
import traceback
import unittest
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from repairlab.evaluation.inside import launching, unittest_result
else:
    import launching
    import unittest_result

_LAZY = ("_colorize", "ast", "difflib", "pprint", "tokenize", "unicodedata", "asyncio", "unittest.mock")
_LAZY_UNITTEST = ("unittest._log", "unittest.async_case")
_FAILED, _INTERRUPTED, _INTERNAL, _USAGE, _NOTHING = 1, 2, 3, 4, 5


class NotThere(LookupError):
    """A test file, or the module of a test that was asked for, does not exist."""


def main() -> None:
    """Entry point: ``unittest_launcher.py REPORT_FD`` in the root of the checkout."""
    config, send = launching.begin()
    launching.import_runner("unittest", sys.base_prefix)
    launching.preload((*_LAZY, *_LAZY_UNITTEST))
    settings = config["django_settings"]
    django = launching.import_runner("django", sys.prefix).__version__ if settings else ""
    launching.preload(("django.test.runner",) if settings else ())
    send("hello", python=platform.python_version(), django=django)
    root = launching.enter_checkout(config["pythonpath"])
    result = unittest_result.Recorder(send)
    unreadable: list[str] = []

    def collect() -> list[unittest.TestCase]:
        tests = _collected(config, root, send, unreadable)
        result.tests = tests
        return tests

    ending = _Ending()
    with ending:
        if settings:
            _run_in_django(settings, collect, result)
        else:
            warnings.simplefilter("default")  # as unittest's own command line does
            unittest.TestSuite(collect()).run(result)
    launching.end(send, ending.code or _code(result, unreadable), result.phases)


def _code(result: unittest_result.Recorder, unreadable: Sequence[str]) -> int:
    if unreadable or not result.wasSuccessful():
        return _FAILED
    return 0 if result.tests else _NOTHING


class _Ending:
    """Takes what tested code raises through the runner, and says which status it means."""

    code = 0

    def __enter__(self) -> None:
        return None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        if problem is not None:
            meanings = ((KeyboardInterrupt, _INTERRUPTED), (NotThere, _USAGE), (BaseException, _INTERNAL))
            self.code = next(code for kind, code in meanings if isinstance(problem, kind))
            traceback.print_exception(type(problem), problem, trace)
        return True


class _Loading:
    """Keeps what a test file raises while it is imported, but for an interrupt."""

    problem: BaseException | None = None

    def __enter__(self) -> None:
        return None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        self.problem = problem
        return not isinstance(problem, KeyboardInterrupt)


def _collected(
    config: Mapping[str, Any], root: Path, send: launching.Send, unreadable: list[str]
) -> list[unittest.TestCase]:
    """The tests to run, in order; files that could not be read go to the report and to `unreadable`."""
    select = config["select"]
    folders = config["pythonpath"]
    files = config["files"] or sorted({_file_of(name, root, folders) for name in select or ()})
    missing = [file for file in files if not (root / file).is_file()]
    if missing:
        raise NotThere(f"there is no test file {missing[0]}")
    tests: dict[str, list[unittest.TestCase]] = {}
    for file in files:
        loading = _Loading()
        with loading:
            module = _module(_module_name(file, folders), root / file)
            _add(tests, _loaded(module), made=hasattr(module, "load_tests"))
        if loading.problem is not None and not isinstance(loading.problem, unittest.SkipTest):
            unreadable.append(file)
            send("unreadable", id=file, message=launching.shortened(_text_of(loading.problem)))
    wanted = tests.keys() if select is None else frozenset(select)
    chosen = [test for name, same in tests.items() if name in wanted for test in same]
    counts = Counter(test.id() for test in chosen)
    twice = sorted(name for name, count in counts.items() if count > 1)
    send("collected", selected=len(chosen), twice=twice)
    return chosen


def _add(
    tests: dict[str, list[unittest.TestCase]], found: Iterable[unittest.TestCase], *, made: bool
) -> None:
    """Add the tests of one file; `made` says that the file's own ``load_tests`` made them.

    A class that several files import is run once, with the first of them.
    """
    fresh: dict[str, list[unittest.TestCase]] = {}
    for test in found:
        fresh.setdefault(test.id(), []).append(test)
    for name, same in fresh.items():
        if made or name not in tests:
            tests.setdefault(name, []).extend(same)


def _module(name: str, file: Path) -> ModuleType:
    """The module `name`, which must be the one in `file`.

    Raises:
        ImportError: another module of that name came first.
        BaseException: whatever importing it raises.
    """
    module = importlib.import_module(name)
    if Path(str(module.__file__)).resolve() != file.resolve():
        raise ImportError(f"{name} was imported from {module.__file__}, not from {file}")
    return module


def _loaded(module: ModuleType) -> list[unittest.TestCase]:
    """Every test of `module`.

    Raises:
        ImportError: its ``load_tests`` failed.
    """
    loader = unittest.TestLoader()
    suite = loader.loadTestsFromModule(module)
    if loader.errors:
        raise ImportError("\n".join(map(str, loader.errors)))
    return list(_flat(suite))


def _flat(tests: Iterable[Any]) -> Iterator[unittest.TestCase]:
    for test in tests:
        if isinstance(test, unittest.TestCase):
            yield test
        else:
            yield from _flat(test)


def _module_name(file: str, folders: Sequence[str]) -> str:
    """The name by which `file` is imported: from the first folder of the import path that holds it."""
    path = Path(file)
    homes = [Path(folder) for folder in folders]
    home = next((home for home in homes if home == Path() or home in path.parents), None)
    if home is None:
        raise NotThere(f"{file} is in no folder of the import path")
    parts = path.relative_to(home).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _file_of(name: str, root: Path, folders: Sequence[str]) -> str:
    """The test file, relative to `root`, that holds the test called `name`: the longest that fits."""
    parts = name.split(".")
    for length in range(len(parts) - 1, 0, -1):
        for folder in folders:
            stem = Path(folder, *parts[:length])
            for file in (stem.with_name(f"{stem.name}.py"), stem / "__init__.py"):
                if (root / file).is_file():
                    return str(file)
    raise NotThere(f"no file of the checkout holds the test {name}")


def _text_of(problem: BaseException) -> str:
    """The problem as Python tells it, without the steps of this file and of the import system."""
    own = (__file__, str(importlib.__file__), "<frozen importlib._bootstrap")
    trace = problem.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith(own):
        trace = trace.tb_next
    return "".join(traceback.format_exception(type(problem), problem, trace))


def _run_in_django(
    settings: str, collect: Callable[[], list[unittest.TestCase]], result: unittest_result.Recorder
) -> None:
    """Run inside Django's own frame: its test environment, its databases, its order; one process."""
    os.environ["DJANGO_SETTINGS_MODULE"] = settings
    importlib.import_module("django").setup()
    runners = importlib.import_module("django.test.runner")

    def build_suite(_runner: object, *_labels: object, **_options: object) -> unittest.TestSuite:
        return unittest.TestSuite(runners.reorder_tests(collect(), runners.DiscoverRunner.reorder_by))

    def run_suite(_runner: object, suite: unittest.TestSuite, **_options: object) -> unittest.TestResult:
        return suite.run(result)

    ours = {"build_suite": build_suite, "run_suite": run_suite}
    runner = type("Runner", (runners.DiscoverRunner,), ours)(verbosity=0, interactive=False, parallel=1)
    runner.run_tests([])


if __name__ == "__main__":
    main()
