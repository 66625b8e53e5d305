"""Reading calls as local models write them: nothing is executed that is not exactly valid."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repairlab.agents.calls import Call, InvalidCall, parse_call
from repairlab.contract.wording import load_wording

ROOT = Path(__file__).resolve().parent.parent.parent
TOOLS = load_wording(ROOT / "contracts").tools
LIMIT = 262144


def parse(name: str, arguments: str) -> Call | InvalidCall:
    return parse_call(name, arguments, TOOLS, LIMIT)


@pytest.mark.parametrize(
    ("arguments", "kind", "words"),
    [
        pytest.param("{'path': 'a'}", "not-json", "line 1, column 2", id="c01a-single-quotes"),
        pytest.param('{"path":"a"}}', "not-json", "Extra data", id="c01b-extra-brace"),
        pytest.param('{"path":"a",}', "not-json", "column", id="c01c-trailing-comma"),
        pytest.param("", "bad-arguments", "'path' is missing", id="c01d-empty"),
        pytest.param("null", "bad-arguments", "'path' is missing", id="c01e-null"),
        pytest.param('["a"]', "not-an-object", "list", id="c01f-array"),
        pytest.param('{"path":"a\nb"}', "not-json", "control character", id="c01g-raw-newline"),
        pytest.param('{"path":None}', "not-json", "column", id="c01h-python-none"),
        pytest.param('{"path":"a","start_line":NaN}', "not-json", "NaN is no JSON number", id="c01i-nan"),
        pytest.param('{"path":"a"}{"path":"b"}', "not-json", "Extra data", id="c01j-two-objects"),
        pytest.param("<parameter=path>a</parameter>", "not-json", "column 1", id="c02-parameter-tags"),
        pytest.param('"{\\"path\\":\\"a\\"}"', "not-an-object", "str", id="c03a-double-encoded"),
        pytest.param(
            '{"path":"a","start_line":"12"}', "bad-arguments", "not a string", id="c11a-int-as-string"
        ),
        pytest.param(
            '{"path":"a","start_line":true}', "bad-arguments", "true or false", id="c11b-bool-for-int"
        ),
        pytest.param('{"path":"a","start_line":1.0}', "bad-arguments", "not a number", id="c11c-float"),
        pytest.param('{"path":"a","start_line":1e400}', "bad-arguments", "not a number", id="infinity"),
        pytest.param(f'{{"path":"a","start_line":{10**30}}}', "bad-arguments", "range", id="c11d-huge-int"),
        pytest.param('{"path":"a","colour":1}', "bad-arguments", "unknown argument", id="c11f-extra-key"),
        pytest.param('{"start_line":1}', "bad-arguments", "'path' is missing", id="c11g-missing-key"),
        pytest.param('{"path":["a"]}', "bad-arguments", "a list or an object", id="c11h-list-for-string"),
        pytest.param('{"path":"a","end_line":null}', "bad-arguments", "not null", id="c11i-null-optional"),
        pytest.param(
            '{"name":"read_file","arguments":{}}', "bad-arguments", "unknown", id="c11j-nested-name"
        ),
        pytest.param('{"path":"a\\u0000b"}', "bad-arguments", "NUL", id="c11k-path-nul"),
        pytest.param('{"path":"a","path":"b"}', "not-json", "occurs twice", id="c11o-duplicate-keys"),
        pytest.param('{"path":"\\ud800"}', "bad-arguments", "surrogate", id="half-a-surrogate-pair"),
        pytest.param('{"path":' + "[" * 100_000, "not-json", "valid JSON", id="nesting-without-end"),
        pytest.param(json.dumps({"path": "a" * LIMIT}), "too-large", "262144 bytes", id="c13-huge-arguments"),
    ],
)
def test_a_call_that_is_not_exactly_valid_is_answered_and_not_executed(
    arguments: str, kind: str, words: str
) -> None:
    found = parse("read_file", arguments)
    assert isinstance(found, InvalidCall)
    assert found.kind == kind
    assert words in found.message
    assert len(found.message) < 400


@pytest.mark.parametrize(
    "name",
    ["grep", "Read_File", "functions.read_file", "read_file<|channel|>commentary", "", "read file",
     "__class__", "read_fileapply_patch"],
)  # fmt: skip
def test_c08_an_odd_tool_name_lists_the_tools_and_runs_nothing(name: str) -> None:
    found = parse(name, "{}")
    assert isinstance(found, InvalidCall)
    assert found.kind == "unknown-tool"
    assert f"Tools: {', '.join(TOOLS)}." in found.message


@pytest.mark.parametrize("arguments", ["", "  ", "null", "{}"])
def test_c01_empty_arguments_are_fine_where_none_are_required(arguments: str) -> None:
    assert parse("run_tests", arguments) == Call("run_tests", {})


def test_a_valid_call_keeps_its_values() -> None:
    found = parse("read_file", '{"path":"a/b.py","start_line":3,"end_line":9}')
    assert found == Call("read_file", {"path": "a/b.py", "start_line": 3, "end_line": 9})


def test_a_choice_is_one_of_its_values() -> None:
    found = parse("search", '{"query":"x","mode":"fuzzy"}')
    assert isinstance(found, InvalidCall)
    assert "must be one of literal, substring, regex" in found.message


@given(st.sampled_from(sorted(TOOLS)), st.text())
def test_no_text_raises(name: str, arguments: str) -> None:
    assert isinstance(parse(name, arguments), Call | InvalidCall)


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
def test_a_diff_arrives_byte_for_byte(diff: str) -> None:
    assert parse("apply_patch", json.dumps({"diff": diff})) == Call("apply_patch", {"diff": diff})
