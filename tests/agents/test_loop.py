"""The interactive loop: it ends by finish or by a budget, and counts each call once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from repairlab.contract.errors import InfrastructureFailure
from repairlab.contract.outcome import EndReason
from repairlab.hosts.chat import ChatReply, DeadlineReached, RawToolCall, UnparsableCall

Call = Callable[..., RawToolCall]
Reply = Callable[..., ChatReply]


def test_read_patch_test_finish(bench: Any, make_call: Call, make_reply: Reply, fix: str) -> None:
    result, script = bench.run(
        make_reply(make_call("read_file", path="pkg/calc.py")),
        make_reply(make_call("apply_patch", diff=fix)),
        make_reply(make_call("run_tests")),
        make_reply(make_call("finish", summary="add adds")),
    )
    assert result.reason is EndReason.FINISHED
    assert (result.spent.model_calls, result.spent.tool_calls, result.spent.public_test_runs) == (4, 3, 1)
    assert bench.kinds() == ["read_file", "apply_patch", "run_tests", "finish"]
    assert bench.workspace.edited() == ("pkg/calc.py",)
    tool_messages = [m["content"] for m in script.seen[-1] if m["role"] == "tool"]
    assert tool_messages[0].startswith("pkg/calc.py, lines 1 to 6 of 6:\n1\tdef add(a, b):")
    assert tool_messages[1] == "Applied. Changed: pkg/calc.py."
    assert tool_messages[2] == "run 1: 3 passed"


def test_finish_is_free(bench: Any, make_call: Call, make_reply: Reply) -> None:
    result, _ = bench.run(make_reply(make_call("finish")))
    assert result.spent.tool_calls == 0


def test_the_episode_ends_when_twelve_replies_are_spent(bench: Any, make_reply: Reply) -> None:
    result, script = bench.run(make_reply(content="I think"))
    assert result.reason is EndReason.MODEL_CALLS_SPENT
    assert len(script.seen) == 12
    assert result.spent.tool_calls == 0
    assert result.tally == {"reply-without-call": 12}


def test_c10_the_same_call_again_and_again_ends_by_the_budget(
    bench: Any, make_call: Call, make_reply: Reply
) -> None:
    result, script = bench.run(make_reply(make_call("read_file", path="pkg/calc.py")))
    assert result.reason is EndReason.TOOL_CALLS_SPENT
    assert len(script.seen) == result.spent.tool_calls == 12
    assert bench.kinds() == ["read_file"] * 12


def test_a_refused_third_test_run_counts_as_a_tool_call(
    bench: Any, make_call: Call, make_reply: Reply
) -> None:
    result, _ = bench.run(*[make_reply(make_call("run_tests"))] * 3, make_reply(make_call("finish")))
    assert bench.kinds() == ["run_tests", "run_tests", "tests-over-budget", "finish"]
    assert (result.spent.tool_calls, result.spent.public_test_runs, bench.tests.runs) == (3, 2, 2)


@pytest.mark.parametrize(
    ("name", "arguments", "kind"),
    [
        ("grep", "{}", "unknown-tool"),
        ("read_file", "{'path'}", "not-json"),
        ("read_file", "[]", "not-an-object"),
        ("read_file", "{}", "bad-arguments"),
        ("read_file", '{"path":"nowhere.py"}', "read_file-refused"),
        ("read_file", '{"path":"/etc/passwd"}', "read_file-refused"),
        ("read_file", '{"path":"../x"}', "read_file-refused"),
        ("read_file", '{"path":".git/config"}', "read_file-refused"),
        ("read_file", '{"path":"pkg/calc.py/"}', "read_file-refused"),
        ("apply_patch", '{"diff":"nothing"}', "apply_patch-refused"),
        ("search", '{"query":"x","mode":"regex"}', "unknown-tool"),
    ],
)
def test_every_call_but_finish_counts_once_whatever_becomes_of_it(
    bench: Any, make_call: Call, make_reply: Reply, name: str, arguments: str, kind: str
) -> None:
    result, script = bench.run(make_reply(RawToolCall("", name, arguments)), make_reply(make_call("finish")))
    assert bench.kinds() == [kind, "finish"]
    assert result.spent.tool_calls == 1
    assert bench.workspace.edited() == ()
    assert script.seen[1][-1]["role"] == "tool"


def test_s04_a_long_answer_is_cut_and_says_by_how_much(
    bench: Any, make_call: Call, make_reply: Reply
) -> None:
    added = "".join(f"+    # {'x' * 990}\n" for _ in range(27))
    diff = (
        f"--- a/pkg/calc.py\n+++ b/pkg/calc.py\n@@ -1,2 +1,29 @@\n def add(a, b):\n{added}     return a - b\n"
    )
    _, script = bench.run(
        make_reply(make_call("apply_patch", diff=diff)),
        make_reply(make_call("read_file", path="pkg/calc.py")),
        make_reply(make_call("finish")),
    )
    shown = script.seen[2][-1]["content"]
    assert shown.endswith(" characters of this answer]")
    assert len(shown) < 24_000 + 60


def test_c12a_calls_of_one_reply_run_in_order_with_one_answer_each(
    bench: Any, make_call: Call, make_reply: Reply, fix: str
) -> None:
    calls = [make_call("apply_patch", diff="broken"), make_call("apply_patch", diff=fix), make_call("finish")]
    result, _ = bench.run(make_reply(*calls))
    assert bench.kinds() == ["apply_patch-refused", "apply_patch", "finish"]
    assert result.spent.model_calls == 1
    assert bench.workspace.edited() == ("pkg/calc.py",)


def test_c12b_repeated_and_empty_ids_become_distinct_ones(
    bench: Any, make_call: Call, make_reply: Reply
) -> None:
    calls = [make_call("read_file", _id=name, path="pkg/calc.py") for name in ("same", "same", "")]
    _, script = bench.run(make_reply(*calls), make_reply(make_call("finish")))
    sent = script.seen[1]
    made = [c["id"] for c in sent[2]["tool_calls"]]
    assert len(set(made)) == 3
    assert [m["tool_call_id"] for m in sent if m["role"] == "tool"] == made


def test_c12d_a_patch_after_finish_is_not_executed(
    bench: Any, make_call: Call, make_reply: Reply, fix: str
) -> None:
    result, _ = bench.run(make_reply(make_call("finish"), make_call("apply_patch", diff=fix)))
    assert bench.kinds() == ["finish", "after-finish"]
    assert bench.workspace.edited() == ()
    assert result.spent.tool_calls == 0


def test_c12e_sixty_calls_in_one_reply_are_counted_and_twelve_are_executed(
    bench: Any, make_call: Call, make_reply: Reply
) -> None:
    result, script = bench.run(make_reply(*[make_call("read_file", path="pkg/calc.py")] * 60))
    assert bench.kinds() == ["read_file"] * 12 + ["too-many-calls"] * 48
    assert result.spent.tool_calls == 60
    assert result.reason is EndReason.TOOL_CALLS_SPENT
    assert len(script.seen) == 1


def test_finish_in_the_reply_that_spends_the_last_call_counts_as_finished(
    bench: Any, make_call: Call, make_reply: Reply
) -> None:
    read = make_call("read_file", path="pkg/calc.py")
    result, _ = bench.run(*[make_reply(read)] * 11, make_reply(read, make_call("finish")))
    assert result.reason is EndReason.FINISHED
    assert result.spent.tool_calls == 12


def test_a_call_beyond_the_budget_in_one_reply_is_not_executed(
    bench: Any, make_call: Call, make_reply: Reply, fix: str
) -> None:
    read = make_call("read_file", path="pkg/calc.py")
    result, _ = bench.run(*[make_reply(read)] * 11, make_reply(read, make_call("apply_patch", diff=fix)))
    assert bench.kinds()[-1] == "over-budget"
    assert bench.workspace.edited() == ()
    assert result.reason is EndReason.TOOL_CALLS_SPENT


def test_c06a_a_reply_cut_at_its_limit_executes_nothing_and_is_told_so(
    bench: Any, make_call: Call, make_reply: Reply, fix: str
) -> None:
    cut = make_reply(make_call("apply_patch", diff=fix), finish="length")
    result, script = bench.run(cut, make_reply(make_call("finish")))
    assert bench.workspace.edited() == ()
    assert result.tally == {"cut-at-limit": 1, "finish": 1}
    assert result.spent.tool_calls == 0
    assert "tool_calls" not in script.seen[1][2]
    assert script.seen[1][3]["content"].startswith("The reply was cut at its length limit")


@pytest.mark.parametrize(
    "content",
    [
        '<tool_call>\n{"name":"finish","arguments":{}}\n</tool_call>',
        '```json\n{"name":"finish","arguments":{}}\n```',
        "<function=finish></function>",
        "[TOOL_REQUEST]{}[END_TOOL_REQUEST]",
    ],
)
def test_c04_a_call_written_as_text_is_not_executed(
    bench: Any, make_call: Call, make_reply: Reply, content: str
) -> None:
    result, script = bench.run(make_reply(content=content), make_reply(make_call("finish")))
    assert result.spent.model_calls == 2
    assert script.seen[1][-1]["content"] == bench.wording.prompts.interactive.reminder


def test_c05a_a_call_inside_reasoning_is_not_executed(bench: Any, make_call: Call, make_reply: Reply) -> None:
    thinking = ChatReply("", '<tool_call>{"name":"finish"}</tool_call>', (), "stop", None, "m", {})
    result, script = bench.run(thinking, make_reply(make_call("finish")))
    assert result.tally == {"finish": 1, "reasoning-only": 1}
    assert "tool_call" not in str(script.seen[1])


def test_usage_that_is_unknown_once_makes_the_sum_unknown(
    bench: Any, make_call: Call, make_reply: Reply
) -> None:
    unknown = ChatReply("hm", "", (), "stop", None, "m", {})
    result, _ = bench.run(unknown, make_reply(make_call("finish")))
    assert result.tokens.prompt is None
    assert result.tokens.completion is None


def test_a_call_that_the_host_could_not_parse_is_the_model_s(
    bench: Any, make_call: Call, make_reply: Reply
) -> None:
    result, script = bench.run(UnparsableCall("no JSON", {}), make_reply(make_call("finish")))
    assert result.tally == {"finish": 1, "unparsable-call": 1}
    assert result.spent.model_calls == 2
    assert "not JSON" in script.seen[1][-1]["content"]


@pytest.mark.parametrize(
    ("name", "arguments"), [("read_file", "{'p"), ("", "{}"), ("a b", "{}"), ("x" * 80, "{}")]
)
def test_c13_what_hosts_cannot_read_again_is_quoted_in_later_requests(
    bench: Any, make_call: Call, make_reply: Reply, name: str, arguments: str
) -> None:
    import json
    import re

    _, script = bench.run(make_reply(RawToolCall("1", name, arguments)), make_reply(make_call("finish")))
    function = script.seen[1][2]["tool_calls"][0]["function"]
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", function["name"])
    assert isinstance(json.loads(function["arguments"]), dict)
    assert arguments in json.loads(function["arguments"]).values() or name == function["name"]


def test_the_agent_clock_ends_the_episode_and_the_edits_so_far_count(
    bench: Any, make_call: Call, make_reply: Reply, fix: str
) -> None:
    def slow(seconds_left: float) -> ChatReply:
        assert seconds_left == 1800
        bench.now[0] += 1800
        return make_reply(make_call("apply_patch", diff=fix))

    result, script = bench.run(slow)
    assert result.reason is EndReason.AGENT_CLOCK_SPENT
    assert len(script.seen) == 1
    assert bench.workspace.edited() == ("pkg/calc.py",)


def test_time_left_shrinks_by_what_model_and_tools_used(
    bench: Any, make_call: Call, make_reply: Reply
) -> None:
    left: list[float] = []

    def timed(seconds_left: float) -> ChatReply:
        left.append(seconds_left)
        bench.now[0] += 100
        return make_reply(make_call("read_file", path="pkg/calc.py"))

    bench.run(timed, timed, make_reply(make_call("finish")))
    assert left == [1800, 1700]


def test_a_reply_cut_by_the_clock_is_the_system_s_outcome(bench: Any) -> None:
    result, _ = bench.run(DeadlineReached({"content": "half"}))
    assert result.reason is EndReason.AGENT_CLOCK_SPENT
    assert result.tally == {"reply-cut-by-clock": 1}


def test_a_request_that_may_not_fit_is_not_sent(bench: Any, make_reply: Reply) -> None:
    bench.context_tokens = 8192 + 2000
    result, script = bench.run(make_reply(content="x", prompt_tokens=1990))
    assert result.reason is EndReason.CONTEXT_EXHAUSTED
    assert len(script.seen) == 1


def test_an_overflow_that_the_host_reports_ends_the_episode_and_is_counted(bench: Any) -> None:
    def overflow(_: float) -> ChatReply:
        raise InfrastructureFailure("n_keep >= n_ctx", kind="host-context-overflow")

    result, _ = bench.run(overflow)
    assert result.reason is EndReason.CONTEXT_EXHAUSTED
    assert result.tally == {"host-context-overflow": 1}


def test_c09c_a_call_that_the_host_dropped_is_counted_apart(
    bench: Any, make_call: Call, make_reply: Reply
) -> None:
    dropped = ChatReply("", "", (), "tool_calls", None, "m", {})
    result, _ = bench.run(dropped, make_reply(make_call("finish")))
    assert result.tally == {"call-dropped-by-host": 1, "finish": 1}


def test_a_failure_of_the_host_is_no_outcome(bench: Any) -> None:
    def lost(_: float) -> ChatReply:
        raise InfrastructureFailure("gone", kind="host-unreachable")

    with pytest.raises(InfrastructureFailure):
        bench.run(lost)
    assert not [record for record in bench.records if record["type"] == "end"]
