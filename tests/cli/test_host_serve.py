"""`repairlab host serve`: the emulated host in the foreground, with models and recordings of one's own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

KEY = "acme/recorded"
ASKED = {"model": KEY, "messages": [{"role": "user", "content": "What was said?"}], "temperature": 0.0}
SAID = {
    "model": KEY,
    "choices": [
        {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "This was said."}}
    ],
    "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10},
}


@pytest.fixture
def serve() -> Iterator[Callable[..., str]]:
    """Starts the command and gives the base URL that it prints."""
    running: list[subprocess.Popen[str]] = []

    def start(*options: str) -> str:
        command = [sys.executable, "-m", "repairlab.cli", "host", "serve", "--port", "0", *options]
        running.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True))
        assert running[-1].stdout is not None
        url: str = json.loads(running[-1].stdout.readline())["url"]
        return url

    yield start
    for process in running:
        process.terminate()
        process.communicate(timeout=10)


def test_models_and_recordings_can_be_given(serve: Callable[..., str], tmp_path: Path) -> None:
    models, recordings = tmp_path / "models.json", tmp_path / "transcript.jsonl"
    config = {"schema_version": 1, "models": [{"key": KEY, "engine": "recorded"}]}
    models.write_text(json.dumps(config))
    entries: list[dict[str, Any]] = [{"type": "request", "body": ASKED}, {"type": "reply", "body": SAID}]
    recordings.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    url = serve("--models-config", str(models), "--recordings", str(recordings))
    with httpx.Client(base_url=url, trust_env=False) as http:
        listed = http.get("/api/v1/models").json()["models"]
        assert [model["key"] for model in listed] == [KEY]
        assert http.post("/api/v1/models/load", json={"model": KEY}).json()["status"] == "loaded"
        reply = http.post("/v1/chat/completions", json=ASKED).json()
        assert reply["choices"][0]["message"]["content"] == "This was said."
        assert "no reply to this request" in http.post("/v1/chat/completions", json=ASKED).json()["error"]
