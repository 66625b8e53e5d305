"""The parts of the statement engine: what a fix rests on, what was shown, what is asked."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repairlab.hosts.chat import ChatReply, ChatRequest
from repairlab.hosts.client import LMStudioClient
from repairlab.hosts.emulator.engines.hashing import embed, parts_of
from repairlab.hosts.emulator.engines.queries import QUERIES, queries_of
from repairlab.hosts.emulator.engines.replaced import Line, Package, all_shown, needs_of
from repairlab.hosts.emulator.engines.shown import Place, lines_shown, places_in

READ = (
    "shop/order.py, lines 41 to 43 of 90 (one call shows at most 200):\n"
    "41\tdef total():\n42\t    return\n43\t"
)
SEARCH = (
    "3 matching lines in 2 files.\n\n1. shop/order.py (lines 8-10)\n   8 | a\n>  9 | b = 1\n  10 | 1\tx\n\n"
    "2. odd name.py (lines 1-1)\n> 1 | z"
)


def diff(body: str, path: str = "a.py", start: int = 10) -> str:
    signs = [line[0] for line in body.split("\n")]
    old, new = len(signs) - signs.count("+"), len(signs) - signs.count("-")
    return f"--- a/{path}\n+++ b/{path}\n@@ -{start},{old} +{start},{new} @@\n{body}\n"


def test_replaced_lines_are_needed_and_their_neighbours_are_not():
    assert needs_of(diff(" k\n-x\n-y\n+z\n k")) == (Line("a.py", 11, "x"), Line("a.py", 12, "y"))
    assert needs_of(diff(" k\n+z\n-x\n k")) == (Line("a.py", 11, "x"),)


def test_a_pure_insertion_needs_both_neighbours():
    assert needs_of(diff(" a\n b\n+new\n+more\n c")) == (Line("a.py", 11, "b"), Line("a.py", 12, "c"))
    assert needs_of(diff("+first\n b", start=1)) == (Line("a.py", 1, "b"),)
    assert needs_of(diff(" a\n+last")) == (Line("a.py", 10, "a"),)


def test_two_changes_in_one_hunk_are_counted_apart():
    body = " a\n-x\n+y\n b\n c\n+new\n d"
    assert needs_of(diff(body)) == (Line("a.py", 11, "x"), Line("a.py", 13, "c"), Line("a.py", 14, "d"))


def test_a_new_file_needs_its_package():
    created = (
        "diff --git a/p/n.py b/p/n.py\nnew file mode 100644\n--- /dev/null\n+++ b/p/n.py\n@@ -0,0 +1 @@\n+x\n"
    )
    assert needs_of(created) == (Package("p", is_new=False),)
    assert all_shown(needs_of(created), {"p/other.py": {}})
    assert not all_shown(needs_of(created), {"other.py": {}, "p/q/deep.py": {}})
    package = created + "diff --git a/p/__init__.py b/p/__init__.py\nnew file mode 100644\nindex 0..1\n"
    assert needs_of(package)[0].is_new  # type: ignore[union-attr]  # a package
    assert all_shown(needs_of(package), {"beside.py": {}})


def test_a_patch_that_rests_on_nothing_is_never_applied():
    assert not all_shown(needs_of(""), {"a.py": {1: "x"}})


def test_both_forms_of_results_are_read():
    shown = lines_shown([READ, SEARCH])
    assert shown["shop/order.py"] == {
        41: "def total():",
        42: "    return",
        43: "",
        8: "a",
        9: "b = 1",
        10: "1\tx",
    }
    assert shown["odd name.py"] == {1: "z"}


def test_a_line_counts_only_to_the_letter():
    needs = (Line("shop/order.py", 42, "    return"),)
    assert all_shown(needs, lines_shown([READ]))
    for other in ("    retur", "    return [cut: 3 characters]", "return"):
        assert not all_shown(needs, lines_shown([READ.replace("    return", other)]))
    assert not all_shown(needs, lines_shown([READ.replace("42\t", "52\t")]))
    assert not all_shown(needs, lines_shown([READ.replace("shop/order.py", "shop/orders.py")]))


def test_a_list_of_paths_shows_packages_and_places_but_no_lines():
    found = "2 files:\npkg/one.py\n- pkg/two.go"
    assert lines_shown([found]) == {"pkg/one.py": {}, "pkg/two.go": {}}
    assert places_in(found) == (Place("pkg/one.py", 1), Place("pkg/two.go", 1))
    assert places_in(SEARCH) == (Place("shop/order.py", 9), Place("odd name.py", 1))


def test_queries_follow_from_the_statement_alone_most_telling_first():
    statement = "The `Ledger.close()` fails: parse_date and readHeader see unexpected separators."
    assert queries_of(statement) == ("close", "parse_date", "readHeader", "separators", "unexpected")


@given(st.text(max_size=300))
def test_queries_are_few_distinct_and_one_line(statement: str):
    queries = queries_of(statement)
    assert queries == queries_of(statement)
    assert len(set(queries)) == len(queries) <= QUERIES
    assert all("\n" not in query and 3 <= len(query) <= 60 and query == query.strip() for query in queries)


SEARCHES: list[tuple[str, dict[str, Any]]] = [
    ("search", {"query": {"type": "string"}, "mode": {"type": "string", "enum": ["regex", "literal"]}}),
    ("search_text", {"pattern": {"type": "string"}}),
    ("find_files", {"name": {"type": "string"}}),
    ("dense", {"query": {"type": "string"}}),
    ("graph", {"symbol": {"type": "string"}}),
]


@pytest.mark.parametrize(("name", "properties"), SEARCHES)
def test_it_works_with_whatever_search_tool_is_offered(
    host: Any,
    client: LMStudioClient,
    request_for: Callable[..., ChatRequest],
    tools: tuple[dict[str, Any], ...],
    gold_patch: str,
    name: str,
    properties: dict[str, Any],
):
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    offered = {"type": "function", "function": {"name": name, "description": "-", "parameters": schema}}
    host.load("acme/statement", 65_536)
    request = request_for(model="acme/statement", tools=(offered, *tools[1:]))
    row = "            return None  # nothing ordered"
    answers = {
        name: "shop/order.py\n",
        "read_file": f"shop/order.py, lines 1 to 90 of 90:\n43\t{row}",
        "apply_patch": "Applied.",
    }
    made: list[tuple[str, dict[str, Any]]] = []
    messages = request.messages
    while not made or made[-1][0] != "finish":
        asked = request_for(model="acme/statement", tools=request.tools, messages=messages)
        reply = client.chat(asked, math.inf)
        assert isinstance(reply, ChatReply)
        (call,) = reply.tool_calls
        made.append((call.name, json.loads(call.arguments)))
        function = {"name": call.name, "arguments": call.arguments}
        calls = [{"id": "1", "type": "function", "function": function}]
        result = {"role": "tool", "tool_call_id": "1", "content": answers.get(call.name, "")}
        messages = (*messages, {"role": "assistant", "content": "", "tool_calls": calls}, result)
        assert len(made) <= 12
    assert [step for step, _ in made] == [name, "read_file", "apply_patch", "run_tests", "finish"]
    assert made[0][1].keys() == properties.keys()
    assert made[0][1].get("mode", "literal") == "literal"
    assert made[2][1] == {"diff": gold_patch}


def test_identifiers_fall_into_parts():
    assert parts_of("parse_HTTPHeader2 readAll") == {
        "parse": 1, "http": 1, "header": 1, "2": 1, "read": 1, "all": 1,
    }  # fmt: skip


@given(st.lists(st.text(max_size=40), min_size=1, max_size=8, unique=True))
def test_different_texts_have_different_unit_vectors(texts: list[str]):
    vectors = [tuple(embed(text)) for text in texts]
    assert len(set(vectors)) == len(texts)
    assert all(math.hypot(*vector) == pytest.approx(1.0, abs=1e-12) for vector in vectors)
