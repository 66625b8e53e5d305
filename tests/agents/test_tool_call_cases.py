"""Tool calls as local models and their hosts write them, the whole way: socket, client, loop, workspace.

Each test is named after its case in docs/cases.md. A host answers with the case and then with ``finish``, in
the bytes given here; everything behind the socket is real.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from repairlab.agents.loop import EpisodeResult
from repairlab.contract.errors import InfrastructureFailure
from repairlab.contract.failures import load_failures
from repairlab.contract.outcome import EndReason
from repairlab.hosts.chat import ChatReply
from repairlab.hosts.client import LMStudioClient
from repairlab.hosts.completion import read_completion
from repairlab.hosts.emulator.spawn import EmulatorProcess
from repairlab.hosts.facts import VerifiedFacts
from repairlab.hosts.failures import FailureRules
from repairlab.hosts.observe import conditions_in
from repairlab.hosts.transport import Patience
from repairlab.runner.model import HostModel, Sampling

ROOT = Path(__file__).resolve().parents[2]
CHAT = "POST /v1/chat/completions"
MODEL = "acme/agent-9b"
CONTEXT = 65_536
READ = '{"path":"pkg/calc.py"}'
RULES = FailureRules(load_failures(ROOT / "contracts")).at("run")
VERIFIED = VerifiedFacts(
    key=MODEL,
    kind="llm",
    instance_id=MODEL,
    context_tokens=CONTEXT,
    max_context_tokens=CONTEXT,
    display_name=None,
    architecture=None,
    format=None,
    quantization=None,
    selected_variant=None,
    reasoning_default=None,
    instance_config={"context_length": CONTEXT},
    inference_ids=(MODEL,),
)
Calls = list[tuple[str, str, Any]]
"""Id, name and arguments as a host gives them."""


def body(
    *calls: tuple[str, str, Any], finish: str = "", usage: tuple[int, int] = (900, 40), **message: Any
) -> Any:
    """A reply that is not streamed."""
    entries = [
        {"id": name_id, "type": "function", "function": {"name": name, "arguments": arguments}}
        for name_id, name, arguments in calls
    ]
    whole: dict[str, Any] = {"role": "assistant", "content": None, **message}
    if entries:
        whole["tool_calls"] = entries
    reason = finish or ("tool_calls" if entries else "stop")
    return {
        "id": "chatcmpl-x",
        "object": "chat.completion",
        "created": 1,
        "model": MODEL,
        "choices": [{"index": 0, "logprobs": None, "finish_reason": reason, "message": whole}],
        "usage": {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)},
    }


FINISH = body(("end", "finish", '{"summary":"done"}'), usage=(100_000, 9))
"""Its prompt is longer than any before, as prompts of a conversation that grows must be."""


def frame(finish: str | None = None, **delta: Any) -> str:
    chunk = {"id": "x", "model": MODEL, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
    return f"data: {json.dumps(chunk)}\n\n"


def part(index: int, name_id: str | None, name: str | None, arguments: str) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments} if name else {"arguments": arguments}
    header = {"id": name_id, "type": "function"} if name_id else {}
    return {"tool_calls": [{"index": index, **header, "function": function}]}


def classes(reply: Any) -> dict[str, str]:
    """What the frozen table makes of a reply in a run: condition to class."""
    read = read_completion(reply)
    assert isinstance(read, ChatReply)
    return {one: RULES.of(one).in_run for one in conditions_in(read, CONTEXT)}


@dataclass
class Wire:
    """An emulated host that gives prepared replies, and an episode at it."""

    url: str
    bench: Any

    def answers(self, *replies: Any) -> None:
        """Give each of `replies` once, in order, and then ``finish``. A text is the bytes of a stream."""
        faults = [
            {"route": CHAT, "from": number, "times": 1, "do": instead(reply)}
            for number, reply in enumerate(replies, start=1)
        ]
        faults.append({"route": CHAT, "from": len(replies) + 1, "do": instead(FINISH)})
        answered = httpx.post(f"{self.url}/emulator/control", json={"faults": faults}, trust_env=False)
        assert answered.status_code == 200, answered.text

    def episode(self, *replies: Any) -> EpisodeResult:
        """One whole episode."""
        self.answers(*replies)
        with LMStudioClient(
            self.url, None, time.monotonic, patience=Patience(silence=10.0), rules=RULES
        ) as client:
            sampling = Sampling(0.0, 1.0, 0, 8192)
            model = HostModel(client, RULES, VERIFIED, sampling, time.monotonic, self.bench.records.append)
            result: EpisodeResult = self.bench.converse(model)
        return result

    def of_type(self, kind: str) -> list[Any]:
        return [record for record in self.bench.records if record["type"] == kind]

    def later(self) -> list[Any]:
        """What the second request added to the first."""
        first, second = (request["body"]["messages"] for request in self.of_type("request")[:2])
        return second[len(first) :]

    def nothing_was_done(self) -> bool:
        """No file was read or edited, and no test was run."""
        calls = self.of_type("call")
        untouched = not any(key in call for call in calls for key in ("read", "shown"))
        return untouched and self.bench.workspace.edited() == () and self.bench.tests.runs == 0


def instead(reply: Any) -> dict[str, Any]:
    streamed = isinstance(reply, str)
    kind = "text/event-stream" if streamed else "application/json"
    text = reply if streamed else json.dumps(reply)
    return {"kind": "reply-instead", "status": 200, "content_type": kind, "body": text}


@pytest.fixture(scope="module")
def emulator() -> Iterator[EmulatorProcess]:
    with EmulatorProcess(control=True) as process:
        yield process


@pytest.fixture
def wire(emulator: EmulatorProcess, bench: Any) -> Wire:
    return Wire(emulator.url, bench)


def refused(wire: Wire, name: str, arguments: Any, kind: str, words: str, *seen: str) -> None:
    """One call is counted, answered and not executed; the next request is one that hosts accept."""
    reply = body(("call_0", name, arguments))
    assert classes(reply) == dict.fromkeys(seen, "model")
    result = wire.episode(reply)
    assert result.reason is EndReason.FINISHED
    assert result.tally == {kind: 1, "finish": 1}
    assert (result.spent.model_calls, result.spent.tool_calls) == (2, 1)
    assert wire.nothing_was_done()
    assert wire.of_type("reply")[0]["body"] == reply
    asked, answer = wire.later()
    assert words in answer["content"]
    assert len(answer["content"]) < 400
    (sent,) = asked["tool_calls"]
    assert isinstance(json.loads(sent["function"]["arguments"]), dict)
    assert sent["id"] == answer["tool_call_id"]


@pytest.mark.parametrize(
    ("arguments", "kind", "words", "seen"),
    [
        pytest.param("{'path': 'a'}", "not-json", "line 1, column 2", True, id="c01a-single-quotes"),
        pytest.param('{"path":"a"}}', "not-json", "Extra data", True, id="c01b-extra-brace"),
        pytest.param('{"path":"a",}', "not-json", "column", True, id="c01c-trailing-comma"),
        pytest.param("", "bad-arguments", "'path' is missing", False, id="c01d-empty-text"),
        pytest.param("null", "bad-arguments", "'path' is missing", True, id="c01e-null"),
        pytest.param('["a"]', "not-an-object", "are a list", True, id="c01f-array"),
        pytest.param('{"path":"a\nb"}', "not-json", "control character", True, id="c01g-raw-newline"),
        pytest.param('{"path":None,"all":True}', "not-json", "column", True, id="c01h-none-and-true"),
        pytest.param('{"path":"a","end_line":NaN}', "not-json", "NaN is no JSON", False, id="c01i-nan"),
        pytest.param('{"path":"a"}{"path":"b"}', "not-json", "Extra data", True, id="c01j-two-objects"),
    ],
)
def test_c01_arguments_that_are_not_json_are_answered_and_never_repaired(
    wire: Wire, arguments: str, kind: str, words: str, seen: bool
) -> None:
    refused(wire, "read_file", arguments, kind, words, *(["arguments-not-json"] if seen else []))


@pytest.mark.parametrize("arguments", ["", "null"])
def test_c01_no_arguments_are_none_for_a_tool_that_requires_none(wire: Wire, arguments: str) -> None:
    result = wire.episode(body(("call_0", "run_tests", arguments)))
    assert result.tally == {"run_tests": 1, "finish": 1}
    assert wire.bench.tests.runs == 1


def test_c02_parameters_in_tags_are_counted_as_no_json(wire: Wire) -> None:
    tags = "<parameter=path>pkg/calc.py</parameter><parameter=start_line>1</parameter>"
    refused(wire, "read_file", tags, "not-json", "line 1, column 1", "arguments-not-json")


def test_c03a_arguments_encoded_twice_are_refused(wire: Wire) -> None:
    refused(wire, "read_file", json.dumps(READ), "not-an-object", "are a str", "arguments-not-json")


def test_c03b_arguments_as_an_object_are_taken_as_they_are_and_counted(wire: Wire) -> None:
    result = wire.episode(body(("call_0", "read_file", {"path": "pkg/calc.py"})))
    assert result.tally == {"arguments-as-object": 1, "read_file": 1, "finish": 1}
    assert "def add" in wire.later()[1]["content"]


def test_c03c_a_diff_whose_line_ends_are_two_characters_is_refused_and_not_guessed_at(wire: Wire) -> None:
    diff = "--- a/pkg/calc.py\\n+++ b/pkg/calc.py\\n@@ -1 +1 @@\\n-x\\n+y\\n"
    result = wire.episode(body(("call_0", "apply_patch", json.dumps({"diff": diff}))))
    assert result.tally == {"apply_patch-refused": 1, "finish": 1}
    assert wire.nothing_was_done()
    assert "one line" in wire.later()[1]["content"]


NAMED = '{"name": "read_file", "arguments": {"path": "pkg/calc.py"}}'


@pytest.mark.parametrize(
    ("content", "seen"),
    [
        pytest.param(f"I look.\n<tool_call>\n{NAMED}\n</tool_call>", True, id="c04a-tags"),
        pytest.param(f"<tool_call>\n{NAMED}", True, id="c04b-unclosed-tag"),
        pytest.param(f"```json\n{NAMED}\n```", False, id="c04c-fence"),
        pytest.param(
            "<function=read_file>\n<parameter=path>\npkg/calc.py\n</parameter>\n</function>\n</tool_call>",
            True,
            id="c04d-function-tag",
        ),
        pytest.param(
            'docs/agent.md holds <tool_call>{"name":"apply_patch"}</tool_call>, which I quote.',
            True,
            id="c04e-quoted",
        ),
    ],
)
def test_c04_a_call_in_the_text_gets_the_reminder_whoever_wrote_it(
    wire: Wire, content: str, seen: bool
) -> None:
    reply = body(content=content)
    assert classes(reply) == ({"call-in-content": "model"} if seen else {})
    result = wire.episode(reply)
    assert result.tally == {"reply-without-call": 1, "finish": 1}
    assert (result.spent.model_calls, result.spent.tool_calls) == (2, 0)
    assert wire.nothing_was_done()
    assert [one["content"] for one in wire.later()] == [
        content,
        wire.bench.wording.prompts.interactive.reminder,
    ]


THOUGHT = '<think>Maybe <tool_call>{"name":"apply_patch"}</tool_call>, but first I read.</think>'
ONLY_CLOSED = f"some hidden thoughts ...\n</think>\n\n{NAMED}"


@pytest.mark.parametrize(
    ("content", "kept", "seen"),
    [
        pytest.param(
            f"{THOUGHT}Let me read it.",
            "Let me read it.",
            {"call-in-content", "think-tags"},
            id="c05a-inside-think",
        ),
        pytest.param(ONLY_CLOSED, ONLY_CLOSED, {"think-tags"}, id="c05b-only-the-closing-tag"),
    ],
)  # fmt: skip
def test_c05_nothing_inside_thinking_is_executed_and_a_closed_block_is_not_sent_back(
    wire: Wire, content: str, kept: str, seen: set[str]
) -> None:
    reply = body(content=content)
    assert classes(reply) == dict.fromkeys(seen, "model")
    result = wire.episode(reply)
    assert result.tally == {"reply-without-call": 1, "finish": 1}
    assert wire.nothing_was_done()
    assert wire.later()[0]["content"] == kept
    assert wire.of_type("reply")[0]["body"] == reply


def test_c05c_reasoning_alone_is_an_empty_turn_and_its_usage_is_unknown(wire: Wire) -> None:
    reply = body(content="", reasoning_content="The answer is to read and then to patch.", usage=(0, 0))
    assert classes(reply) == {"reasoning-only": "model"}
    result = wire.episode(reply)
    assert result.tally == {"reasoning-only": 1, "finish": 1}
    assert (result.tokens.prompt, result.tokens.completion) == (None, None)
    assert "The answer is" not in json.dumps(wire.of_type("request"))


def test_c05d_a_real_call_after_thinking_is_executed(wire: Wire) -> None:
    reply = body(("call_0", "read_file", READ), content="<think>short</think>")
    assert classes(reply) == {"think-tags": "model"}
    result = wire.episode(reply)
    assert result.tally == {"read_file": 1, "finish": 1}
    asked, answer = wire.later()
    assert asked["content"] == ""
    assert "def add" in answer["content"]


CUT = '{"diff":"--- a/pkg/calc.py\\n+++ b/pkg/calc.py\\n@@ -1,3 +1,3 @@\\n def add(a, b):\\n-    ret'


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(body(("call_0", "apply_patch", CUT), finish="length"), id="c06a-in-mid-arguments"),
        pytest.param(body(("call_0", "read_file", READ), finish="length"), id="c06a-after-a-whole-call"),
        pytest.param(
            body(content="", reasoning_content="thinking " * 60, finish="length"), id="c06c-thinking"
        ),
    ],
)
def test_c06_a_reply_cut_at_the_limit_executes_nothing_and_is_told_so(wire: Wire, reply: Any) -> None:
    assert classes(reply) == {"reply-cut": "model"}
    result = wire.episode(reply)
    assert result.tally == {"cut-at-limit": 1, "finish": 1}
    assert wire.nothing_was_done()
    said, told = wire.later()
    assert "tool_calls" not in said
    assert told["content"].startswith("The reply was cut at its length limit")


def test_c06b_a_cut_call_whose_host_says_tool_calls_is_no_json(wire: Wire) -> None:
    refused(wire, "apply_patch", CUT, "not-json", "Unterminated string", "arguments-not-json")


def test_c07a_two_calls_under_one_index_are_two(wire: Wire) -> None:
    stream = (
        frame(**part(0, "call_a", "read_file", READ))
        + frame(**part(0, "call_b", "read_file", '{"path":"tests/test_calc.py"}'))
        + frame("tool_calls")
        + "data: [DONE]\n\n"
    )
    assert wire.episode(stream).tally == {"read_file": 2, "finish": 1}
    assert ["def add" in one["content"] for one in wire.later()[1:]] == [True, False]


def test_c07b_interleaved_parts_go_to_their_own_calls(wire: Wire) -> None:
    stream = (
        frame(**part(0, "call_a", "read_file", '{"pa'))
        + frame(**part(1, "call_b", "read_file", '{"path":"tests'))
        + frame(**part(0, None, None, 'th":"pkg/calc.py"}'))
        + frame(**part(1, None, None, '/test_calc.py"}'))
        + frame("tool_calls")
        + "data: [DONE]\n\n"
    )
    assert wire.episode(stream).tally == {"read_file": 2, "finish": 1}
    assert ["def test_a" in one["content"] for one in wire.later()[1:]] == [False, True]


def test_c07d_a_stream_without_a_delta_is_an_empty_turn(wire: Wire) -> None:
    result = wire.episode(frame("stop") + "data: [DONE]\n\n")
    assert result.tally == {"empty-reply": 1, "finish": 1}
    assert result.tokens.prompt is None


def test_c07e_an_error_event_about_the_context_ends_the_episode_as_the_table_says(wire: Wire) -> None:
    error = 'event: error\ndata: {"error":{"message":"Context size has been exceeded."}}\n\n'
    result = wire.episode(error)
    assert RULES.of("context-overflow").in_run == "model"
    assert result.reason is EndReason.CONTEXT_EXHAUSTED
    assert result.tally == {"host-context-overflow": 1}


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        pytest.param(frame(**part(0, "a", "read_file", READ)), "host-stream-lost", id="c07c-stream-lost"),
        pytest.param('event: error\ndata: {"error":"boom"}\n\n', "host-error", id="c07e-another-error"),
        pytest.param(
            {"id": "x", "model": MODEL, "choices": [], "usage": {"prompt_tokens": 0}},
            "host-protocol",
            id="c09e-no-choices",
        ),
        pytest.param(
            body(("call_0", "read_file", READ)) | {"model": "some-other-model-q4"},
            "host-wrong-model",
            id="c09f-another-model",
        ),
    ],
)  # fmt: skip
def test_c07_c09_what_the_host_lost_or_took_from_another_is_no_model_turn(
    wire: Wire, reply: Any, kind: str
) -> None:
    with pytest.raises(InfrastructureFailure) as failure:
        wire.episode(reply)
    assert RULES.of_kind(failure.value.kind).in_run == "infrastructure"
    assert failure.value.kind == RULES.reclassified(InfrastructureFailure("", kind=kind)).kind
    assert wire.of_type("reply") == wire.of_type("call") == []
    assert wire.nothing_was_done()


@pytest.mark.parametrize(
    ("name", "seen"),
    [
        pytest.param("execute_python", (), id="c08a-unknown"),
        pytest.param("Read_File", (), id="c08b-case"),
        pytest.param("functions.read_file", (), id="c08c-namespaced"),
        pytest.param("read_file<|channel|>commentary", (), id="c08d-channel-token"),
        pytest.param("", ("call-without-name",), id="c08e-empty"),
        pytest.param(" read_file ", (), id="c08f-spaces"),
        pytest.param("__class__", (), id="c08g-private"),
        pytest.param("read_filesearch", (), id="c08h-two-names"),
    ],
)
def test_c08_a_name_that_is_not_exactly_a_tool_lists_the_tools(
    wire: Wire, name: str, seen: tuple[str, ...]
) -> None:
    tools = "Tools: read_file, apply_patch, run_tests, finish."
    refused(wire, name, READ, "unknown-tool", tools, *seen)


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(body(content="", usage=(900, 1)), id="c09a-empty-text"),
        pytest.param(body(content=None, usage=(900, 0)), id="c09b-null"),
    ],
)
def test_c09_an_empty_turn_is_counted_and_gets_the_reminder(wire: Wire, reply: Any) -> None:
    assert classes(reply) == {}
    result = wire.episode(reply)
    assert result.tally == {"empty-reply": 1, "finish": 1}
    assert wire.later()[-1]["content"] == wire.bench.wording.prompts.interactive.reminder


def test_c09c_a_call_that_the_server_dropped_is_asked_for_once_more_and_then_counted_apart(
    wire: Wire,
) -> None:
    dropped = body(finish="tool_calls", content="", usage=(900, 55))
    assert classes(dropped) == {"call-dropped": "model"}
    result = wire.episode(dropped, dropped)
    assert result.tally == {"call-dropped-by-host": 1, "finish": 1}
    assert [one["condition"] for one in wire.of_type("retry")] == ["call-dropped"]
    assert result.spent.model_calls == 2


def test_c09d_an_overflow_told_at_status_200_ends_the_episode(wire: Wire) -> None:
    told = "Trying to keep the first 9000 tokens, but the model has a context length of only 4096 tokens."
    result = wire.episode({"error": told})
    assert result.reason is EndReason.CONTEXT_EXHAUSTED
    assert result.tally == {"host-context-overflow": 1}


@pytest.mark.parametrize(
    "paths",
    [
        pytest.param(("pkg/calc.py",), id="c10-the-same-call"),
        pytest.param(("pkg/calc.py", "tests/test_calc.py"), id="c10b-two-calls-by-turns"),
    ],
)
def test_c10_endless_repeats_end_by_the_budget(wire: Wire, paths: tuple[str, ...]) -> None:
    replies = [
        body(
            ("call_0", "read_file", json.dumps({"path": paths[number % len(paths)]})), usage=(900 + number, 9)
        )
        for number in range(40)
    ]
    result = wire.episode(*replies)
    assert result.reason is EndReason.TOOL_CALLS_SPENT
    assert result.tally == {"read_file": 12}
    assert (result.spent.model_calls, result.spent.tool_calls) == (12, 12)


@pytest.mark.parametrize(
    ("arguments", "kind", "words"),
    [
        pytest.param('{"path":"a","start_line":"12"}', "bad-arguments", "not a string", id="c11a-text"),
        pytest.param('{"path":"a","start_line":true}', "bad-arguments", "not true or false", id="c11b-bool"),
        pytest.param('{"path":"a","start_line":1.0}', "bad-arguments", "not a number", id="c11c-float"),
        pytest.param(f'{{"path":"a","start_line":{10**30}}}', "bad-arguments", "range", id="c11d-huge"),
        pytest.param(
            '{"path":"pkg/calc.py","start_line":50,"end_line":10}',
            "read_file-refused",
            "end_line",
            id="c11e-end-before-start",
        ),
        pytest.param('{"path":"a","why":"to see"}', "bad-arguments", "argument 'why'", id="c11f-extra"),
        pytest.param('{"start_line":1}', "bad-arguments", "'path' is missing", id="c11g-missing"),
        pytest.param('{"path":["a","b"]}', "bad-arguments", "a list or an object", id="c11h-list"),
        pytest.param('{"path":"a","end_line":null}', "bad-arguments", "not null", id="c11i-null"),
        pytest.param(NAMED, "bad-arguments", "unknown argument 'name'", id="c11j-nested"),
        pytest.param('{"path":"a\\u0000.txt"}', "bad-arguments", "NUL", id="c11k-nul"),
        pytest.param('{"path":"/etc/hostname"}', "read_file-refused", "no file", id="c11l-absolute"),
        pytest.param('{"path":".git/config"}', "read_file-refused", "no file", id="c11m-git"),
        pytest.param('{"path":"pkg/"}', "read_file-refused", "no file", id="c11n-trailing-slash"),
        pytest.param('{"path":"a","path":"b"}', "not-json", "occurs twice", id="c11o-duplicate-keys"),
    ],
)  # fmt: skip
def test_c11_arguments_of_another_form_are_refused_without_coercion(
    wire: Wire, arguments: str, kind: str, words: str
) -> None:
    refused(wire, "read_file", arguments, kind, words)


def test_c12a_a_failed_patch_stops_no_later_call_of_the_reply(wire: Wire) -> None:
    calls: Calls = [
        ("call_0", "apply_patch", '{"diff":"not a diff"}'),
        ("call_1", "run_tests", "{}"),
        ("call_2", "finish", '{"summary":"s"}'),
    ]
    result = wire.episode(body(*calls))
    assert [call["kind"] for call in wire.of_type("call")] == ["apply_patch-refused", "run_tests", "finish"]
    assert (result.reason, result.spent.tool_calls) == (EndReason.FINISHED, 2)


@pytest.mark.parametrize(
    "ids",
    [
        pytest.param(("call_0", "call_0"), id="c12b-one-id-twice"),
        pytest.param(("", None), id="c12c-no-id"),
    ],
)
def test_c12_ids_are_made_unique_by_the_harness(wire: Wire, ids: tuple[Any, Any]) -> None:
    reply = body(*((one, "read_file", READ) for one in ids))
    for call in reply["choices"][0]["message"]["tool_calls"]:
        if call["id"] is None:
            del call["id"]
    assert wire.episode(reply).tally == {"read_file": 2, "finish": 1}
    asked, *answers = wire.later()
    made = [call["id"] for call in asked["tool_calls"]]
    assert len(set(made)) == 2
    assert [one["tool_call_id"] for one in answers] == made


def test_c12d_what_follows_finish_is_not_executed_and_said_so(wire: Wire, fix: str) -> None:
    calls: Calls = [("a", "finish", '{"summary":"s"}'), ("b", "apply_patch", json.dumps({"diff": fix}))]
    result = wire.episode(body(*calls))
    assert result.tally == {"after-finish": 1, "finish": 1}
    assert wire.of_type("call")[1]["text"] == "Not executed: the work had ended."
    assert wire.nothing_was_done()


def test_c12e_of_sixty_calls_twelve_are_executed_and_all_are_counted(wire: Wire) -> None:
    result = wire.episode(body(*((f"call_{number}", "read_file", READ) for number in range(60))))
    assert result.tally == {"read_file": 12, "too-many-calls": 48}
    assert (result.reason, result.spent.tool_calls) == (EndReason.TOOL_CALLS_SPENT, 60)


def test_c13_arguments_of_megabytes_are_refused_unread_and_not_sent_back(wire: Wire) -> None:
    """The reply is in the transcript whole, once; later requests name its size and digest."""
    lines = "".join(f"+{'y' * 62}\n" for _ in range(8 * 16_384))
    arguments = json.dumps(
        {"diff": f"--- a/pkg/calc.py\n+++ b/pkg/calc.py\n@@ -1 +1,{8 * 16_384} @@\n{lines}"}
    )
    started = time.monotonic()
    refused(wire, "apply_patch", arguments, "too-large", "larger than 262144 bytes")
    assert time.monotonic() - started < 5.0
    assert len(json.dumps(wire.later())) < 1000
    assert f"{len(arguments)} bytes, SHA-256 " in wire.later()[0]["tool_calls"][0]["function"]["arguments"]


def test_the_way_of_a_case_reads_what_a_good_call_asks_for(wire: Wire, make_call: Callable[..., Any]) -> None:
    """A control: were everything refused, the cases above would pass too."""
    result = wire.episode(body(("call_0", "read_file", READ)))
    assert result.tally == {"read_file": 1, "finish": 1}
    assert "def add" in wire.later()[1]["content"]
