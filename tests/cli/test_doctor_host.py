"""`repairlab doctor` at a model host: one table, exit status 0 only if a run may start."""

from __future__ import annotations

import json
import re
import shutil
import socket
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from repairlab.cli.doctor_host import openings
from repairlab.contract.study import load_inputs, open_study
from repairlab.hosts.conformance import emulated_models, read_trace
from repairlab.hosts.emulator.spawn import EmulatorProcess
from repairlab.store.layout import Layout, prepare_layout
from repairlab.store.lock import writer_lock

ROOT = Path(__file__).resolve().parents[2]
CHAT = "POST /v1/chat/completions"
EMBEDDINGS = "POST /v1/embeddings"
TASKS = ("almanak-rows-without-a-date", "ledgerline-text-round-trip")
TOKEN = "lm-1234567890-secret"


def edit(path: Path, *changes: tuple[str, str]) -> None:
    text = path.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)


@pytest.fixture
def place(tmp_path: Path, make_place: Any) -> Any:
    """The embedded experiment on a host that is named by URL, with two tasks, frozen."""
    study = tmp_path / "study"
    for name in ("contracts", "experiments", "preregistration"):
        shutil.copytree(
            ROOT / name, study / name, ignore=shutil.ignore_patterns("*.freeze.json", "*.manifest.json")
        )
    path = study / "experiments" / "embedded.toml"
    edit(path, ('host = "emulator"', 'host = "lmstudio"'))
    path.write_text(re.sub(r"tasks = \[.*?\]", f"tasks = {list(TASKS)}", path.read_text(), flags=re.DOTALL))
    place = make_place(study, tmp_path / "cache")
    place.run("freeze", "embedded")
    return place


@pytest.fixture
def at(tmp_path: Path) -> Iterator[Callable[..., str]]:
    """Starts an emulator with the calibration models and these faults, and gives its URL."""
    running: list[EmulatorProcess] = []

    def start(*faults: dict[str, Any], **files: Path) -> str:
        scenario = tmp_path / f"faults-{len(running)}.json"
        scenario.write_text(json.dumps(faults))
        running.append(EmulatorProcess(faults=scenario, **files))
        running[-1].start()
        return running[-1].url

    yield start
    for process in running:
        process.stop()


def rows(stdout: str) -> dict[str, tuple[str, str]]:
    """Mark and finding of each check by its name."""
    lines = [re.split(r"\s{2,}", line.strip(), maxsplit=2) for line in stdout.split("\n")]
    return {line[1]: (line[0], line[2]) for line in lines if len(line) == 3}


def test_a_good_host_may_run_and_its_trace_repeats(
    place: Any, at: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LM_API_TOKEN", TOKEN)
    trace, again = tmp_path / "trace.jsonl", tmp_path / "again.jsonl"
    url = at()
    done = place.run("doctor", "embedded", "--host", url, "--record", str(trace))
    assert done.stdout.endswith("a run may start\n")
    found = rows(done.stdout)
    for name in ("FLOOR", "NAVIGATOR"):
        for what in (
            "loaded and verified as pinned",
            "tools of H000",
            "tools of H018",
            "one seed, one reply",
        ):
            assert found[f"{name}: {what}"][0] == "ok"
    assert "for 8 cells (4 of FLOOR, 4 of NAVIGATOR)" in found["campaign, at most (a bound)"][1]
    with urllib.request.urlopen(f"{url}/api/v1/models", timeout=10) as reply:
        assert not [one for one in json.load(reply)["models"] if one["loaded_instances"]]
    exchanges = read_trace(trace)
    text = trace.read_text()
    assert TOKEN not in text
    assert socket.gethostname() not in text
    statements = [load_inputs(open_study(place.study), "embedded").tasks[task].statement for task in TASKS]
    assert not [one for one in statements if json.dumps(one)[1:-1] in text]

    models = tmp_path / "models.json"
    models.write_text(json.dumps(emulated_models(exchanges)))
    url = at(models_config=models, recordings=trace)
    place.run("doctor", "embedded", "--host", url, "--record", str(again))
    assert told(again) == told(trace)


def told(trace: Path) -> list[Any]:
    """Every chat request and what came back, in order."""
    lines = [json.loads(line) for line in trace.read_text().split("\n") if line]
    found = [line for line in lines if line["type"] in ("request", "reply")]
    assert found
    for line in found:
        line["body"].pop("system_fingerprint", None)
    return found


def test_a_host_whose_replies_differ_may_not_run(place: Any, at: Callable[..., str]) -> None:
    unstable = {"route": CHAT, "do": {"kind": "reshape", "shape": "unstable"}}
    done = place.run("doctor", "embedded", "--host", at(unstable), expect=2)
    for name in ("FLOOR", "NAVIGATOR"):
        assert rows(done.stdout)[f"{name}: one seed, one reply"][0] == "FAILED"
    assert "a run may not start" in done.stderr
    assert "FLOOR: one seed, one reply" in done.stderr


def test_a_pinned_fact_that_differs_is_named_and_the_other_model_is_still_examined(
    place: Any, at: Callable[..., str]
) -> None:
    path = place.study / "contracts" / "models.toml"
    edit(path, ('"repairlab/calibration-floor" }', '"repairlab/calibration-floor", format = "gguf" }'))
    place.run("freeze", "embedded", "--replace")
    done = place.run("doctor", "embedded", "--host", at(), expect=2)
    found = rows(done.stdout)
    mark, said = found["FLOOR: loaded and verified as pinned"]
    assert (mark, "format is None where 'gguf' is required" in said) == ("FAILED", True)
    assert found["NAVIGATOR: one seed, one reply"][0] == "ok"
    assert found["campaign, at most (a bound)"][0] == "note"


def test_a_host_that_does_not_answer_is_one_failed_check(place: Any) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    done = place.run("doctor", "embedded", "--host", f"http://127.0.0.1:{port}", expect=2)
    assert rows(done.stdout)["model host"][0] == "FAILED"
    assert rows(done.stdout)["git 2.30 or newer"][0] == "ok"


def test_nothing_is_unloaded_while_a_run_is_under_way(place: Any, at: Callable[..., str]) -> None:
    layout = Layout(place.study / "raw" / "embedded", place.study / "incomplete" / "embedded")
    prepare_layout(layout)
    with writer_lock(layout, "now"):
        done = place.run("doctor", "embedded", "--host", at(), expect=2)
    found = rows(done.stdout)
    assert found["model host"][0] == "FAILED"
    assert "another runner works on embedded" in found["model host"][1]
    assert not [what for what in found if what.startswith("FLOOR")]


def test_recording_needs_an_experiment_and_a_folder_before_anything_is_asked(
    place: Any, tmp_path: Path
) -> None:
    assert "--record needs an experiment" in place.run("doctor", "--record", "x", expect=2).stderr
    missing = tmp_path / "nowhere" / "trace.jsonl"
    done = place.run("doctor", "embedded", "--record", str(missing), expect=2)
    assert "no folder that can be written" in done.stderr
    assert not done.stdout


@pytest.fixture
def dense(place: Any) -> Any:
    """The same with a treatment that asks for vectors, and the embedder that the experiment names."""
    edit(
        place.study / "experiments" / "embedded.toml",
        ('treatments = ["H000", "H018"]', 'treatments = ["H003"]\nembedder = "HASHING"'),
    )
    place.run("freeze", "embedded", "--replace")
    return place


def test_an_experiment_with_dense_retrieval_has_its_embedder_examined(
    dense: Any, at: Callable[..., str]
) -> None:
    bad = {"kind": "bad-vectors", "fault": "truncated", "tokens": 512}
    url = at({"route": EMBEDDINGS, "from": 2, "do": bad})
    refused = dense.run("doctor", "embedded", "--host", url, expect=2)
    found = rows(refused.stdout)
    assert found["HASHING: loaded and verified as pinned"][0] == "ok"
    assert found["HASHING: vectors"][0] == "FAILED"
    assert found["FLOOR: tools of H003"][0] == "ok"
    assert "loads 0." in found["campaign, at most (a bound)"][1]


def test_openings_hold_nothing_of_a_task_and_are_shared_by_equal_treatments(place: Any) -> None:
    study = open_study(place.study)
    inputs = load_inputs(study, "embedded")
    inputs.treatments["H001"] = inputs.treatments["H000"]
    found = openings(inputs)
    assert [one.name for one in found] == ["H000, H001", "H018"]
    text = json.dumps([[one.messages, one.tools] for one in found])
    for task in inputs.tasks.values():
        assert json.dumps(task.statement)[1:-1] not in text
        assert not [path for path in task.production_files if path in text]


def test_a_host_below_the_frozen_level_of_verification_is_refused(place: Any, at: Callable[..., str]) -> None:
    path = place.study / "experiments" / "embedded.toml"
    edit(path, ("[order]", 'host_level = "rest+lms"\n[order]'))
    place.run("freeze", "embedded", "--replace")
    done = place.run("doctor", "embedded", "--host", at(), expect=2)
    assert "a verification that cannot be made from here" in done.stdout + done.stderr
