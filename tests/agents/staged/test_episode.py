"""The three stages with a scripted model over a real workspace, corpus and symbol index."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from repairlab.agents.clocks import AgentClock
from repairlab.agents.context import ContextBound
from repairlab.agents.loop import EpisodeResult
from repairlab.agents.staged.episode import StagedEpisode, StagedRules
from repairlab.agents.staged.repository import StagedRepository
from repairlab.agents.staged.requests import StageRequests
from repairlab.contract.errors import InfrastructureFailure
from repairlab.contract.outcome import STAGES, EndReason
from repairlab.hosts.chat import DeadlineReached, UnparsableCall
from repairlab.repositories.mirrors import Mirror
from repairlab.search.cache import Cache
from repairlab.search.corpus import build_corpus
from repairlab.search.symbols_index import build_symbols
from repairlab.store.transcript import record_adapter

FILES = "```\npkg/calc.py\n```"
LINES = "```\npkg/calc.py\nfunction: add\n```"


@dataclass
class Stages:
    """One episode's parts, open to the tests."""

    bench: Any
    repository: StagedRepository
    context_tokens: int = 65536
    statement: str = "add subtracts."
    seen: list[Any] = field(default_factory=list)

    def run(self, *replies: Any) -> EpisodeResult:
        bench, left = self.bench, list(replies)

        def ask(messages: list[Any], tools: list[Any], seconds_left: float) -> Any:
            assert tools == []
            self.seen.append(messages)
            step = left.pop(0)
            return step(seconds_left) if callable(step) else step

        def messages(work: str) -> list[Any]:
            text = f"{self.statement}\n\n{work}"
            return [{"role": "system", "content": "s"}, {"role": "user", "content": text}]

        shared = bench.shared
        bound = ContextBound(shared.generation, self.context_tokens)
        result = StagedEpisode(
            StagedRules(shared.budgets, shared.staged, shared.patch),
            StageRequests(bench.wording.prompts.staged, shared.staged, messages, bound),
            self.repository,
            bench.workspace,
            bench.tests,
            type("Scripted", (), {"ask": staticmethod(ask)})(),
            AgentClock(lambda: bench.now[0]),
            bench.records.append,
        ).run()
        assert not left
        return result

    def taken(self) -> list[Any]:
        return [record for record in self.bench.records if record["type"] == "stage-taken"]

    def control(self, **values: object) -> None:
        staged = self.bench.shared.staged.model_copy(update=values)
        self.bench.shared = self.bench.shared.model_copy(update={"staged": staged})


@pytest.fixture
def stages(bench: Any, mirror: Mirror, tmp_path: Path) -> Stages:
    base = bench.workspace.template.commit
    corpus = build_corpus(mirror, base, "python", bench.shared.corpus, cache=tmp_path / "corpora")
    index = build_symbols(corpus, "python", cache=Cache(tmp_path / "blobs"), folder=tmp_path / "indexes")
    return Stages(bench, StagedRepository(corpus, index, lambda path: path.startswith("tests/")))


def test_three_stages_repair_a_fault_and_the_public_tests_run_once(
    stages: Stages, make_reply: Callable[..., Any], fix: str
) -> None:
    result = stages.run(*(make_reply(content=text) for text in (FILES, LINES, f"```diff\n{fix}```\n")))
    assert result.reason is EndReason.FINISHED
    spent = result.spent
    assert (spent.model_calls, spent.tool_calls, spent.public_test_runs, stages.bench.tests.runs) == (
        3,
        0,
        1,
        1,
    )
    assert stages.bench.workspace.edited() == ("pkg/calc.py",)
    assert (result.tokens.prompt, result.tokens.completion) == (3000, 30)
    kinds = [(record["type"], record.get("stage")) for record in stages.bench.records]
    both = [(kind, stage) for stage in STAGES for kind in ("stage-shown", "stage-taken")]
    assert kinds == [*both, ("validation", None), ("end", None)]


def test_each_stage_is_a_conversation_of_its_own(
    stages: Stages, make_reply: Callable[..., Any], fix: str
) -> None:
    stages.run(*(make_reply(content=text) for text in (FILES, LINES, fix)))
    assert [len(messages) for messages in stages.seen] == [2, 2, 2]
    files, lines, repair = (messages[1]["content"] for messages in stages.seen)
    assert "\n<skeleton>\npkg/\n  calc.py: add, sub\ntests/\n  test_calc.py: test_a\n</skeleton>\n" in files
    assert "\n<files>\npkg/calc.py, lines 1 to 6 of 6:\n1\tdef add(a, b):\n" in lines
    assert "\n<places>\npkg/calc.py\nfunction: add\n</places>\n" in repair


def test_every_record_is_of_the_form_of_a_transcript(
    stages: Stages, make_reply: Callable[..., Any], fix: str
) -> None:
    stages.bench.tests.run = lambda: ("3 passed", {"end": "complete", "outcomes": {"a": "passed"}})
    stages.run(*(make_reply(content=text) for text in (FILES, LINES, fix)))
    for number, record in enumerate(stages.bench.records):
        record_adapter().validate_python({"n": number, **record}, strict=False)


def test_the_third_stage_shows_places_with_their_margin(
    stages: Stages, make_reply: Callable[..., Any], fix: str
) -> None:
    stages.control(margin_lines=1)
    stages.run(*(make_reply(content=text) for text in (FILES, LINES, fix)))
    shown = next(record for record in stages.bench.records if record.get("stage") == "repair")
    assert shown["shown"] == [{"path": "pkg/calc.py", "start_line": 1, "end_line": 3}]


@pytest.mark.parametrize(
    ("replies", "reason", "fault"),
    [
        (["no idea"], EndReason.FILES_STAGE_UNUSABLE, "no-known-file"),
        ([""], EndReason.FILES_STAGE_UNUSABLE, "empty-reply"),
        ([FILES, "```\nline: 3\n```"], EndReason.LINES_STAGE_UNUSABLE, "no-known-place"),
        ([FILES, LINES, "It cannot be repaired."], EndReason.REPAIR_STAGE_UNUSABLE, "no-diff"),
        ([FILES, LINES, "```\n--- a/x\n```\n```\n```"], EndReason.REPAIR_STAGE_UNUSABLE, "several-fences"),
    ],
)
def test_an_unusable_stage_ends_the_work_without_a_patch(
    stages: Stages, make_reply: Callable[..., Any], replies: list[str], reason: EndReason, fault: str
) -> None:
    result = stages.run(*(make_reply(content=text) for text in replies))
    assert result.reason is reason
    assert result.spent.model_calls == len(replies)
    last = stages.taken()[-1]
    assert (last["usable"], last["fault"]) == (False, fault)
    assert result.tally[f"stage-{last['stage']}-{fault}"] == 1
    assert stages.bench.workspace.edited() == ()
    assert stages.bench.tests.runs == 0


def test_a_patch_of_a_protected_file_is_refused_as_in_every_treatment(
    stages: Stages, make_reply: Callable[..., Any], fix: str
) -> None:
    other = fix.replace("pkg/calc.py", "tests/test_calc.py")
    result = stages.run(*(make_reply(content=text) for text in (FILES, LINES, other)))
    assert result.reason is EndReason.REPAIR_STAGE_UNUSABLE
    assert stages.taken()[-1]["patch"] == {"refused": "protected-file"}


def test_a_reply_that_is_cut_is_not_read(stages: Stages, make_reply: Callable[..., Any]) -> None:
    result = stages.run(make_reply(content=FILES, finish="length"))
    assert result.reason is EndReason.FILES_STAGE_UNUSABLE
    assert stages.taken()[-1]["fault"] == "cut-at-limit"


def test_reasoning_is_never_taken_for_an_answer(stages: Stages, make_reply: Callable[..., Any]) -> None:
    reply = dataclasses.replace(make_reply(content=""), reasoning=FILES)
    assert stages.run(reply).reason is EndReason.FILES_STAGE_UNUSABLE
    assert stages.taken()[-1]["fault"] == "reasoning-only"


def test_a_call_that_the_host_cannot_read_makes_a_stage_unusable(stages: Stages) -> None:
    result = stages.run(UnparsableCall("no JSON", {}))
    assert result.reason is EndReason.FILES_STAGE_UNUSABLE
    assert result.tokens.prompt is None


def test_the_agent_clock_runs_over_all_stages(stages: Stages, make_reply: Callable[..., Any]) -> None:
    def slow(text: str) -> Callable[[float], Any]:
        def step(seconds_left: float) -> Any:
            stages.bench.now[0] += 1000
            return make_reply(content=text)

        return step

    result = stages.run(slow(FILES), slow(LINES))
    assert result.reason is EndReason.AGENT_CLOCK_SPENT
    assert stages.bench.workspace.edited() == ()


def test_a_deadline_inside_a_stage_ends_the_work(stages: Stages, make_reply: Callable[..., Any]) -> None:
    result = stages.run(make_reply(content=FILES), DeadlineReached(None))
    assert result.reason is EndReason.AGENT_CLOCK_SPENT
    assert result.tally["reply-cut-by-clock"] == 1


def test_model_calls_are_a_budget_here_too(stages: Stages, make_reply: Callable[..., Any]) -> None:
    budgets = stages.bench.shared.budgets.model_copy(update={"model_calls": 2})
    stages.bench.shared = stages.bench.shared.model_copy(update={"budgets": budgets})
    result = stages.run(make_reply(content=FILES), make_reply(content=LINES))
    assert result.reason is EndReason.MODEL_CALLS_SPENT


def test_what_is_packed_shrinks_to_what_the_context_has_left(
    stages: Stages, make_reply: Callable[..., Any]
) -> None:
    empty = 8192 + len(stages.statement) + 900
    stages.context_tokens = empty + 40
    stages.run(make_reply(content="nothing"))
    (shown,) = (record for record in stages.bench.records if record["type"] == "stage-shown")
    assert shown["tokens"] <= shown["cap"] < stages.bench.shared.staged.skeleton_tokens


def test_a_statement_that_leaves_nothing_ends_the_work_before_a_request(stages: Stages) -> None:
    stages.statement = "x" * 60_000
    result = stages.run()
    assert result.reason is EndReason.CONTEXT_EXHAUSTED
    assert result.spent.model_calls == 0


def test_a_host_that_reports_an_overflow_ends_the_work_and_is_counted(stages: Stages) -> None:
    def overflow(seconds_left: float) -> Any:
        raise InfrastructureFailure("too long", kind="host-context-overflow")

    result = stages.run(overflow)
    assert result.reason is EndReason.CONTEXT_EXHAUSTED
    assert result.tally == {"host-context-overflow": 1}
