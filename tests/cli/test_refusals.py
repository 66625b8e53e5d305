"""Refused starts and bad usage: the exit status and a message that helps."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest

from repairlab.hosts.emulator.spawn import EmulatorProcess

CHAT = "POST /v1/chat/completions"
CUT = {"kind": "cut-stream", "after_frames": 2}


def test_an_unknown_experiment_is_named(fresh: Any) -> None:
    done = fresh.run("run", "nothing", expect=2)
    assert "has no nothing.toml" in done.stderr
    assert "experiments here: " in done.stderr
    assert "embedded, " in done.stderr


def test_a_folder_that_is_no_study_says_what_it_lacks(fresh: Any, tmp_path: Path, make_place: Any) -> None:
    done = make_place(tmp_path, fresh.cache).run("status", "embedded", expect=2)
    assert "is no study directory: it has no contracts, experiments, preregistration/" in done.stderr


def test_a_run_without_a_freeze_is_refused(fresh: Any) -> None:
    (fresh.study / "preregistration" / "embedded.freeze.json").unlink()
    assert "run: repairlab freeze embedded" in fresh.run("run", "embedded", expect=2).stderr


def test_a_run_after_a_changed_control_is_refused_and_names_the_file(fresh: Any) -> None:
    path = fresh.study / "contracts" / "shared.toml"
    path.write_text(path.read_text().replace("tool_calls = 12", "tool_calls = 13"))
    done = fresh.run("run", "embedded", expect=2)
    assert "contracts/shared.toml: changed since the freeze" in done.stderr
    assert not list(fresh.study.glob("raw/embedded/*"))
    assert "differs now" in fresh.run("freeze", "embedded", expect=2).stderr
    fresh.run("freeze", "embedded", "--replace")
    fresh.run("freeze", "embedded")


def test_an_edited_manifest_is_refused(fresh: Any) -> None:
    path = fresh.study / "preregistration" / "embedded.manifest.json"
    path.write_text(path.read_text().replace('"seed": 0', '"seed": 7', 1))
    assert "is not the frozen" in fresh.run("verify", "embedded", expect=2).stderr


def test_a_task_whose_digest_differs_from_the_clone_is_refused(fresh: Any) -> None:
    path = fresh.study / "preregistration" / "tasks" / "ledgerline-text-round-trip.toml"
    lines = path.read_text().split("\n")
    edited = ['gold_patch = "' + "0" * 64 + '"' if line.startswith("gold_patch") else line for line in lines]
    path.write_text("\n".join(edited))
    fresh.run("freeze", "embedded", "--replace")
    done = fresh.run("run", "embedded", "--plain", expect=2)
    assert "gold_patch: derived digest" in done.stderr


def test_a_task_that_its_own_fix_does_not_resolve_is_refused(fresh: Any) -> None:
    path = fresh.study / "preregistration" / "tasks" / "ledgerline-text-round-trip.toml"
    text = path.read_text()
    path.write_text(
        text.replace(
            "pass_to_pass = [", 'pass_to_pass = [\n  "tests/test_bank.py::test_that_is_not_there",', 1
        )
    )
    fresh.run("freeze", "embedded", "--replace")
    done = fresh.run("run", "embedded", "--plain", expect=2)
    assert "fails its gold check" in done.stderr
    assert "test_that_is_not_there" in done.stderr
    assert not list(fresh.study.glob("raw/embedded/*"))


def test_an_unknown_sandbox_lists_the_known_ones(fresh: Any) -> None:
    done = fresh.run("run", "embedded", "--sandbox", "jail", expect=2)
    assert "there are bubblewrap, copy, podman, docker, none" in done.stderr


def test_no_sandbox_is_refused_where_the_experiment_does_not_allow_it(fresh: Any) -> None:
    path = fresh.study / "experiments" / "embedded.toml"
    path.write_text(path.read_text().replace("allow_unsandboxed = true", "allow_unsandboxed = false"))
    fresh.run("freeze", "embedded", "--replace")
    assert "does not allow unsandboxed" in fresh.run("run", "embedded", "--sandbox", "none", expect=2).stderr


def test_bad_usage_has_status_2(fresh: Any) -> None:
    fresh.run("run", expect=2)
    fresh.run("run", "embedded", "--limit", "0", expect=2)


@pytest.fixture
def at_a_host(fresh: Any) -> Any:
    """The embedded experiment on a host that is named by URL, as a user's LM Studio is."""
    path = fresh.study / "experiments" / "embedded.toml"
    path.write_text(path.read_text().replace('host = "emulator"', 'host = "lmstudio"'))
    fresh.run("freeze", "embedded", "--replace")
    return fresh


def test_a_host_that_does_not_answer_seals_nothing(at_a_host: Any) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    done = at_a_host.run("run", "embedded", "--plain", "--host", f"http://127.0.0.1:{port}", expect=1)
    assert "/lmstudio-greeting" in done.stderr
    assert not at_a_host.cells()


def test_a_server_that_is_no_lm_studio_is_refused(at_a_host: Any) -> None:
    import http.server
    import threading

    class Silent(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Silent) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        at_a_host.run("run", "embedded", "--plain", "--host", url, expect=2)
        server.shutdown()


def test_a_host_that_keeps_failing_blocks_cells_and_scores_none(at_a_host: Any, tmp_path: Path) -> None:
    scenario = tmp_path / "faults.json"
    scenario.write_text(json.dumps([{"route": CHAT, "from": 1, "times": 10000, "do": CUT}]))
    with EmulatorProcess(faults=scenario) as emulator:
        done = at_a_host.run("run", "embedded", "--plain", "--host", emulator.url, "--limit", "2", expect=3)
    assert "2 cells are blocked by infrastructure failures" in done.stderr
    assert not at_a_host.cells()
    status = json.loads(at_a_host.run("status", "embedded", "--json").stdout)
    assert (status["blocked"], status["incomplete_attempts"], status["sealed"]) == (2, 6, 0)
    failures = list(at_a_host.study.glob("incomplete/embedded/*/attempt-*/failure.json"))
    assert {json.loads(path.read_text())["kind"] for path in failures} == {"host-connection-lost"}


def test_a_blocked_cell_is_sealed_once_the_host_is_repaired(at_a_host: Any, tmp_path: Path) -> None:
    scenario = tmp_path / "faults.json"
    scenario.write_text(json.dumps([{"route": CHAT, "from": 1, "times": 3, "do": CUT}]))
    with EmulatorProcess(faults=scenario) as emulator:
        at_a_host.run("run", "embedded", "--plain", "--host", emulator.url, "--limit", "1", expect=3)
        at_a_host.run("run", "embedded", "--plain", "--host", emulator.url, "--limit", "1", "--retry-blocked")
    (cell,) = at_a_host.cells()
    assert json.loads((cell / "timing.json").read_text())["attempt"] == 4


def test_a_run_in_other_test_environments_than_were_frozen_is_refused(fresh: Any) -> None:
    assert (
        "those of this machine are not the frozen"
        in fresh.run("freeze", "embedded", "--environments", expect=2).stderr
    )
    fresh.run("freeze", "embedded", "--environments", "--replace")
    path = fresh.study / "preregistration" / "embedded.freeze.json"
    record = json.loads(path.read_text())
    assert {len(key) for key in record["environments"].values()} == {64}
    task = min(record["environments"])
    path.write_text(json.dumps({**record, "environments": {**record["environments"], task: "0" * 64}}))
    refused = fresh.run("run", "embedded", "--plain", expect=2).stderr
    assert (
        f"{task}: its test environment is {record['environments'][task][:12]} here, and 000000000000"
        in refused
    )
    assert not list(fresh.study.glob("raw/embedded/*"))
