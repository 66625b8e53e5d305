"""Treatments that embed, end to end: swaps at a real emulated host, sealed cells, and their replay."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from repairlab.store.attempt import checksum_list
from repairlab.store.layout import ARTIFACTS, OUTCOME_SUMS, SUMS, TIMING

ROOT = Path(__file__).resolve().parent.parent.parent
NAME = "embedded-treatments"
EMBEDDER = "repairlab/hashing-embedder"
ARMS = ("H000", "H003", "H007", "H011", "H018", "A001", "A002")
INTERACTIVE = tuple(arm for arm in ARMS if arm != "A001")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, cache: Path, place_of: Callable[..., Any]) -> Any:
    """One task under every treatment with two calibration models."""
    study = tmp_path_factory.mktemp("treatments")
    for name in ("contracts", "experiments", "preregistration"):
        shutil.copytree(
            ROOT / name, study / name, ignore=shutil.ignore_patterns("*.freeze.json", "*.manifest.json")
        )
    path = study / "experiments" / f"{NAME}.toml"
    text = re.sub(
        r"tasks = \[.*?\]", 'tasks = ["ledgerline-text-round-trip"]', path.read_text(), flags=re.DOTALL
    )
    text = re.sub(r"models = \[.*?\]", 'models = ["FLOOR", "STATEMENT"]', text)
    path.write_text(text.replace("model_offsets = [0, 1, 2]", "model_offsets = [0, 1]"))
    place = place_of(study, cache)
    place.run("freeze", NAME)
    place.run("run", NAME, "--plain")
    return place


def cells(place: Any, *arms: str) -> list[Path]:
    return [cell for cell in place.cells(NAME) if cell.name.split(".")[1] in arms]


def records(cell: Path) -> list[Any]:
    return [json.loads(line) for line in (cell / "transcript.jsonl").read_text().splitlines()]


def first_request(cell: Path) -> Any:
    return next(entry["body"] for entry in records(cell) if entry["type"] == "request")


def timing(cell: Path) -> Any:
    return json.loads((cell / "timing.json").read_text())


def test_agent_and_embedder_are_never_resident_together(place: Any) -> None:
    """Told by the bodies of the requests, and by every list of models that the host gave."""
    loads = 0
    for cell in cells(place, *ARMS):
        resident: set[str] = set()
        for exchange in timing(cell)["exchanges"]:
            if exchange["path"].endswith("/unload"):
                resident.discard(exchange["request"]["instance_id"])
            elif exchange["path"].endswith("/load"):
                assert not resident, cell.name
                resident.add(exchange["request"]["model"])
                loads += 1
            elif exchange["path"] == "/api/v1/models":
                listed = [m["key"] for m in json.loads(exchange["reply"])["models"] if m["loaded_instances"]]
                assert len(listed) <= 1, cell.name
            elif exchange["path"] == "/v1/embeddings":
                assert resident == {EMBEDDER}
            elif exchange["path"] == "/v1/chat/completions":
                assert EMBEDDER not in resident
    assert loads > len(ARMS) * 2


def test_each_distinct_query_is_embedded_once_and_each_change_is_on_record(place: Any) -> None:
    for cell in cells(place, "H003", "H007", "H011"):
        entries = records(cell)
        queries = [entry["query"] for entry in entries if entry["type"] == "query-vector"]
        assert len(queries) == len(set(queries))
        changes = [entry["to"] for entry in entries if entry["type"] == "transition"]
        assert changes == (["embedder", "agent"] * len(changes))[: len(changes)]
        assert changes == [swap["to"] for swap in timing(cell)["swaps"]]
        assert bool(queries) == bool(changes)
    assert any(records(cell)[-1]["n"] > 10 for cell in cells(place, "H011"))


def test_treatments_without_dense_retrieval_never_swap(place: Any) -> None:
    stages = {"stage-shown", "stage-taken", "validation"}
    for cell in cells(place, "H000", "H018", "A001", "A002"):
        assert {entry["type"] for entry in records(cell)} <= {"request", "reply", "call", "end"} | stages
        assert timing(cell)["swaps"] == []
        assert json.loads((cell / "cell.json").read_text())["facts"]["vectors"] is None


def test_changes_of_residency_are_kept_off_the_agent_s_clock(place: Any) -> None:
    for cell in cells(place, "H003", "H007"):
        facts = timing(cell)
        assert facts["agent_seconds"] <= facts["phases_seconds"]["agent"] + 0.001
        spent = sum(swap["seconds"] for swap in facts["swaps"])
        assert 0 < spent <= facts["phases_seconds"]["residency"]


def test_first_requests_differ_in_tools_and_the_oracle_slot_alone(place: Any) -> None:
    for model in ("FLOOR", "STATEMENT"):
        firsts = {
            c.name.split(".")[1]: first_request(c) for c in cells(place, *INTERACTIVE) if model in c.name
        }
        plain = firsts["H000"]
        common = ("read_file", "apply_patch", "run_tests", "finish")
        for arm, body in firsts.items():
            assert body["messages"][0] == plain["messages"][0]
            assert (body["messages"] == plain["messages"]) == (arm != "H018")
            assert {key: value for key, value in body.items() if key not in ("messages", "tools")} == {
                key: value for key, value in plain.items() if key not in ("messages", "tools")
            }
            shared = [tool for tool in body["tools"] if tool["function"]["name"] in common]
            assert shared == [tool for tool in plain["tools"] if tool["function"]["name"] in common]


def test_stages_differ_from_the_other_treatments_in_declared_slots_alone(place: Any) -> None:
    prompts = place.study / "contracts" / "prompts"

    def text(name: str) -> str:
        return (prompts / name).read_text().removesuffix("\n")

    for model in ("FLOOR", "STATEMENT"):
        plain, staged = (
            first_request(c) for arm in ("H000", "A001") for c in cells(place, arm) if model in c.name
        )
        system, task = staged["messages"]
        for name in ("access", "conduct"):
            system["content"] = system["content"].replace(
                text(f"staged/{name}.txt"), text(f"interactive/{name}.txt")
            )
        end = "\n</statement>\n\n"
        before, _, _ = task["content"].partition(end)
        _, _, budgets = plain["messages"][1]["content"].partition(end)
        task["content"] = f"{before}{end}{budgets}"
        assert "tools" not in staged
        assert staged == {key: value for key, value in plain.items() if key != "tools"}


def test_every_file_shown_says_which_component_ranked_it(place: Any) -> None:
    allowed = {
        "H000": {"exact"}, "A002": {"exact"}, "H003": {"exact", "dense"},
        "H007": {"exact", "lexical", "symbols", "dense"},
        "H011": {"exact", "lexical", "symbols", "dense", "graph"},
    }  # fmt: skip
    for arm, components in allowed.items():
        shown = [s for c in cells(place, arm) for r in records(c) for s in r.get("shown", [])]
        assert shown
        assert all(one["components"] and set(one["components"]) <= components for one in shown)


def test_every_cell_replays_without_a_host(place: Any) -> None:
    done = place.run("audit", NAME, "--all", "--no-tests", "--plain")
    assert f"{len(ARMS) * 2} cells replayed, 0 differ" in done.stdout


def forge_key(entry: Any) -> None:
    entry["verified"]["key"] = "another/embedder"


FORGERIES: dict[str, tuple[str, Callable[[Any], None]]] = {
    "H003.FLOOR": ("query-vector", lambda entry: entry.update(query="another")),
    "H003.STATEMENT": ("query-vector", lambda entry: entry.update(text="another")),
    "H007.FLOOR": ("transition", forge_key),
    "H007.STATEMENT": ("transition", lambda entry: entry.update(to="agent")),
}


def test_each_forged_swap_or_query_is_found_by_the_replay(
    place: Any, place_of: Callable[..., Any], tmp_path: Path
) -> None:
    study = tmp_path / "study"
    shutil.copytree(place.study, study)
    for path in (study / "raw").rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    copied = place_of(study, place.cache)
    for name, (kind, change) in FORGERIES.items():
        (cell,) = (cell for cell in copied.cells(NAME) if f".{name}." in cell.name)
        entries = records(cell)
        change(next(entry for entry in entries if entry["type"] == kind))
        text = "".join(json.dumps(e, sort_keys=True, separators=(",", ":")) + "\n" for e in entries)
        (cell / "transcript.jsonl").write_text(text)
        (cell / OUTCOME_SUMS).write_bytes(checksum_list(cell, sorted(ARTIFACTS)))
        (cell / SUMS).write_bytes(checksum_list(cell, sorted([*ARTIFACTS, TIMING, OUTCOME_SUMS])))
    done = copied.run("audit", NAME, "--all", "--no-tests", "--plain", expect=1)
    found = {line for line in done.stdout.splitlines() if "DIFFERS: transcript" in line}
    assert len(found) == len(FORGERIES)
    assert all(any(f".{name}." in line for line in found) for name in FORGERIES)
