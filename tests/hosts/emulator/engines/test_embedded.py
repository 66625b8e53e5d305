"""The statement engine and the hashing embedder on the embedded study: real tools, real corpora, real host.

Only the tests that ``run_tests`` would run are left out: neither engine looks at what they say.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from repairlab.agents.clocks import AgentClock
from repairlab.agents.context import ContextBound
from repairlab.agents.loop import Episode, Rules
from repairlab.agents.prompts import first_messages, tool_schemas
from repairlab.agents.toolbox import Toolbox
from repairlab.contract.controls import SharedControls
from repairlab.contract.failures import load_failures
from repairlab.contract.outcome import EndReason
from repairlab.contract.strict import load
from repairlab.contract.task import Task
from repairlab.contract.treatments import Treatment, Treatments
from repairlab.contract.wording import Wording, load_wording
from repairlab.hosts.client import LMStudioClient
from repairlab.hosts.emulator.engines.hashing import embed
from repairlab.hosts.emulator.engines.replaced import all_shown, needs_of
from repairlab.hosts.emulator.engines.shown import lines_shown
from repairlab.hosts.emulator.spawn import EmulatorProcess
from repairlab.hosts.facts import VerifiedFacts
from repairlab.hosts.failures import FailureRules
from repairlab.repositories.mirrors import Mirrors
from repairlab.repositories.sources import Sources
from repairlab.repositories.templates import Template, Templates
from repairlab.repositories.workspace import Workspace
from repairlab.runner.indexes import Indexes
from repairlab.runner.model import HostModel, Sampling
from repairlab.runner.searching import search_tools
from repairlab.search.corpus import Corpus, build_corpus
from repairlab.tasks.knowledge import knowledge
from repairlab.tasks.material import Material, derive

ROOT = Path(__file__).resolve().parents[4]
RULES = FailureRules(load_failures(ROOT / "contracts"))
TASKS = (
    "almanak-crooked-tables",
    "almanak-rows-without-a-date",
    "ledgerline-credit-note-residue",
    "ledgerline-text-round-trip",
    "millrace-attempts-after-restart",
    "millrace-limited-queue-stalls",
)
KEY = "repairlab/calibration-statement"
GREEDY = Sampling(0.0, 1.0, 0, 8192)
VERIFIED = VerifiedFacts(
    KEY, "llm", KEY, 65_536, 131_072, None, "calibration", None, None, None, None, {}, (KEY,)
)  # fmt: skip


class NoTests:
    """Stands in for the test runner."""

    def run(self) -> tuple[str, Any]:
        return "not run", {}


@dataclass
class Place:
    """One task on this machine."""

    task: Task
    template: Template
    material: Material
    corpus: Corpus


@dataclass
class Study:
    """The embedded tasks and the frozen controls."""

    places: dict[str, Place]
    shared: SharedControls
    wording: Wording
    treatments: dict[str, Treatment]
    folder: Path

    def episode(self, url: str, name: str, treatment: str) -> tuple[EndReason, list[dict[str, Any]]]:
        """How one episode of the statement engine ended, and all that was recorded of it."""
        place, arm = self.places[name], self.treatments[treatment]
        records: list[dict[str, Any]] = []
        layer = self.folder / f"layer-{time.monotonic_ns()}"
        workspace = Workspace(place.template, layer, self.shared.patch, place.task.language)
        with client_of(url) as client:
            episode = Episode(
                Rules(
                    self.shared.budgets,
                    self.shared.interaction,
                    {tool: self.wording.tools[tool] for tool in arm.tools},
                    tool_schemas(arm, self.wording),
                    self.wording.prompts.interactive.reminder,
                ),
                HostModel(
                    client, RULES, VERIFIED, Sampling(0.0, 1.0, 0, 8192), time.monotonic, records.append
                ),
                Toolbox(
                    workspace,
                    self.shared.view,
                    NoTests(),
                    search_tools(self.shared, arm, self.wording, Indexes(place.corpus), None),
                ),
                AgentClock(lambda: 0.0),
                ContextBound(self.shared.generation, 65_536),
                records.append,
            )
            result = episode.run(first_messages(place.task, arm, self.wording, self.shared.budgets))
        return result.reason, records


def client_of(url: str) -> LMStudioClient:
    return LMStudioClient(url, None, time.monotonic, patience=_patience(), rules=RULES)


def _patience() -> Any:
    from repairlab.hosts.transport import Patience

    return Patience(silence=20.0)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    folder = tmp_path_factory.mktemp("embedded")
    shared = load(SharedControls, ROOT / "contracts" / "shared.toml")
    mirrors = Mirrors(folder / "mirrors", Sources())
    places = {}
    for name in TASKS:
        task = load(Task, ROOT / "preregistration" / "tasks" / f"{name}.toml")
        mirror = mirrors.ensure(task.repository, [task.base, task.fix])
        template = Templates(folder / "templates").ensure(mirror, task.base)
        corpus = build_corpus(
            mirror, task.base, task.language, shared.corpus, cache=folder / "corpora" / task.language
        )
        places[name] = Place(task, template, derive(task, mirror), corpus)
    wording = load_wording(ROOT / "contracts")
    treatments = load(Treatments, ROOT / "contracts" / "treatments.toml").root
    return Study(places, shared, wording, treatments, folder)


@pytest.fixture(scope="module")
def hosts(study: Study) -> Iterator[list[str]]:
    """Two processes of one host, with the statement engine loaded."""
    told = study.folder / "knowledge.json"
    material = {name: place.material for name, place in study.places.items()}
    told.write_bytes(knowledge(material, {name: place.task for name, place in study.places.items()}))
    with EmulatorProcess(knowledge=told) as one, EmulatorProcess(knowledge=told) as other:
        for process in (one, other):
            with LMStudioClient(
                process.url, None, time.monotonic, patience=_patience(), rules=RULES
            ) as client:
                client.load(KEY, 65_536)
        yield [one.url, other.url]


@pytest.mark.parametrize("name", TASKS)
def test_the_fix_is_applied_exactly_when_its_place_was_shown(study: Study, hosts: list[str], name: str):
    for treatment in ("H000", "H018"):
        reason, records = study.episode(hosts[0], name, treatment)
        assert reason is EndReason.FINISHED
        calls = [record for record in records if record["type"] == "call"]
        seen: list[str] = []
        for call in calls:
            if call["kind"] == "apply_patch":
                break
            seen.append(call["text"])
        gold = study.places[name].material.gold_patch.decode()
        patched = "apply_patch" in [call["kind"] for call in calls]
        assert patched == all_shown(needs_of(gold), lines_shown(seen))
        before = lines_shown(seen[:-1])
        assert not patched or not all_shown(needs_of(gold), before)  # not a call later than possible
        assert "apply_patch-refused" not in [call["kind"] for call in calls]


def test_the_oracle_shows_every_place_in_these_small_repositories(study: Study, hosts: list[str]):
    for name in TASKS:
        _, records = study.episode(hosts[0], name, "H018")
        assert "apply_patch" in [record.get("kind") for record in records], name


def test_five_runs_in_two_processes_are_equal_to_the_byte(study: Study, hosts: list[str]):
    runs = [hosts[number % 2] for number in range(5)]
    for name in TASKS:
        seen = {json.dumps(study.episode(url, name, "H000")[1], sort_keys=True) for url in runs}
        assert len(seen) == 1


def test_the_hashing_embedder_gives_every_file_the_same_vector_in_both_processes(
    study: Study, hosts: list[str]
):
    key = "repairlab/hashing-embedder"
    corpus = study.places[TASKS[0]].corpus
    texts = tuple(bytes(corpus.data(number)).decode() for number in range(min(12, len(corpus.files))))
    texts = tuple(text for text in texts if text.strip())
    seen = set()
    for number in range(5):
        with LMStudioClient(
            hosts[number % 2], None, time.monotonic, patience=_patience(), rules=RULES
        ) as client:
            if number < 2:
                client.load(key, 32_768)
            seen.add(json.dumps(client.embed(key, texts)))
    (reply,) = seen
    vectors = [entry["embedding"] for entry in json.loads(reply)["data"]]
    assert vectors == [embed(text) for text in texts]
    assert all(len(vector) == 1024 for vector in vectors)
    assert all(math.hypot(*vector) == pytest.approx(1.0, abs=1e-12) for vector in vectors)


def test_what_the_engine_is_told_never_reaches_the_harness(
    study: Study, hosts: list[str], raw_ask: Callable[..., Any]
):
    """No route of the host gives away a byte of the knowledge."""
    gold = study.places[TASKS[0]].material.gold_patch.decode().split("\n")
    added = max((line[1:].strip() for line in gold if line.startswith("+") and len(line) > 20), key=len)
    for path in ("/api/v1/models", "/v1/models", "/api/v0/models", "/lmstudio-greeting", "/emulator/log"):
        assert added not in raw_ask(hosts[0], "GET", path).content.decode()
