"""`repairlab doctor`: what this machine has and lacks, with a repair for everything that is missing."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from repairlab.cli.alone import no_run_meanwhile
from repairlab.cli.doctor_host import host_findings
from repairlab.cli.freezing import checked
from repairlab.cli.sandboxes import choose_sandbox
from repairlab.cli.settings import Settings, settings_for
from repairlab.cli.small_models import hold_small_models, small_models
from repairlab.cli.tables import print_table
from repairlab.contract.errors import BadInput, RefuseToStart, RepairlabError
from repairlab.contract.study import Inputs, Study, open_study
from repairlab.evaluation.environments import PythonEnvironments
from repairlab.evaluation.sandbox.bubblewrap import Bubblewrap
from repairlab.evaluation.sandbox.container_engine import Engine
from repairlab.manifest.cell import Cell
from repairlab.repositories.sources import UPSTREAM, Sources
from repairlab.runner.workplace import Workplace
from repairlab.store.layout import Layout, prepare_layout

_GIT = (2, 30)
_FREE_BYTES = 2 * 2**30
_REPAIR = "see docs/containers.md"


class Check(NamedTuple):
    """One line of the table."""

    what: str
    good: bool
    found: str
    repair: str = ""
    needed: bool = True
    """Whether a run depends on it; what is not needed is shown with its repair and fails nothing."""


def doctor_command(
    root: Path, experiment: str, sources: str, cache: str, host: str, record: Path | None = None
) -> None:
    """Check the machine, and with an experiment all that its run needs.

    Args:
        root: the study.
        experiment: its name, or empty.
        sources: option of that name.
        cache: option of that name.
        host: option of that name.
        record: a file for a trace of the model host's answers.

    Raises:
        RefuseToStart: a run may not start.
    """
    study = open_study(root)
    settings = settings_for(study, os.environ, sources, cache, host)
    _check_record(record, experiment)
    found = [_told(check) for check in _all(study, experiment, settings, record)]
    rows = [(_mark(check), check.what, check.found) for check in found]
    print_table(f"repairlab doctor {experiment}".rstrip(), ("", "check", "found"), rows)
    for check in found:
        if not check.good and not check.needed:
            print(f"  {check.what}: {check.repair}")
    bad = [check for check in found if check.needed and not check.good]
    if bad:
        raise RefuseToStart(
            f"{len(bad)} of {len(found)} checks failed; a run may not start",
            repair="\n  ".join(f"{check.what}: {check.repair}" for check in bad),
        )
    print("a run may start")


def _all(study: Study, experiment: str, settings: Settings, record: Path | None) -> Iterator[Check]:
    yield from _machine(settings)
    if experiment:
        yield from _experiment(study, experiment, settings, record)
    else:
        yield _any_sandbox(settings)
    yield from _containers()


def _told(check: Check) -> Check:
    """Say on a terminal what was looked at: a model takes minutes, and the table comes last."""
    if sys.stderr.isatty():
        print(f"  {_mark(check)}  {check.what}", file=sys.stderr, flush=True)
    return check


def _check_record(record: Path | None, experiment: str) -> None:
    """Refuse at once what would only show after every model was asked."""
    if record is None:
        return
    if not experiment:
        raise BadInput("--record needs an experiment, whose models are asked")
    if not os.access(record.parent, os.W_OK | os.X_OK):
        raise BadInput(f"--record: {record.parent} is no folder that can be written")


def _mark(check: Check) -> str:
    return "ok" if check.good else "FAILED" if check.needed else "note"


def _containers() -> Iterator[Check]:
    """Container engines: another way to run tests, where bubblewrap cannot be had."""
    yield _attempt("podman (optional)", _REPAIR, lambda: _engine("podman"))._replace(needed=False)
    yield _attempt("docker (optional)", _REPAIR, lambda: _engine("docker"))._replace(needed=False)


def _engine(kind: Literal["podman", "docker"]) -> str:
    path = os.environ.get("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
    variables = {
        name: os.environ[name] for name in ("HOME", "XDG_RUNTIME_DIR", "DOCKER_HOST") if name in os.environ
    }
    engine = Engine.find(kind, path, variables)
    if shutil.which("mmdebstrap", path=path) is None:
        raise RefuseToStart(
            "mmdebstrap is missing, which makes the image", repair="apt-get install mmdebstrap"
        )
    return engine.ask("version", "--format", "{{.Server.Version}}" if kind == "docker" else "{{.Version}}")


def _machine(settings: Settings) -> Iterator[Check]:
    version = ".".join(map(str, sys.version_info[:3]))
    yield Check("Python 3.11 or newer", sys.version_info >= (3, 11), version, "install a newer Python")
    yield _git()
    uv = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    yield Check("uv", uv is not None, uv or "not found", "it comes with repairlab: reinstall the package")
    yield _attempt(
        "cache can be written",
        "make the folder writable, or name another with --cache",
        lambda: _cache(settings),
    )


def _git() -> Check:
    what, repair = "git 2.30 or newer", "install git"
    try:
        text = subprocess.run(["git", "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        return Check(what, good=False, found=str(error), repair=repair)
    numbers = tuple(int(n) for n in re.findall(r"\d+", text)[:2])
    return Check(what, numbers >= _GIT, text.strip(), repair)


def _cache(settings: Settings) -> str:
    settings.cache.mkdir(parents=True, exist_ok=True)
    probe = settings.cache / f".probe-{os.getpid()}"
    probe.write_bytes(b"")
    probe.unlink()
    free = shutil.disk_usage(settings.cache).free
    if free < _FREE_BYTES:
        raise RefuseToStart(f"{settings.cache}: only {free // 2**20} MiB are free")
    return f"{settings.cache}, {free // 2**30} GiB free"


def _any_sandbox(settings: Settings) -> Check:
    repair = "without it, only the embedded study runs, unsandboxed"
    return _attempt("sandbox", repair, lambda: Bubblewrap.open(settings.cache / "sandboxes").materialisation)


def _experiment(study: Study, experiment: str, settings: Settings, record: Path | None) -> Iterator[Check]:
    try:
        inputs, freeze = checked(study, experiment)
    except RepairlabError as error:
        yield Check("frozen, and nothing differs", False, error.message, error.repair or "see the message")
        return
    found = f"{freeze.record.cells} cells, freeze record {freeze.head[:12]}"
    yield Check("frozen, and nothing differs", True, found)
    layout = Layout(study.raw / experiment, study.incomplete / experiment)
    yield _attempt("store can be written and sealed", "see the message", lambda: _store(layout))
    workplace = Workplace(settings.cache, Sources(settings.sources or UPSTREAM))
    yield _attempt(
        "sandbox",
        "see the message",
        lambda: choose_sandbox("bubblewrap", inputs, workplace, os.environ).name,
    )
    yield _attempt(
        "interpreters of the tasks",
        "install a Python that satisfies it",
        lambda: _interpreters(inputs, workplace),
    )
    yield _attempt(
        "sources of the tasks", "set sources to a place that has them", lambda: _sources(inputs, workplace)
    )
    if any(small_models(inputs)):
        yield _attempt("small models of the extra", "see docs/llama.md", lambda: hold_small_models(inputs))
    if inputs.experiment.host == "lmstudio":
        yield from _host(study, inputs, freeze.manifest.cells, settings, record)
    elif record is not None:
        yield Check("trace", False, "this experiment starts a host of its own", "record one on lmstudio")


def _store(layout: Layout) -> str:
    prepare_layout(layout)
    return str(layout.raw)


def _interpreters(inputs: Inputs, workplace: Workplace) -> str:
    uv = (
        shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
        or "uv"
    )
    environments = PythonEnvironments.discover(workplace.environments, Path(uv), {}, (Path(sys.executable),))
    versions = {environments.key_of(task.environment)[1].version_text for task in inputs.tasks.values()}
    return "Python " + ", ".join(sorted(versions))


def _sources(inputs: Inputs, workplace: Workplace) -> str:
    places = set()
    for task in inputs.tasks.values():
        if task.repository.startswith("embedded:"):
            places.add(task.repository)
            continue
        place = workplace.sources.locate(task.repository)
        if place.startswith("/") and not Path(place).exists():
            raise RefuseToStart(f"{task.repository}: nothing at {place}")
        places.add(place)
    return ", ".join(sorted(places))


def _host(
    study: Study, inputs: Inputs, cells: Sequence[Cell], settings: Settings, record: Path | None
) -> Iterator[Check]:
    """Each check as it is made; what ends the looking is the last one."""
    try:
        with no_run_meanwhile(study):
            for one in host_findings(study, inputs, cells, settings, os.environ, record):
                yield Check(one.what, one.good, one.found, one.repair, one.needed)
    except RepairlabError as error:
        repair = error.repair or "start its server, or name it with --host"
        yield Check("model host", good=False, found=error.message, repair=repair)


def _attempt(what: str, repair: str, look: Callable[[], str]) -> Check:
    try:
        return Check(what, good=True, found=look())
    except RepairlabError as error:
        return Check(what, good=False, found=error.message, repair=error.repair or repair)
    except OSError as error:
        return Check(what, good=False, found=str(error), repair=repair)
