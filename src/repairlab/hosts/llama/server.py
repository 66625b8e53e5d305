"""One loaded model as a child process, and its answers."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from typing import Any

import httpx

from repairlab.contract.canonical import Json
from repairlab.contract.errors import InfrastructureFailure
from repairlab.hosts.llama.answer import Answer, PromptTooLong
from repairlab.hosts.llama.package import LlamaPackage

FAILURE_KIND = "llama-engine"
THREADS = 1
_ENVIRONMENT = {"OMP_WAIT_POLICY": "passive", "OMP_NUM_THREADS": str(THREADS)}
"""All that the engine sees of an environment, beside where modules are. Threads that spin while they wait
starve each other on busy cores."""
_STOP_SECONDS = 5.0


class LlamaServer:
    """A running engine with one model. It ends with this process, however that ends.

    Args:
        package: engine and weights.
        context: tokens to ask for; see `context` for what there is.
        start_seconds: limit on loading.
        answer_seconds: limit on one answer.

    Raises:
        InfrastructureFailure: kind ``llama-engine``: no start, no answer, or one of another shape.
    """

    def __init__(
        self,
        package: LlamaPackage,
        context: int,
        *,
        start_seconds: float = 120.0,
        answer_seconds: float = 900.0,
    ) -> None:
        command = [sys.executable, "-P", "-m", "repairlab.hosts.llama"]
        command += [str(package.weights), str(context), str(THREADS)]
        environment = {**_ENVIRONMENT, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        with tempfile.TemporaryFile() as complaints:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=complaints, env=environment
            )
            line = self._first_line(start_seconds)
            if not line.endswith(b"\n"):
                status = self.stop()
                complaints.seek(0)
                said = complaints.read()[-600:].decode("utf-8", "replace").strip()
                raise _failure(f"no start (status {status}): {said or 'it said nothing'}")
        self._http = httpx.Client(base_url=json.loads(line)["url"], timeout=answer_seconds, trust_env=False)
        try:
            properties = self._json("GET", "/props", None)
            self.context: int = int(properties["default_generation_settings"]["n_ctx"])
            self.quantization: str = str(properties["model_ftype"])
        except (KeyError, TypeError, ValueError, InfrastructureFailure) as error:
            self.stop()
            raise _failure(f"no properties: {error}") from error

    @property
    def pid(self) -> int:
        """Id of the engine's process."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the engine's process has not ended."""
        return self._process.poll() is None

    def answer(self, body: Mapping[str, Json]) -> Answer | PromptTooLong:
        """Ask for one chat completion, not streamed."""
        reply = self._json("POST", "/v1/chat/completions", body)
        error = reply.get("error")
        if isinstance(error, dict) and error.get("type") == "exceed_context_size_error":
            return PromptTooLong(error["n_prompt_tokens"], error["n_ctx"])
        try:
            choice, usage = reply["choices"][0], reply["usage"]
            return Answer(
                text=choice["message"].get("content") or "",
                finish_reason=choice["finish_reason"],
                prompt_tokens=usage["prompt_tokens"],
                completion_tokens=usage["completion_tokens"],
            )
        except (KeyError, IndexError, TypeError) as fault:
            raise _failure(f"no answer: {json.dumps(reply)[:300]}") from fault

    def stop(self) -> int:
        """End the process, which gives the memory back; its exit status."""
        process = self._process
        for stream in (process.stdin, process.stdout):
            if stream:
                stream.close()
        for stronger in (process.terminate, process.kill):
            try:
                return process.wait(timeout=_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                stronger()
        return process.wait()

    def _json(self, method: str, path: str, body: Mapping[str, Json] | None) -> dict[str, Any]:
        try:
            reply = self._http.request(method, path, json=body).json()
        except (httpx.HTTPError, ValueError) as error:
            raise _failure(f"{method} {path}: {type(error).__name__}: {error}") from error
        if not isinstance(reply, dict):
            raise _failure(f"{method} {path}: the reply is no object")
        return reply

    def _first_line(self, seconds: float) -> bytes:
        output = self._process.stdout
        limit = time.monotonic() + seconds
        while output is not None and time.monotonic() < limit:
            readable, _, _ = select.select([output], [], [], 0.5)
            if readable:
                return output.readline()
        return b""


def _failure(what: str) -> InfrastructureFailure:
    return InfrastructureFailure(f"llama.cpp: {what}", kind=FAILURE_KIND)
