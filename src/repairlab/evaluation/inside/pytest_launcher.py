"""Runs pytest on a checkout and reports what happened, through a descriptor that tested code is not told.

This file is shown to the sandbox outside of the tree, with `launching` beside it, and started by path with
the environment's own interpreter. It needs the standard library and pytest alone, and runs on Python 3.8 and
newer. What makes its report evidence, and what remains possible, stands in `launching`.
"""

from __future__ import annotations

import importlib
import platform
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

    from repairlab.evaluation.inside import launching
else:
    import launching

_LAZY = (
    "iniconfig",
    "pluggy",
    "packaging.version",
    "packaging.requirements",
    "pygments",
    "exceptiongroup",
    "tomli",
)
_LAZY_STANDARD = ("doctest", "faulthandler", "tempfile", "tomllib", "unittest")


def main() -> None:
    """Entry point: ``pytest_launcher.py REPORT_FD`` in the root of the checkout."""
    config, send = launching.begin()
    pytest = launching.import_runner("pytest", sys.prefix)
    plugins = getattr(importlib.import_module("_pytest.config"), "default_plugins", ())
    launching.preload((*(f"_pytest.{name}" for name in plugins), *_LAZY, *_LAZY_STANDARD))
    send("hello", python=platform.python_version(), pytest=pytest.__version__)
    root = launching.enter_checkout(config["pythonpath"])
    plugin, phases = _recorder(send, config["select"])
    code = int(pytest.main(_arguments(config, str(root)), plugins=[plugin]))
    launching.end(send, code, phases())


def _arguments(config: Mapping[str, Sequence[str]], root: str) -> list[str]:
    fixed = ["--rootdir", root, "--confcutdir", root, "--color=no", "--tb=short", "--maxfail=0"]
    fixed += ["--continue-on-collection-errors", "-p", "no:cacheprovider"]
    for plugin in config["plugins"]:
        fixed += ["-p", plugin]
    return [*fixed, "--", *config["files"]]


def _recorder(send: launching.Send, select: Sequence[str] | None) -> tuple[object, Callable[[], int]]:
    """The plugin that selects tests by exact identifier and sends what they do; and its count of phases."""
    import pytest

    phases = 0

    class Recorder:
        @pytest.hookimpl(hookwrapper=True)
        def pytest_collection_modifyitems(
            self, config: pytest.Config, items: list[pytest.Item]
        ) -> Iterator[None]:
            yield
            if select is not None:
                wanted = frozenset(select)
                others = [item for item in items if item.nodeid not in wanted]
                items[:] = [item for item in items if item.nodeid in wanted]
                if others:
                    config.hook.pytest_deselected(items=others)

        def pytest_collection_finish(self, session: pytest.Session) -> None:
            counts = Counter(item.nodeid for item in session.items)
            twice = sorted(name for name, count in counts.items() if count > 1)
            send("collected", selected=len(session.items), twice=twice)

        def pytest_collectreport(self, report: pytest.CollectReport) -> None:
            if report.failed:
                send("unreadable", id=report.nodeid, message=_text(report))

        def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
            nonlocal phases
            phases += 1
            send(
                "phase",
                id=report.nodeid,
                when=report.when,
                outcome=report.outcome,
                expected=hasattr(report, "wasxfail"),
                part=hasattr(report, "context"),
                message="" if report.passed else _text(report),
            )

    return Recorder(), lambda: phases


def _text(report: pytest.CollectReport | pytest.TestReport) -> str:
    """The failure as pytest tells it."""
    text = str(report.longrepr[2]) if isinstance(report.longrepr, tuple) else report.longreprtext
    return launching.shortened(text)


if __name__ == "__main__":
    main()
