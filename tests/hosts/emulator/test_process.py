from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from repairlab.contract.errors import BadInput, InfrastructureFailure
from repairlab.hosts.emulator.spawn import EmulatorProcess

RUNNER = """
import sys, time
from repairlab.hosts.emulator.spawn import EmulatorProcess
with EmulatorProcess() as host:
    print(host.url, host.pid, flush=True)
    time.sleep(20)
"""


def answers(url: str) -> bool:
    where = urlsplit(url)
    try:
        socket.create_connection((where.hostname, where.port), timeout=1).close()
    except OSError:
        return False
    return True


def goes_silent(url: str, seconds: float = 5.0) -> bool:
    limit = time.monotonic() + seconds
    while answers(url):
        if time.monotonic() > limit:
            return False
        time.sleep(0.02)
    return True


def test_it_serves_the_calibration_models_and_ends_with_the_block(raw_ask: Any):
    with EmulatorProcess() as process:
        models = raw_ask(process.url, "GET", "/api/v1/models").json["models"]
        assert process.pid > 0
    assert [model["key"] for model in models] == [
        "repairlab/calibration-floor",
        "repairlab/calibration-navigator",
        "repairlab/calibration-statement",
        "repairlab/hashing-embedder",
    ]
    assert all("no language model" in model["display_name"] for model in models)
    assert models[-1]["type"] == "embedding"
    for model in models[:-1]:
        assert "no language model" in model["description"]
        assert (model["format"], model["quantization"]) == (None, None)
        assert (model["publisher"], model["architecture"]) == ("repairlab", "calibration")
        assert model["max_context_length"] == 131_072
    assert not answers(process.url)


def test_it_outlives_no_parent_that_was_killed():
    with subprocess.Popen([sys.executable, "-c", RUNNER], stdout=subprocess.PIPE, text=True) as runner:
        assert runner.stdout is not None
        url = runner.stdout.readline().split()[0]
        assert answers(url)
        runner.send_signal(signal.SIGKILL)
        runner.wait()
        assert goes_silent(url)


def test_it_outlives_no_killed_parent_whose_fork_still_holds_the_pipe():
    forked = RUNNER.replace(
        "    time.sleep(20)",
        "    child = os.fork()\n    child and print(child, flush=True)\n    time.sleep(20)",
    )
    command = [sys.executable, "-c", f"import os\n{forked}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as runner:
        assert runner.stdout is not None
        url = runner.stdout.readline().split()[0]
        child = int(runner.stdout.readline())
        try:
            runner.send_signal(signal.SIGKILL)
            runner.wait()
            os.kill(child, 0)  # still there, and the pipe with it
            assert goes_silent(url)
        finally:
            os.kill(child, signal.SIGKILL)


def test_it_ends_on_sigterm():
    with EmulatorProcess() as process:
        os.kill(process.pid, signal.SIGTERM)
        assert goes_silent(process.url)


def test_a_hanging_reply_does_not_keep_it(tmp_path: Path, raw_ask: Any):
    faults = tmp_path / "faults.json"
    pace = {"kind": "pace", "silent_before_frame": 1, "silent_seconds": 60}
    faults.write_text(json.dumps([{"route": "POST /v1/chat/completions", "do": pace}]))
    chat = {
        "model": "repairlab/calibration-floor",
        "messages": [{"role": "user", "content": "x"}],
        "stream": True,
    }
    content = json.dumps(chat).encode()
    head = b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(content)
    with EmulatorProcess(faults=faults) as process:
        where = urlsplit(process.url)
        raw_ask(process.url, "POST", "/api/v1/models/load", {"model": chat["model"]})
        with socket.create_connection((where.hostname, where.port), timeout=5) as line:
            line.sendall(head + content)
            received = b""
            while b"data: " not in received:
                received += line.recv(1000)
            assert b"[DONE]" not in received
            started = time.monotonic()
            process.stop()
            assert time.monotonic() - started < 2.0


@pytest.mark.parametrize(
    ("option", "text", "said"),
    [
        ("models_config", "{", "not JSON"),
        ("models_config", '{"schema_version": 2, "models": []}', "schema_version"),
        ("models_config", '{"schema_version": 1, "models": [{"key": "a", "engine": "gpt"}]}', "engine"),
        ("models_config", '{"schema_version": 1, "models": [{"engine": "floor"}]}', "key: missing"),
        ("models_config", '{"schema_version": 1, "models": [], "port": 1}', "port: unknown key"),
        ("knowledge", '{"schema_version": 1, "tasks": {"abc": {}}}', "no SHA-256"),
        ("knowledge", '{"schema_version": 1}', "tasks: missing"),
        ("faults", '[{"route": "GET /x", "do": {"kind": "quake"}}]', "kind: one of"),
        ("faults", '[{"route": "GET /x", "do": {"kind": "cut-stream", "after_frames": 1}}]', "cannot happen"),
        ("faults", '[{"route": "GET /x", "from": 0, "do": {"kind": "wrong-model"}}]', "at least 1"),
    ],
)
def test_a_file_that_is_wrong_is_refused_by_name(tmp_path: Path, option: str, text: str, said: str):
    path = tmp_path / "given.json"
    path.write_text(text)
    with pytest.raises(BadInput, match="did not start") as caught:
        EmulatorProcess(**{option: path}).start()
    assert said in str(caught.value)
    assert "given.json" in str(caught.value)


def test_a_start_that_takes_too_long_is_given_up():
    with pytest.raises(InfrastructureFailure) as caught:
        EmulatorProcess(start_seconds=0.0).start()
    assert caught.value.kind == "emulator-start"


def test_a_file_in_the_working_directory_stands_in_for_no_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "json.py").write_text("raise SystemExit('shadowed')")
    monkeypatch.chdir(tmp_path)
    with EmulatorProcess() as process:
        assert answers(process.url)


def test_it_imports_nothing_heavy():
    script = "import sys, repairlab.hosts.emulator.__main__; print(sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not {"'pydantic'", "'httpx'", "'typer'", "'rich'"} & set(done.stdout.strip("[]\n").split(", "))
