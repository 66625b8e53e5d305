"""Every treatment, end to end: swaps at a real emulated host, sealed cells, their replay, and what leaks."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from repairlab.store.attempt import checksum_list
from repairlab.store.layout import ARTIFACTS, OUTCOME_SUMS, SUMS, TIMING

ROOT = Path(__file__).resolve().parent.parent.parent
NAME = "embedded-treatments"
EMBEDDER = "repairlab/hashing-embedder"
ARMS = ("H000", "H003", "H007", "H011", "H018", "A001", "A002")
MODELS = ("FLOOR", "NAVIGATOR", "STATEMENT")
INTERACTIVE = tuple(arm for arm in ARMS if arm != "A001")


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory, plant: Callable[[Path, Path], Any]) -> Any:
    """A study of one task, with secrets wherever no model may look."""
    study = tmp_path_factory.mktemp("treatments")
    for name in ("contracts", "experiments", "preregistration"):
        shutil.copytree(
            ROOT / name, study / name, ignore=shutil.ignore_patterns("*.freeze.json", "*.manifest.json")
        )
    path = study / "experiments" / f"{NAME}.toml"
    text = re.sub(
        r"tasks = \[.*?\]", 'tasks = ["ledgerline-text-round-trip"]', path.read_text(), flags=re.DOTALL
    )
    path.write_text(text.replace("allow_unsandboxed = true\n", ""))
    return plant(study, tmp_path_factory.mktemp("origins"))


@pytest.fixture(scope="module")
def place(planted: Any, cache: Path, place_of: Callable[..., Any]) -> Any:
    """The task under every treatment with every calibration model."""
    place = place_of(planted.study, cache)
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
    assert loads > len(ARMS) * len(MODELS)


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
        assert "vectors" not in json.loads((cell / "cell.json").read_text())["facts"]["indexes"]


def test_changes_of_residency_are_kept_off_the_agent_s_clock(place: Any) -> None:
    for cell in cells(place, "H003", "H007"):
        facts = timing(cell)
        assert facts["agent_seconds"] <= facts["phases_seconds"]["agent"] + 0.001
        spent = sum(swap["seconds"] for swap in facts["swaps"])
        assert 0 < spent <= facts["phases_seconds"]["residency"]


def test_first_requests_differ_in_tools_and_the_oracle_slot_alone(place: Any) -> None:
    for model in MODELS:
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

    for model in MODELS:
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
    assert f"{len(ARMS) * len(MODELS)} cells replayed, 0 differ" in done.stdout


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


def held(data: bytes, forms: frozenset[bytes]) -> bool:
    return any(form in data for form in forms)


def texts(value: Any) -> Iterator[str]:
    """Every text inside a JSON value, names included, and the value as it is written."""
    yield json.dumps(value, ensure_ascii=False)
    if isinstance(value, str):
        yield value
    parts = [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else []
    for part in parts:
        yield from texts(part)


def test_no_byte_of_a_secret_reaches_a_request(
    place: Any, planted: Any, secret_forms: frozenset[bytes]
) -> None:
    """Gold patch, hidden tests, later history, other cells; but an oracle treatment is told the file names.

    Once a model has itself written the true fix (a calibration model's host knows it), requests hold it.
    """
    wrote = set()
    for cell in cells(place, *ARMS):
        own = [planted.secrets["name"]] if ".H018." in cell.name else []
        for entry in records(cell):
            if entry["type"] == "reply" and planted.secrets["gold"] in json.dumps(entry):
                own = [planted.secrets["gold"], planted.secrets["name"]]
                wrote.add(cell.name)
            elif entry["type"] in ("request", "query-vector"):
                sent = "\n".join(texts(entry))
                for known in own:
                    sent = sent.replace(known, "")
                assert not held(sent.encode(), secret_forms), (cell.name, entry["n"])
        for exchange in timing(cell)["exchanges"]:
            sent = "\n".join(texts(exchange.get("request")))
            assert not held(sent.encode(), secret_forms), (cell.name, exchange["path"])
    assert {name.split(".")[1] for name in wrote if ".NAVIGATOR." in name} == set(ARMS)
    assert not any(".FLOOR." in name for name in wrote)


def test_secrets_were_where_they_could_have_leaked_from(
    place: Any, planted: Any, secret_forms: frozenset[bytes]
) -> None:
    """A control: the run above had the secrets in the host's knowledge, the mirror, and cells beside it."""
    knowledge = place.cache / "knowledge" / f"{NAME}.json"
    assert held(knowledge.read_bytes(), secret_forms)
    sealed = [cell for cell in place.cells(NAME) if held((cell / "patch.diff").read_bytes(), secret_forms)]
    assert sealed
    (mirror,) = (path for path in (place.cache / "mirrors").glob("*planted*") if path.is_dir())
    assert set(planted.later) <= objects_of(mirror)
    oracle = [json.dumps(first_request(cell)) for cell in cells(place, "H018")]
    assert all(planted.secrets["name"] in text for text in oracle)


def objects_of(git_dir: Path) -> set[str]:
    asked = [
        "git",
        "--git-dir",
        str(git_dir),
        "cat-file",
        "--batch-check=%(objectname)",
        "--batch-all-objects",
    ]
    done = subprocess.run(asked, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_nothing_secret_can_be_seen_from_a_sandbox(place: Any, planted: Any) -> None:
    """A public test of the task looks for it in every file, environment and argument that it can see."""
    looked = 0
    for cell in cells(place, *ARMS):
        for entry in records(cell):
            run = entry.get("test_run")
            if run:
                looked += 1
                assert (
                    run["outcomes"]["tests/test_surroundings.py::test_nothing_secret_can_be_seen"] == "passed"
                )
    assert looked >= len(ARMS)
    (template,) = (place.cache / "templates").glob("*planted*/.git")
    assert not set(planted.later) & objects_of(template)


@pytest.mark.parametrize("form", range(3))
def test_the_look_around_finds_what_there_is(
    look_around: Any, planted: Any, tmp_path: Path, form: int
) -> None:
    secret = planted.secrets["hidden"].encode()
    written = (secret, b"x" + base64.b64encode(b"ab" + secret), json.dumps(secret.hex()).encode())[form]
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "file").write_bytes(b"before " + written + b" after")
    (tmp_path / f"{planted.secrets['name']}.txt").write_text("named so")
    found = {Path(path).name for path in look_around.seen_below(str(tmp_path))}
    assert found == {"file", f"{planted.secrets['name']}.txt"}


@dataclass(frozen=True)
class Amended:
    """A copy of the study, and copies of the program to repair."""

    place: Any
    folder: Path

    def program(self, name: str, edits: dict[str, tuple[str, str]]) -> Path:
        """A copy of the package with each file's text replaced where it stands."""
        code = self.folder / name
        shutil.copytree(ROOT / "src" / "repairlab", code / "repairlab")
        for file, (old, new) in edits.items():
            path = code / "repairlab" / file
            assert old in path.read_text()
            path.write_text(path.read_text().replace(old, new))
        return code

    def run(self, code: Path, *arguments: str, expect: int = 0) -> subprocess.CompletedProcess[str]:
        environment = {**self.place.environment(), "PYTHONPATH": str(code)}
        done = subprocess.run(
            self.place.command(*arguments), capture_output=True, text=True, env=environment, check=False
        )
        assert done.returncode == expect, done.stdout + done.stderr
        return done

    def amend_and_decide(self, code: Path, reason: str) -> str:
        self.run(code, "freeze", NAME, "--amend", "--reason", reason)
        return self.run(code, "carry-over", NAME, "--no-tests", "--jobs", "1", "--plain").stdout

    def status(self, code: Path) -> Any:
        return json.loads(self.run(code, "status", NAME, "--json").stdout)


@pytest.fixture
def amended(place: Any, place_of: Callable[..., Any], tmp_path: Path) -> Amended:
    study = tmp_path / "study"
    shutil.copytree(place.study, study)
    return Amended(place_of(study, place.cache), tmp_path)


def test_carry_over_keeps_every_cell_after_a_harmless_change_and_refuses_the_affected_after_a_harmful_one(
    amended: Amended,
) -> None:
    sealed = {cell: seal_of(cell) for cell in amended.place.cells(NAME)}
    affected = {cell.name for cell in sealed if shows_a_whole_window(cell)}
    assert 0 < len(affected) < len(sealed)

    harmless = amended.program("harmless", {})
    snippets = harmless / "repairlab" / "search" / "snippets.py"
    text, count = re.subn(r"\bbest\b(?=, count|\])|(?<=\[)best\b", "chosen", snippets.read_text())
    assert count == 4
    snippets.write_text(text)
    said = amended.amend_and_decide(harmless, "rename a local variable")
    assert f"{len(sealed)} cells carried over, 0 refused" in said
    status = amended.status(harmless)
    assert (status["sealed"], status["carried"], status["pending"]) == (len(sealed), len(sealed), 0)

    harmful = amended.program("harmful", LESS)
    said = amended.amend_and_decide(harmful, "one line less in a snippet")
    assert f"{len(sealed) - len(affected)} cells carried over, {len(affected)} refused" in said
    assert set(re.findall(r"refused: (\S+): transcript record", said)) == affected
    status = amended.status(harmful)
    assert (status["sealed"], status["pending"]) == (len(sealed) - len(affected), len(affected))

    amended.run(harmful, "run", NAME, "--limit", "1", "--plain")
    assert amended.status(harmful)["pending"] == len(affected) - 1
    assert {cell: seal_of(cell) for cell in sealed} == sealed
    verified = amended.run(harmful, "verify", NAME).stdout
    assert "every frozen input and every seal holds" in verified
    assert "amendment 2" in verified
    log = (amended.place.study / "preregistration" / "DEVIATIONS.md").read_text()
    assert f"carry-over to amendment 1: {len(sealed)} cells carried, 0 refused" in log
    assert f"carry-over to amendment 2: {len(sealed) - len(affected)} cells carried, {len(affected)}" in log
    shown = amended.run(harmful, "show", NAME, "ledgerline-text-round-trip.H018.STATEMENT").stdout
    assert "carried over to ledgerline-text-round-trip.H018.STATEMENT" in shown


LESS = {
    "search/snippets.py": ("limits.lines)\n", "limits.lines - 1)\n"),
    "search/dense_search.py": (
        "size = self._search.snippet_lines\n",
        "size = self._search.snippet_lines - 1\n",
    ),
}
"""23 lines instead of 24, in whatever shows a snippet."""


def seal_of(cell: Path) -> str:
    return (cell / SUMS).read_text()


def shows_a_whole_window(cell: Path) -> bool:
    """Whether a search of the cell showed as many lines as a snippet may have."""
    shown = [hit for entry in records(cell) if entry["type"] == "call" for hit in entry.get("shown", ())]
    return any(hit["end_line"] - hit["start_line"] + 1 == 24 for hit in shown)


def test_carry_over_makes_verdicts_again_where_the_change_could_reach_them(amended: Amended) -> None:
    edits = {"evaluation/verdict.py": ("from __future__", "# A remark.\nfrom __future__")}
    code = amended.program("evaluation", edits)
    amended.run(code, "freeze", NAME, "--amend", "--reason", "a remark")
    refused = amended.run(code, "carry-over", NAME, "--no-tests", "--plain", expect=2)
    assert "src/evaluation/verdict.py changed since" in refused.stderr


def test_carry_over_needs_an_amendment(place: Any) -> None:
    assert "is not amended" in place.run("carry-over", NAME, expect=2).stderr


def test_two_runs_of_a_task_side_by_side(place: Any) -> None:
    names = [f"ledgerline-text-round-trip.H000.{model}" for model in ("FLOOR", "STATEMENT")]
    said = place.run("diff", NAME, *names).stdout.splitlines()
    (first,) = (n for n, line in enumerate(said) if line.startswith("first divergence: row "))
    # Two models get the same conversation: the first request names another one, and nothing else differs.
    assert said[first + 1].strip().startswith("body.model, character")
    assert all(len(line) <= 120 for line in said[:first])
    assert sum(line.count("treatment H000") for line in said[:first]) == 2
    same = place.run("diff", NAME, names[1], names[1]).stdout
    assert "steps is equal" in same
    assert "first divergence" not in same


def test_show_tells_ranks_budgets_clocks_and_residency(place: Any) -> None:
    said = place.run("show", NAME, "ledgerline-text-round-trip.H011.STATEMENT").stdout
    for text in (
        "residency at the start: repairlab/calibration-statement",
        f"residency: embedder {EMBEDDER} loaded, verified at level rest",
        "query embedded",
        "request: the conversation and 2 new messages",
        "model 1/12 tool, tests 0/2, clock",
        "shown: src/ledgerline/",
        "opened: src/ledgerline/",
        "files edited: ",
        "seconds by phase: agent ",
    ):
        assert text in said
    assert re.search(r"shown: \S+:\d+-\d+ \[dense 1", said)
