"""Runs pytest on a checkout and reports what happened, through a descriptor that tested code is not told.

This one file is shown to the sandbox outside of the tree and started by path, with the environment's own
interpreter. It needs the standard library and pytest alone, and runs on Python 3.8 and newer.

Order matters. The configuration with the key comes over standard input, which is read to its end before
anything else is. pytest and what it loads by itself are imported while the checkout is not yet on the import
path, so that no file of the checkout can stand in for the runner. Then the checkout goes to the front.

Every record is numbered and authenticated with a key that changes after each record by a one-way step. The
key lives in the frames of this file alone: not in the environment, on a command line, on disk or in a module.
So text that tested code prints, files that it writes and bytes that it sends to guessed descriptors are no
evidence, and what was reported before tested code went astray cannot be rewritten afterwards.

What remains possible: tested code shares this process. Code that walks the interpreter's frames and closures,
or replaces functions of pytest in place, can make the runner report what it likes. No runner inside one
process can prevent that; a patch that does so is plain to see in the patch.
"""

from __future__ import annotations

import hashlib
import hmac
import importlib
import json
import os
import platform
import struct
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

Send = Callable[..., None]
_MESSAGE_CHARACTERS = 20_000
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
    descriptor = int(sys.argv[1])
    os.write(descriptor, b"R")
    config = json.loads(sys.stdin.buffer.read())
    os.set_inheritable(descriptor, False)
    _close_standard_input()
    here = Path(__file__).resolve().parent
    sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != here]
    send = _channel(descriptor, bytes.fromhex(config.pop("key")))
    pytest = _import_runner()
    send("hello", python=platform.python_version(), pytest=pytest.__version__)
    root = Path.cwd()
    folders = [str(root / folder) for folder in config["pythonpath"]]
    sys.path[:0] = folders
    os.environ["PYTHONPATH"] = os.pathsep.join(folders)  # for interpreters that tests start
    sys.argv[1:] = []
    plugin, phases = _recorder(send, config["select"])
    code = int(pytest.main(_arguments(config, str(root)), plugins=[plugin]))
    send("final", exit=code, phases=phases(), leftovers=_leftovers())
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # hooks that tested code left for the exit have no say in the status


def _close_standard_input() -> None:
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)


def _channel(descriptor: int, first_key: bytes) -> Send:
    """A function that sends one record: length, authentication code, JSON."""
    key = first_key
    number = 0
    owner = os.getpid()

    def send(kind: str, **fields: object) -> None:
        nonlocal key, number
        if os.getpid() != owner:
            return  # a fork of this process has no say
        payload = json.dumps({"n": number, "kind": kind, **fields}).encode("ascii")
        frame = struct.pack(">I", len(payload)) + hmac.new(key, payload, hashlib.sha256).digest() + payload
        key = hashlib.sha256(b"next" + key).digest()
        number += 1
        while frame:
            frame = frame[os.write(descriptor, frame) :]

    return send


def _import_runner() -> ModuleType:
    pytest = importlib.import_module("pytest")
    if sys.prefix == sys.base_prefix:
        raise SystemExit("the interpreter is not that of a virtual environment")
    if Path(sys.prefix).resolve() not in Path(str(pytest.__file__)).resolve().parents:
        raise SystemExit(f"pytest came from outside of the environment: {pytest.__file__}")
    for name in getattr(importlib.import_module("_pytest.config"), "default_plugins", ()):
        importlib.import_module(f"_pytest.{name}")
    for name in (*_LAZY, *_LAZY_STANDARD):
        try:
            importlib.import_module(name)
        except ImportError:
            continue  # not every version of the runner and of Python has it
    return pytest


def _arguments(config: Mapping[str, Sequence[str]], root: str) -> list[str]:
    fixed = ["--rootdir", root, "--confcutdir", root, "--color=no", "--tb=short", "--maxfail=0"]
    fixed += ["--continue-on-collection-errors", "-p", "no:cacheprovider"]
    for plugin in config["plugins"]:
        fixed += ["-p", plugin]
    return [*fixed, "--", *config["files"]]


def _recorder(send: Send, select: Sequence[str] | None) -> tuple[object, Callable[[], int]]:
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
    """The failure as pytest tells it; head and tail when it is very long."""
    text = str(report.longrepr[2]) if isinstance(report.longrepr, tuple) else report.longreprtext
    if len(text) <= _MESSAGE_CHARACTERS:
        return text
    half = _MESSAGE_CHARACTERS // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters left out ...]\n{text[-half:]}"


def _leftovers() -> int | None:
    """Other processes in this sandbox, where the process table is the sandbox's own."""
    table = Path("/proc")
    try:
        if (table / "1" / "comm").read_text(encoding="ascii").strip() != "bwrap":
            return None
        others = [entry for entry in table.iterdir() if entry.name.isdecimal()]
    except OSError:
        return None
    return sum(entry.name not in {"1", str(os.getpid())} and _alive(entry) for entry in others)


def _alive(process: Path) -> bool:
    """Whether a process has neither ended nor waits for its parent to take note of its end."""
    try:
        state = (process / "stat").read_bytes().rpartition(b")")[2].split()[0]
    except OSError:
        return False
    return state not in {b"Z", b"X"}


if __name__ == "__main__":
    main()
