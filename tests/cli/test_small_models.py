"""Experiments that run a small model of the extra say at once whether it is here."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from repairlab.hosts.llama.package import ENGINE_PACKAGE, WEIGHTS_PACKAGE


def installed() -> bool:
    """Whether this environment has the extra; `make test` needs it in neither case."""
    try:
        return bool(version(ENGINE_PACKAGE) and version(WEIGHTS_PACKAGE))
    except PackageNotFoundError:
        return False


def test_doctor_says_whether_the_small_model_is_installed(
    make_place: Any, study_copy: Any, tmp_path: Path
) -> None:
    place = make_place(study_copy(tmp_path / "study"), tmp_path / "cache")
    place.run("freeze", "demo-llm")
    done = place.run("doctor", "demo-llm", expect=0 if installed() else 2)
    (line,) = (line for line in done.stdout.splitlines() if "small models of the extra" in line)
    if installed():
        assert line.split()[0] == "ok"
        assert WEIGHTS_PACKAGE in line
    else:
        assert line.split()[0] == "FAILED"
        assert "is not installed" in done.stdout
        assert "make demo-llm" in done.stderr
