"""What the launchers of Python's test runners share: how they start, what they report through, how they end.

This file is shown to the sandbox beside the launcher that imports it. It needs the standard library alone and
runs on Python 3.8 and newer.

Order matters. The configuration with the key comes over standard input, which is read to its end before
anything else is. The runner and what it loads by itself are imported while the checkout is not yet on the
import path, so that no file of the checkout can stand in for the runner. Then the checkout goes to the front.

Every record is numbered and authenticated with a key that changes after each record by a one-way step. The
key lives in the frames of this file alone: not in the environment, on a command line, on disk or in a module.
So text that tested code prints, files that it writes and bytes that it sends to guessed descriptors are no
evidence, and what was reported before tested code went astray cannot be rewritten afterwards.

What remains possible: tested code shares this process. Code that walks the interpreter's frames and closures,
or replaces functions of the runner in place, can make it report what it likes. No runner inside one process
can prevent that; a patch that does so is plain to see in the patch.
"""

from __future__ import annotations

import hashlib
import hmac
import importlib
import json
import os
import struct
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the oldest Python that this file runs on cannot subscript it
    from collections.abc import Callable

    Send = Callable[..., None]

_MESSAGE_CHARACTERS = 20_000


def begin() -> tuple[dict[str, Any], Send]:
    """Say that the launcher runs; its configuration, without the key, and the function that sends a record.

    The report's descriptor is the launcher's only argument.
    """
    descriptor = int(sys.argv[1])
    os.write(descriptor, b"R")
    config: dict[str, Any] = json.loads(sys.stdin.buffer.read())
    os.set_inheritable(descriptor, False)
    _close_standard_input()
    here = Path(__file__).resolve().parent
    sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != here]
    for name in [name for name, module in sys.modules.items() if _beside(module, here)]:
        del sys.modules[name]  # the name is free for a module of the checkout
    return config, _channel(descriptor, bytes.fromhex(config.pop("key")))


def import_runner(name: str, root: str) -> ModuleType:
    """The module `name`, which must lie below `root`.

    Raises:
        SystemExit: the interpreter is not that of an environment, or the module came from elsewhere.
    """
    if sys.prefix == sys.base_prefix:
        raise SystemExit("the interpreter is not that of a virtual environment")
    module = importlib.import_module(name)
    if Path(root).resolve() not in Path(str(module.__file__)).resolve().parents:
        raise SystemExit(f"{name} came from outside of {root}: {module.__file__}")
    return module


def preload(names: Iterable[str]) -> None:
    """Import what the runner would load later, as far as this version of it and of Python has it."""
    for name in names:
        try:
            importlib.import_module(name)
        except ImportError:
            continue


def enter_checkout(pythonpath: Sequence[str]) -> Path:
    """Put the folders of the checkout in front of the import path; the checkout's root."""
    root = Path.cwd()
    folders = [str(root / folder) for folder in pythonpath]
    sys.path[:0] = folders
    os.environ["PYTHONPATH"] = os.pathsep.join(folders)  # for interpreters that tests start
    sys.argv[1:] = []
    return root


def end(send: Send, code: int, phases: int) -> None:
    """Send the final record and leave with `code`; hooks that tested code left for the exit have no say."""
    send("final", exit=code, phases=phases, leftovers=_leftovers())
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def shortened(text: str) -> str:
    """`text`, or its head and tail when it is very long; lone surrogates escaped, for a record is UTF-8."""
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    if len(text) <= _MESSAGE_CHARACTERS:
        return text
    half = _MESSAGE_CHARACTERS // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters left out ...]\n{text[-half:]}"


def _beside(module: ModuleType, here: Path) -> bool:
    file = getattr(module, "__file__", None)
    return module.__name__ != "__main__" and file is not None and Path(file).resolve().parent == here


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
