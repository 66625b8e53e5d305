"""One emulated host for the whole session, on a real socket; each test gets it empty and without faults."""

from __future__ import annotations

import hashlib
import http.client
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from repairlab.contract.failures import load_failures
from repairlab.hosts.chat import ChatRequest
from repairlab.hosts.client import LMStudioClient
from repairlab.hosts.emulator.lms import write_doubles
from repairlab.hosts.emulator.spawn import EmulatorProcess
from repairlab.hosts.facts import ModelFacts
from repairlab.hosts.failures import FailureRules, Phase
from repairlab.hosts.transport import Exchange, Patience

STATEMENT = "Sums of empty orders are wrong.\n\nThe total of an order without lines is None where 0 belongs."
GOLD_PATCH = "\n".join(
    [
        "diff --git a/shop/order.py b/shop/order.py",
        "--- a/shop/order.py",
        "+++ b/shop/order.py",
        "@@ -41,7 +41,7 @@ class Order:",
        "     def total(self):",
        "         if not self.lines:",
        "-            return None  # nothing ordered",
        "+            return 0",
        "         return sum(line.price for line in self.lines)",
        " ",
        "     def count(self):",
        "         return len(self.lines)",
        "",
    ]
)
MODELS: dict[str, Any] = {
    "schema_version": 1,
    "models": [
        {
            "key": "acme/agent-9b",
            "engine": "floor",
            "display_name": "Agent 9B",
            "publisher": "acme",
            "architecture": "qwen35",
            "format": "gguf",
            "quantization": "Q4_K_M",
            "size_bytes": 5_900_000_000,
            "params_string": "9B",
            "max_context_length": 262_144,
            "reasoning_options": ["off", "on"],
            "reasoning_default": "on",
            "variants": ["acme/agent-9b@q4_k_m", "acme/agent-9b@q8_0"],
            "selected_variant": "acme/agent-9b@q4_k_m",
        },
        {"key": "acme/navigator", "engine": "navigator", "max_context_length": 65_536},
        {"key": "acme/statement", "engine": "statement", "max_context_length": 65_536},
        {
            "key": "text-embedding-acme",
            "type": "embedding",
            "engine": "hashing",
            "format": "gguf",
            "quantization": "Q8_0",
            "size_bytes": 600_000_000,
            "max_context_length": 32_768,
        },
    ],
    "memory_bytes": 12_000_000_000,
}


@dataclass
class Answered:
    status: int
    headers: list[tuple[str, str]]
    content: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.content)


def ask(
    url: str, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
) -> Answered:
    """One raw request, with no client of ours in between."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=10)
    content = body if isinstance(body, bytes | None) else json.dumps(body).encode()
    try:
        connection.request(method, path, content, headers or {})
        response = connection.getresponse()
        return Answered(response.status, response.getheaders(), response.read())
    finally:
        connection.close()


@dataclass
class Host:
    """The running host and short ways to use it."""

    url: str
    channel: str

    def ask(self, method: str, path: str, body: Any = None) -> Answered:
        return ask(self.url, method, path, body)

    def reset(self, *faults: dict[str, Any], **settings: Any) -> None:
        """Begin anew with these faults and settings."""
        answered = self.ask("POST", "/emulator/control", {"faults": list(faults), **settings})
        assert answered.status == 200, answered.content

    def advance(self, seconds: float) -> None:
        """Set the host's clock forward."""
        assert self.ask("POST", "/emulator/control", {"advance_seconds": seconds}).status == 200

    @property
    def log(self) -> list[Any]:
        """Each inference request with the models that were loaded when it came."""
        return self.ask("GET", "/emulator/log").json["log"]

    def load(self, key: str = "acme/agent-9b", context: int = 65_536) -> Any:
        return self.ask("POST", "/api/v1/models/load", {"model": key, "context_length": context}).json


@pytest.fixture(scope="session")
def host_files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("host")
    models = folder / "models.json"
    models.write_text(json.dumps(MODELS))
    knowledge = folder / "knowledge.json"
    known = {
        "task": "shop-empty-order",
        "gold_patch": GOLD_PATCH,
        "production_files": ["shop/order.py"],
        "created_files": [],
    }
    digest = hashlib.sha256(STATEMENT.encode()).hexdigest()
    knowledge.write_text(json.dumps({"schema_version": 1, "tasks": {digest: known}}))
    return {"models_config": models, "knowledge": knowledge}


@pytest.fixture(scope="session")
def _process(host_files: dict[str, Any]) -> Iterator[EmulatorProcess]:
    with EmulatorProcess(**host_files, control=True) as process:
        yield process


@pytest.fixture
def host(_process: EmulatorProcess) -> Host:
    host = Host(_process.url, _process.channel)
    host.reset()
    return host


@pytest.fixture
def doubles(host: Host, tmp_path: Path) -> Callable[..., Path]:
    """Writes executables ``lms`` and ``nvidia-smi`` that ask the host; the folder."""

    def make(*oddities: str) -> Path:
        folder = tmp_path / "-".join(("bin", *oddities))
        folder.mkdir()
        return write_doubles(folder, host.channel, oddities).parent

    return make


@pytest.fixture
def raw_ask() -> Callable[..., Answered]:
    return ask


@pytest.fixture(scope="session")
def rules() -> FailureRules:
    """The frozen table, in the phase of a run."""
    return FailureRules(load_failures(Path(__file__).resolve().parents[2] / "contracts"))


@pytest.fixture
def journal() -> list[Exchange]:
    return []


@pytest.fixture
def connect(journal: list[Exchange], rules: FailureRules) -> Iterator[Callable[..., LMStudioClient]]:
    """Makes clients that write to `journal`."""
    made: list[LMStudioClient] = []

    def make(
        url: str, token: str | None = None, silence: float = 5.0, phase: Phase = "run", call: float = 5.0
    ) -> LMStudioClient:
        patience = Patience(silence=silence, connect=2.0, call=call, load=5.0)
        told = journal.append
        made.append(
            LMStudioClient(
                url, token, time.monotonic, patience=patience, on_exchange=told, rules=rules.at(phase)
            )
        )
        return made[-1]

    yield make
    for client in made:
        client.close()


@pytest.fixture
def client(host: Host, connect: Callable[..., LMStudioClient]) -> LMStudioClient:
    return connect(host.url)


@pytest.fixture
def agent() -> ModelFacts:
    """What is pinned of the first model."""
    return ModelFacts(
        key="acme/agent-9b",
        kind="llm",
        context_tokens=65_536,
        format="gguf",
        quantization="Q4_K_M",
        selected_variant="acme/agent-9b@q4_k_m",
        reasoning_default="on",
    )


@pytest.fixture
def embedder_facts() -> ModelFacts:
    """What is pinned of the embedding model."""
    return ModelFacts("text-embedding-acme", "embedding", 32_768, format="gguf", quantization="Q8_0")


@pytest.fixture
def statement() -> str:
    return STATEMENT


@pytest.fixture
def gold_patch() -> str:
    return GOLD_PATCH


def _tool(name: str, *arguments: str) -> dict[str, Any]:
    properties = {argument: {"type": "string"} for argument in arguments}
    parameters = {"type": "object", "properties": properties, "required": []}
    return {"type": "function", "function": {"name": name, "description": "-", "parameters": parameters}}


@pytest.fixture
def tools() -> tuple[dict[str, Any], ...]:
    """Schemas of the tools that interactive treatments offer."""
    return (
        _tool("search", "query", "mode"),
        _tool("read_file", "path", "start_line", "end_line"),
        _tool("apply_patch", "diff"),
        _tool("run_tests"),
        _tool("finish", "summary"),
    )


@pytest.fixture
def request_for(tools: tuple[dict[str, Any], ...]) -> Callable[..., ChatRequest]:
    """A chat request with one user message around a statement."""

    def make(text: str = STATEMENT, model: str = "acme/agent-9b", **changes: Any) -> ChatRequest:
        user = {"role": "user", "content": f"A fault:\n\n<statement>\n{text}\n</statement>\n\nRepair it."}
        settings: dict[str, Any] = {
            "model": model,
            "messages": ({"role": "system", "content": "You repair code."}, user),
            "tools": tools,
            "temperature": 0.0,
            "top_p": 1.0,
            "seed": 0,
            "max_tokens": 8192,
        }
        return ChatRequest(**(settings | changes))

    return make
