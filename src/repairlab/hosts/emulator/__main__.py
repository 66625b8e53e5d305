"""``python -m repairlab.hosts.emulator``: serve until the parent is gone or SIGTERM comes."""

from __future__ import annotations

import argparse
import json
import os
import select
import signal
import stat
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

from repairlab.contract.errors import RefuseToStart
from repairlab.hosts.emulator.app import Application
from repairlab.hosts.emulator.catalog import HASHING, RECORDED, HostConfig, builtin, load_config
from repairlab.hosts.emulator.chatting import LanguageModels
from repairlab.hosts.emulator.embedding import TextModels
from repairlab.hosts.emulator.engines import build_engines
from repairlab.hosts.emulator.engines.knowledge import Knowledge, load_knowledge
from repairlab.hosts.emulator.engines.recorded import load_recordings
from repairlab.hosts.emulator.faults import Scenario, parse_scenario
from repairlab.hosts.emulator.fields import read_json
from repairlab.hosts.emulator.server import Host

BUILTIN = "builtin"
_LOOK_SECONDS = 1.0


def main() -> int:
    """Parse the arguments, print one JSON line when ready, serve. Exit status 2 for a bad input."""
    options = _options()
    try:
        host = Host(options.port, _application(options))
    except RefuseToStart as error:
        sys.stderr.write(f"{error}\n")
        return 2
    except OSError as error:
        sys.stderr.write(f"port {options.port} cannot be used: {error.strerror}\n")
        return 2
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    if stat.S_ISFIFO(os.fstat(0).st_mode):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is the parent's to handle
        threading.Thread(target=_leave_with_parent, args=(os.getppid(),), daemon=True).start()
    ready = {"url": host.url, "pid": os.getpid(), "channel": host.channel_url}
    sys.stdout.write(json.dumps(ready) + "\n")
    sys.stdout.flush()
    host.serve_forever()
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m repairlab.hosts.emulator", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--models-config", default=BUILTIN, help="a JSON file, or 'builtin'")
    parser.add_argument("--knowledge", type=Path, help="JSON: what the calibration models know of tasks")
    parser.add_argument("--faults", type=Path, help="JSON: a list of faults")
    parser.add_argument("--recordings", type=Path, help="a transcript that models of that engine repeat")
    parser.add_argument("--llama", action="store_true", help="offer the small language model of the extra")
    parser.add_argument("--minilm", action="store_true", help="offer the small embedder of the extra")
    parser.add_argument("--control", action="store_true", help="let a test change faults while it runs")
    return parser.parse_args()


def _application(options: argparse.Namespace) -> Application:
    knowledge = load_knowledge(options.knowledge) if options.knowledge else Knowledge({})
    engines = build_engines(knowledge)
    named: str = options.models_config
    known = frozenset(engines) | {HASHING, RECORDED}
    config = builtin() if named == BUILTIN else load_config(Path(named), known)
    faults: Path | None = options.faults
    scenario = parse_scenario(read_json(faults), str(faults)) if faults else Scenario()
    recordings: Path | None = options.recordings
    recorded = load_recordings(recordings) if recordings else None
    config, language_models = _with_llama(config) if options.llama else (config, None)
    config, text_models = _with_minilm(config) if options.minilm else (config, None)
    return Application(
        config,
        engines,
        scenario,
        time.monotonic,
        recorded=recorded,
        language_models=language_models,
        text_models=text_models,
        control=options.control,
    )


def _with_llama(config: HostConfig) -> tuple[HostConfig, LanguageModels]:
    """The host with the small language model of the extra; its client is imported for no other host."""
    from repairlab.hosts.emulator.engines.llama import LlamaEngines, model_spec
    from repairlab.hosts.llama.package import find_package

    package = find_package()
    return replace(config, models=(*config.models, model_spec(package))), LlamaEngines(package)


def _with_minilm(config: HostConfig) -> tuple[HostConfig, TextModels]:
    """The host with the small embedder of the extra; its runtime is imported when it is loaded."""
    from repairlab.hosts.emulator.engines.minilm import MiniLmEngine, model_spec
    from repairlab.hosts.minilm.package import find_minilm

    package = find_minilm()
    return replace(config, models=(*config.models, model_spec(package))), MiniLmEngine(package)


def _leave_with_parent(parent: int) -> None:
    """End the process when standard input ends or the parent is another: no orphan outlives its runner."""
    while True:
        readable, _, _ = select.select([0], [], [], _LOOK_SECONDS)
        if (readable and not os.read(0, 4096)) or os.getppid() != parent:
            os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
