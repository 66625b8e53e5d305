"""Calibration engines in the stages of A001: the stage is told by the request alone."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from repairlab.contract.wording import fill, load_wording
from repairlab.hosts.emulator.engines.floor import Floor
from repairlab.hosts.emulator.engines.knowledge import Knowledge, TaskKnowledge
from repairlab.hosts.emulator.engines.navigator import Navigator
from repairlab.hosts.emulator.engines.protocol import EngineRequest, ToolOffer
from repairlab.hosts.emulator.engines.stages import Entry, Stage, entries_of, stage_of
from repairlab.hosts.emulator.engines.statement import Statement
from repairlab.hosts.emulator.engines.statement_stages import words_of

PROMPTS = load_wording(Path(__file__).resolve().parents[4] / "contracts").prompts
STATEMENT = "Rounding of `split_total` loses a cent when parts are negative."
PATCH = """--- a/pkg/money.py
+++ b/pkg/money.py
@@ -2,3 +2,3 @@ def split_total
 two
-three
+3
 four
"""
SKELETON = """./
  setup.py
pkg/
  cli.py: main
  money.py: split_total, Money(negative) +
pkg/tests/
  test_money.py: test_split_total"""
SOURCE = "pkg/money.py, lines 1 to 5 of 5:\n1\tdef split_total():\n2\ttwo\n3\tthree\n4\tfour\n5\tfive"
KNOWN = Knowledge(
    {hashlib.sha256(STATEMENT.encode()).hexdigest(): TaskKnowledge("t", PATCH, ("pkg/money.py",), ())}
)


def request(work: str, *tools: ToolOffer) -> EngineRequest:
    text = fill(PROMPTS.task, statement=STATEMENT, oracle="", work=work)
    return EngineRequest(({"role": "user", "content": text},), tools)


FILES = request(fill(PROMPTS.staged.files, skeleton=SKELETON, selected_files="10"))
LINES = request(fill(PROMPTS.staged.lines, source=SOURCE, locations="40"))
PLACES = "pkg/money.py\nline: 3"
REPAIR = request(fill(PROMPTS.staged.repair, places=PLACES, source=SOURCE))
UNSEEN = request(fill(PROMPTS.staged.repair, places=PLACES, source=SOURCE.replace("3\tthree", "...")))


def test_the_stage_is_told_by_the_request() -> None:
    assert [stage_of(one) for one in (FILES, LINES, REPAIR)] == [Stage.FILES, Stage.LINES, Stage.REPAIR]
    assert stage_of(request("You have 12 replies.")) is None
    assert stage_of(request(PROMPTS.staged.files, ToolOffer("finish", ()))) is None


def test_the_skeleton_is_read_as_it_is_written() -> None:
    assert entries_of(FILES) == [
        Entry("setup.py", ""),
        Entry("pkg/cli.py", "main"),
        Entry("pkg/money.py", "split_total, Money(negative) +"),
        Entry("pkg/tests/test_money.py", "test_split_total"),
    ]


def test_the_navigator_names_files_and_lines_of_the_fix_and_gives_it() -> None:
    navigator = Navigator(KNOWN)
    assert navigator.reply(FILES).content == "```\npkg/money.py\n```\n"
    assert navigator.reply(LINES).content == "```\npkg/money.py\nlines: 2-4\n```\n"
    assert navigator.reply(REPAIR).content == f"```diff\n{PATCH}```\n"


def test_the_statement_engine_goes_by_the_words_of_the_statement() -> None:
    engine = Statement(KNOWN)
    assert engine.reply(FILES).content == "```\npkg/money.py\n```\n"
    assert engine.reply(LINES).content == "```\npkg/money.py\nlines: 1-5\n```\n"


def test_the_statement_engine_gives_the_fix_only_where_its_place_was_shown() -> None:
    engine = Statement(KNOWN)
    assert engine.reply(REPAIR).content == f"```diff\n{PATCH}```\n"
    assert "```" not in engine.reply(UNSEEN).content


@pytest.mark.parametrize("stage", [FILES, LINES, REPAIR])
def test_the_floor_answers_no_stage(stage: EngineRequest) -> None:
    reply = Floor().reply(stage)
    assert "```" not in reply.content
    assert reply.calls == ()


def test_words_are_identifiers_and_their_parts() -> None:
    found = words_of("`splitTotal` of parse_2 is the with")
    assert found == {"splittotal", "split", "total", "parse_2", "parse"}
