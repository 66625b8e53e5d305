"""`repairlab models`: what is at a host, and writing what was verified into a study."""

from __future__ import annotations

import json
import shutil
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repairlab.cli.pinning import differing_facts, replace_file, with_facts
from repairlab.contract.errors import BadInput, RefuseToStart
from repairlab.contract.models import ModelFacts, Models
from repairlab.contract.strict import load
from repairlab.hosts.emulator.spawn import EmulatorProcess
from repairlab.store.layout import Layout, prepare_layout
from repairlab.store.lock import writer_lock

ROOT = Path(__file__).resolve().parents[2]
LOAD = "POST /api/v1/models/load"
AGENT: dict[str, Any] = {
    "key": "acme/agent-9b",
    "engine": "floor",
    "format": "gguf",
    "quantization": "Q4_K_M",
    "max_context_length": 262_144,
    "reasoning_options": ["off", "on"],
    "reasoning_default": "on",
    "variants": ["acme/agent-9b@q4_k_m", "acme/agent-9b@q8_0"],
    "selected_variant": "acme/agent-9b@q4_k_m",
}
PLAIN: dict[str, Any] = {"key": "acme/plain", "engine": "floor", "max_context_length": 65_536}
EMBEDDER: dict[str, Any] = {
    "key": "text-embedding-acme",
    "type": "embedding",
    "engine": "hashing",
    "format": "gguf",
    "quantization": "Q8_0",
    "max_context_length": 32_768,
}


@pytest.fixture
def place(tmp_path: Path, make_place: Any) -> Any:
    """A study of its own, with nothing frozen."""
    study = tmp_path / "study"
    for name in ("contracts", "experiments", "preregistration"):
        shutil.copytree(
            ROOT / name, study / name, ignore=shutil.ignore_patterns("*.freeze.json", "*.manifest.json")
        )
    return make_place(study, tmp_path / "cache")


@pytest.fixture
def at(tmp_path: Path) -> Iterator[Callable[..., str]]:
    """Starts an emulator with these faults and settings and gives its URL."""
    running: list[EmulatorProcess] = []

    def start(*faults: dict[str, Any], **settings: Any) -> str:
        config, scenario = tmp_path / "host.json", tmp_path / "faults.json"
        settings.setdefault("models", [AGENT, PLAIN, EMBEDDER])
        config.write_text(json.dumps({"schema_version": 1, **settings}))
        scenario.write_text(json.dumps(faults))
        running.append(EmulatorProcess(models_config=config, faults=scenario))
        running[-1].start()
        return running[-1].url

    yield start
    for process in running:
        process.stop()


def models_file(place: Any) -> Path:
    return place.study / "contracts" / "models.toml"


def test_discover_shows_what_a_study_pins_and_loads_nothing(place: Any, at: Callable[..., str]) -> None:
    url = at()
    done = place.run("models", "discover", "--host", url)
    rows = {line.split()[0]: line for line in done.stdout.split("\n") if line.startswith("  ")}
    agent = rows["acme/agent-9b"]
    for fact in ("llm", "gguf", "Q4_K_M", "*acme/agent-9b@q4_k_m", "acme/agent-9b@q8_0", " on ", "262144"):
        assert fact in agent
    assert "no format" in rows["acme/plain"]
    assert "no quantization" in rows["acme/plain"]
    assert "embedding" in rows["text-embedding-acme"]
    assert "(" not in agent


def test_discover_says_that_an_older_server_omits_facts(place: Any, at: Callable[..., str]) -> None:
    done = place.run("models", "discover", "--host", at(old_server=True))
    assert "too old to report them" in done.stdout


def test_discover_says_that_jit_loading_is_on(place: Any, at: Callable[..., str]) -> None:
    assert "just-in-time loading is on" in place.run("models", "discover", "--host", at(jit=True)).stdout
    assert "just-in-time" not in place.run("models", "discover", "--host", at()).stdout


def test_pin_writes_the_verified_facts_and_nothing_else(place: Any, at: Callable[..., str]) -> None:
    before = models_file(place).read_text().split("\n")
    done = place.run("models", "pin", "M002", "acme/agent-9b", "--host", at())
    after = models_file(place).read_text().split("\n")
    changed = [number for number, pair in enumerate(zip(before, after, strict=True)) if pair[0] != pair[1]]
    assert len(changed) == 1
    assert "+" + after[changed[0]] in done.stdout.split("\n")
    assert "-" + before[changed[0]] in done.stdout.split("\n")
    facts = load(Models, models_file(place)).root["M002"].facts
    assert facts == ModelFacts(
        key="acme/agent-9b",
        format="gguf",
        quantization="Q4_K_M",
        selected_variant="acme/agent-9b@q4_k_m",
        reasoning_default="on",
        inference_key="acme/agent-9b",
    )
    assert not list(models_file(place).parent.glob(".*"))


def test_pin_writes_the_name_that_the_inference_routes_show(place: Any, at: Callable[..., str]) -> None:
    url = at(models=[AGENT | {"instance_name": "agent-for-the-study"}])
    place.run("models", "pin", "M002", "acme/agent-9b", "--host", url)
    facts = load(Models, models_file(place)).root["M002"].facts
    assert (facts.key, facts.inference_key) == ("acme/agent-9b", "agent-for-the-study")


def test_pin_twice_writes_nothing_the_second_time(place: Any, at: Callable[..., str]) -> None:
    url = at()
    place.run("models", "pin", "EMB002", "text-embedding-acme", "--host", url)
    stamp = models_file(place).stat().st_mtime_ns
    done = place.run("models", "pin", "EMB002", "text-embedding-acme", "--host", url)
    assert "nothing was written" in done.stdout
    assert "context of 32768" in done.stdout
    assert models_file(place).stat().st_mtime_ns == stamp


def test_a_fact_that_the_host_does_not_report_must_stay_unreported(
    place: Any, at: Callable[..., str]
) -> None:
    done = place.run("models", "pin", "M003", "acme/plain", "--host", at())
    assert "nothing is reported for: format, quantization, selected_variant, reasoning_default" in done.stdout
    facts = load(Models, models_file(place)).root["M003"].facts
    assert (facts.format, facts.quantization, facts.selected_variant) == (None, None, None)
    other = at(models=[{**PLAIN, "quantization": "Q8_0"}])
    refused = place.run("models", "pin", "M003", "acme/plain", "--host", other, expect=2)
    assert "quantization is pinned as nothing, and the host reports 'Q8_0'" in refused.stderr


def test_pin_refuses_a_differing_fact_until_it_is_asked_to_replace(
    place: Any, at: Callable[..., str]
) -> None:
    place.run("models", "pin", "M002", "acme/agent-9b", "--host", at())
    pinned = models_file(place).read_bytes()
    changed = {**AGENT, "quantization": "Q8_0", "selected_variant": "acme/agent-9b@q8_0"}
    url = at(models=[changed])
    done = place.run("models", "pin", "M002", "acme/agent-9b", "--host", url, expect=2)
    assert "quantization is pinned as 'Q4_K_M', and the host reports 'Q8_0'" in done.stderr
    assert models_file(place).read_bytes() == pinned
    place.run("models", "pin", "M002", "acme/agent-9b", "--host", url, "--replace")
    assert load(Models, models_file(place)).root["M002"].facts.quantization == "Q8_0"


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ({"kind": "context-clamp", "context": 32_768}, "loaded context is 32768 where 65536 is required"),
        ({"kind": "extra-instance", "context": 8192}, "acme/agent-9b:2"),
        ({"kind": "other-model", "key": "acme/plain"}, "acme/plain"),
    ],
)
def test_pin_refuses_a_load_that_went_wrong(
    place: Any, at: Callable[..., str], fault: dict[str, Any], said: str
) -> None:
    before = models_file(place).read_bytes()
    url = at({"route": LOAD, "do": fault})
    done = place.run("models", "pin", "M002", "acme/agent-9b", "--host", url, expect=2)
    assert said in done.stderr
    assert models_file(place).read_bytes() == before


def test_pin_refuses_the_wrong_kind_a_small_context_and_an_unknown_key(
    place: Any, at: Callable[..., str]
) -> None:
    url = at(models=[{**PLAIN, "max_context_length": 32_768}, EMBEDDER])
    pin = ("models", "pin", "M002")
    assert "type is 'embedding'" in place.run(*pin, "text-embedding-acme", "--host", url, expect=2).stderr
    assert "at least 65536" in place.run(*pin, "acme/plain", "--host", url, expect=2).stderr
    assert "did you mean acme/plain?" in place.run(*pin, "acme/plian", "--host", url, expect=2).stderr
    unknown = place.run("models", "pin", "M009", "acme/plain", "--host", url, expect=2)
    assert "no entry M009" in unknown.stderr
    assert "M002" in unknown.stderr


def test_a_calibration_model_never_stands_for_a_language_model(place: Any) -> None:
    before = models_file(place).read_bytes()
    with EmulatorProcess() as host:
        done = place.run("models", "pin", "M002", "repairlab/calibration-floor", "--host", host.url, expect=2)
    assert "is a calibration model, no language model" in done.stderr
    assert models_file(place).read_bytes() == before


def test_pin_refuses_while_a_preregistered_experiment_is_frozen(place: Any, at: Callable[..., str]) -> None:
    text = (place.study / "experiments" / "embedded.toml").read_text()
    for old, new in (
        ('name = "embedded"', 'name = "e08-main"'),
        ('kind = "calibration"', 'kind = "main"'),
        ('models = ["FLOOR", "NAVIGATOR"]', 'models = ["M002", "M003"]'),
        ('host = "emulator"', 'host = "lmstudio"'),
    ):
        assert old in text
        text = text.replace(old, new)
    (place.study / "experiments" / "e08-main.toml").write_text(text)
    url = at()
    place.run("models", "pin", "M002", "acme/agent-9b", "--host", url)
    (place.study / "preregistration" / "e08-main.freeze.json").write_text("{}")
    before = models_file(place).read_bytes()
    done = place.run("models", "pin", "M003", "acme/plain", "--host", url, expect=2)
    assert "e08-main is frozen as preregistered and uses M003" in done.stderr
    done = place.run("models", "pin", "EMB002", "text-embedding-acme", "--host", url, expect=2)
    assert "was frozen with the same file" in done.stderr
    assert models_file(place).read_bytes() == before


def test_pin_names_the_other_experiments_that_have_to_be_frozen_anew(
    place: Any, at: Callable[..., str]
) -> None:
    place.run("freeze", "embedded")
    done = place.run("models", "pin", "M002", "acme/agent-9b", "--host", at())
    assert "repairlab freeze embedded --replace" in done.stdout


def test_pin_unloads_nothing_while_a_run_of_the_study_is_under_way(
    place: Any, at: Callable[..., str]
) -> None:
    layout = Layout(place.study / "raw" / "embedded", place.study / "incomplete" / "embedded")
    prepare_layout(layout)
    url = at()
    with writer_lock(layout, "now"):
        done = place.run("models", "pin", "M002", "acme/agent-9b", "--host", url, expect=2)
    assert "another runner works on embedded" in done.stderr
    place.run("models", "pin", "M002", "acme/agent-9b", "--host", url)


# Editing the file.

FORMS = """# head
[A]
role = "agent"   # says "facts = {"
temperature = 0.0
top_p = 1.0
facts = { key = "unpinned", format = "un}#pinned" }   # keep } this
# between
[B]
role = "agent"
temperature = 0.0
top_p = 1.0

[B.facts]
# first
key = "unpinned"  # the key
quantization = "Q4"
reasoning_default = "on"

# last
[ "C-1" ]
role = "embedder"
context_tokens = 4096
facts = { key = "c" }"""
TEXTS = st.text(st.characters(blacklist_categories=("Cs",)), min_size=1, max_size=30)
OPTIONAL = st.none() | TEXTS
DECLARED = st.just({}) | st.builds(
    lambda native: {"native_dimensions": native, "padded": True}, st.integers(1, 9999)
)
FACTS = st.builds(
    lambda declared, **facts: ModelFacts(**declared, **facts),
    DECLARED,
    key=TEXTS,
    format=OPTIONAL,
    quantization=OPTIONAL,
    selected_variant=OPTIONAL,
    reasoning_default=OPTIONAL,
    inference_key=OPTIONAL,
)


@given(facts=FACTS, name=st.sampled_from(["A", "B", "C-1"]), line_end=st.sampled_from(["\n", "\r\n"]))
def test_any_facts_survive_being_written_and_read(facts: ModelFacts, name: str, line_end: str) -> None:
    text = FORMS.replace("\n", line_end)
    edited = with_facts(text, name, facts, "models.toml")
    tables = tomllib.loads(edited)
    assert ModelFacts(**tables[name].pop("facts")) == facts
    before = tomllib.loads(text)
    del before[name]["facts"]
    assert tables == before
    assert with_facts(edited, name, facts, "models.toml") == edited


@given(facts=FACTS, name=st.sampled_from(["A", "B", "C-1"]))
def test_lines_of_other_entries_and_comments_stay_to_the_byte(facts: ModelFacts, name: str) -> None:
    edited = with_facts(FORMS, name, facts, "models.toml").split("\n")
    own = {"A": ("facts = ",), "B": ("key", "quant", "reason"), "C-1": ('facts = { key = "c"',)}[name]
    lost = [line for line in FORMS.split("\n") if line not in edited]
    assert all(line.startswith(own) for line in lost)
    for comment in ("# keep } this", "# the key", "# first", "# last", "# between", "# head"):
        assert any(comment in line for line in edited)


@pytest.mark.parametrize(
    "text",
    [
        'A = { role = "agent", facts = { key = "k" } }\n',
        '[A]\nrole = "agent"\nfacts.key = "k"\n',
        '[A]\nrole = """\nfacts = { key = "x" }\n"""\nfacts.key = "k"\n',
    ],
)
def test_a_form_that_is_not_edited_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        with_facts(text, "A", ModelFacts(key="other"), "models.toml")


def test_a_file_that_changed_meanwhile_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "models.toml"
    path.write_text("one")
    with pytest.raises(RefuseToStart, match="changed while"):
        replace_file(path, "another", "two")
    assert path.read_text() == "one"


def test_a_replaced_file_keeps_its_rights_and_its_link(tmp_path: Path) -> None:
    path, link = tmp_path / "models.toml", tmp_path / "link.toml"
    path.write_text("one")
    path.chmod(0o640)
    link.symlink_to(path)
    replace_file(link, "one", "two")
    assert link.is_symlink()
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("two", 0o640)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["link.toml", "models.toml"]


def test_a_placeholder_differs_from_nothing_and_an_absent_inference_key_is_the_key() -> None:
    found = ModelFacts(key="k", format="gguf", inference_key="k")
    assert differing_facts(ModelFacts(key="unpinned", format="unpinned"), found) == ()
    assert differing_facts(ModelFacts(key="k", format="gguf"), found) == ()
    assert differing_facts(ModelFacts(key="k"), found) == (
        "format is pinned as nothing, and the host reports 'gguf'",
    )
