"""A scripted model over a real workspace: what a model writes is the input, everything else is real."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from repairlab.agents.calls import Call
from repairlab.agents.clocks import AgentClock
from repairlab.agents.context import ContextBound
from repairlab.agents.loop import Episode, EpisodeResult, Rules
from repairlab.agents.toolbox import Toolbox
from repairlab.contract.controls import SharedControls
from repairlab.contract.strict import load
from repairlab.contract.wording import Wording, load_wording
from repairlab.hosts.chat import ChatReply, RawToolCall, Usage
from repairlab.repositories.mirrors import Mirror
from repairlab.repositories.templates import Template, Templates
from repairlab.repositories.workspace import Workspace

ROOT = Path(__file__).resolve().parent.parent.parent
CALC = "def add(a, b):\n    return a - b\n\n\ndef sub(a, b):\n    return a - b\n"
FIX = """--- a/pkg/calc.py
+++ b/pkg/calc.py
@@ -1,4 +1,4 @@
 def add(a, b):
-    return a - b
+    return a + b


"""


def call(name: str, _id: str = "x", **arguments: object) -> RawToolCall:
    return RawToolCall(_id, name, json.dumps(arguments))


def reply(*calls: RawToolCall, content: str = "", finish: str = "", prompt_tokens: int = 1000) -> ChatReply:
    reason = finish or ("tool_calls" if calls else "stop")
    return ChatReply(content, "", tuple(calls), reason, Usage(prompt_tokens, 10), "m", {"content": content})


@dataclass
class Script:
    """Replies in order, the last one again and again; remembers what it was asked."""

    replies: list[Any]
    seen: list[list[Any]] = field(default_factory=list)

    def ask(self, messages: list[Any], tools: list[Any], seconds_left: float) -> Any:
        self.seen.append(messages)
        step = self.replies[min(len(self.seen), len(self.replies)) - 1]
        return step(seconds_left) if callable(step) else step


class CountingTests:
    """Stands in for the test runner, which these tests are not about."""

    def __init__(self) -> None:
        self.runs = 0

    def run(self) -> tuple[str, Any]:
        self.runs += 1
        return f"run {self.runs}: 3 passed", {"passed": 3}


@dataclass
class Bench:
    """One episode's parts, open to the tests."""

    workspace: Workspace
    tests: CountingTests
    shared: SharedControls
    wording: Wording
    now: list[float]
    records: list[dict[str, Any]] = field(default_factory=list)
    context_tokens: int = 65536

    def run(self, *replies: Any) -> tuple[EpisodeResult, Script]:
        script = Script(list(replies))
        return self.converse(script), script

    def converse(self, model: Any) -> EpisodeResult:
        """One episode with whatever answers as `model`."""
        tools = {
            name: self.wording.tools[name] for name in ("read_file", "apply_patch", "run_tests", "finish")
        }
        rules = Rules(
            self.shared.budgets,
            self.shared.interaction,
            tools,
            [tool.function_schema(name) for name, tool in tools.items()],
            self.wording.prompts.interactive.reminder,
        )
        episode = Episode(
            rules,
            model,
            Toolbox(self.workspace, self.shared.view, self.tests),
            AgentClock(lambda: self.now[0]),
            ContextBound(self.shared.generation, self.context_tokens),
            self.records.append,
        )
        return episode.run([{"role": "system", "content": "s"}, {"role": "user", "content": "u"}])

    def kinds(self) -> list[str]:
        return [record["kind"] for record in self.records if record["type"] == "call"]


@pytest.fixture(scope="session")
def mirror(tmp_path_factory: pytest.TempPathFactory) -> Mirror:
    root = tmp_path_factory.mktemp("origin")
    (root / "pkg").mkdir()
    (root / "tests").mkdir()
    (root / "pkg" / "calc.py").write_text(CALC)
    (root / "tests" / "test_calc.py").write_text("def test_a():\n    assert True\n")
    who = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"]
    for command in (["init", "-q", "-b", "main"], ["add", "."], [*who, "commit", "-q", "-m", "base"]):
        subprocess.run(["git", *command], cwd=root, check=True)
    return Mirror("https://example.org/o/n", root / ".git")


@pytest.fixture(scope="session")
def template(mirror: Mirror, tmp_path_factory: pytest.TempPathFactory) -> Template:
    """The base commit, laid out once: nothing ever writes to it."""
    base = subprocess.run(
        ["git", "--git-dir", str(mirror.path), "rev-parse", "HEAD"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    return Templates(tmp_path_factory.mktemp("templates")).ensure(mirror, base)


@pytest.fixture
def bench(template: Template, tmp_path: Path) -> Bench:
    shared = load(SharedControls, ROOT / "contracts" / "shared.toml")
    wording = load_wording(ROOT / "contracts")
    workspace = Workspace(template, tmp_path / "layer", shared.patch, "python")
    return Bench(workspace, CountingTests(), shared, wording, [0.0])


@pytest.fixture
def make_call() -> Callable[..., RawToolCall]:
    return call


@pytest.fixture
def make_reply() -> Callable[..., ChatReply]:
    return reply


@pytest.fixture
def fix() -> str:
    return FIX


@pytest.fixture
def call_of() -> Callable[..., Call]:
    """A valid call, as the loop hands it to the toolbox."""
    return lambda tool, **arguments: Call(tool, arguments)
