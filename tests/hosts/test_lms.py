"""The second view of a host, through executables that ask the emulated one."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from repairlab.contract.errors import InfrastructureFailure, RefuseToStart
from repairlab.hosts.client import LMStudioClient
from repairlab.hosts.devices import NvidiaSmi
from repairlab.hosts.facts import ModelFacts
from repairlab.hosts.failures import FailureRules
from repairlab.hosts.lms import Lms, last_json
from repairlab.hosts.provenance import HostProvenance, hold_equal, look
from repairlab.hosts.residency import Residency
from repairlab.hosts.serving import ServerControl
from repairlab.hosts.verify import lms_differences
from repairlab.hosts.wire import Listing

LOAD = "POST /api/v1/models/load"
UNLOAD = "POST /api/v1/models/unload"
Doubles = Callable[..., Path]


@pytest.fixture
def lms(doubles: Doubles, rules: FailureRules) -> Lms:
    return Lms(doubles() / "lms", {}, rules)


@pytest.fixture
def watched(client: LMStudioClient, lms: Lms, rules: FailureRules) -> Residency:
    """Residency with both views."""
    return Residency(client, time.monotonic, time.sleep, rules=rules, lms=lms, unload_seconds=1.0)


def test_both_views_are_read_and_the_level_says_so(
    host: Any, watched: Residency, agent: ModelFacts, lms: Lms
):
    transition = watched.ensure(agent, fresh=True)
    assert transition.level == "rest+lms"
    assert transition.facts()["level"] == "rest+lms"
    (entry,) = lms.ps()
    assert (entry.identifier, entry.model_key, entry.context_length) == (agent.key, agent.key, 65_536)
    assert (entry.ttl_ms, entry.device_identifier, entry.status, entry.queued) == (None, None, "idle", 0)
    assert "text-embedding-acme" in [model.model_key for model in lms.ls()]


@pytest.mark.parametrize(
    ("odd", "fact", "repair"),
    [
        ({"ttl_seconds": 60}, "ttlMs is 60000", "time to live"),
        ({"device": "studio"}, "deviceIdentifier is 'studio'", "Unlink"),
    ],
)
def test_what_only_the_second_view_shows_refuses(
    host: Any, watched: Residency, agent: ModelFacts, odd: dict[str, Any], fact: str, repair: str
):
    host.reset({"route": LOAD, "do": {"kind": "odd-instance", **odd}})
    with pytest.raises(RefuseToStart, match=fact) as caught:
        watched.ensure(agent, fresh=True)
    assert repair in caught.value.repair


def test_the_frozen_level_is_required(client: LMStudioClient, agent: ModelFacts, rules: FailureRules):
    bare = Residency(client, time.monotonic, time.sleep, rules=rules, required_level="rest+lms")
    with pytest.raises(RefuseToStart, match="level rest") as caught:
        bare.ensure(agent, fresh=True)
    assert "freeze the weaker level" in caught.value.repair


def test_keys_and_variants_of_the_second_view_are_compared(
    host: Any, client: LMStudioClient, agent: ModelFacts, lms: Lms
):
    host.load()
    listing: Listing = client.list_models()
    assert lms_differences(agent, listing, lms.ps()) == ()
    entries = [
        entry.model_copy(update={"model_key": "acme/agent-9b-2607", "selected_variant": "x"})
        for entry in lms.ps()
    ]
    found = [difference.condition for difference in lms_differences(agent, listing, entries)]
    assert found == ["key-differs", "variant-differs"]


def test_memory_that_comes_back_is_no_fault(
    host: Any, client: LMStudioClient, agent: ModelFacts, doubles: Doubles, rules: FailureRules
):
    memory = NvidiaSmi(doubles() / "nvidia-smi", {})
    residency = Residency(
        client, time.monotonic, time.sleep, rules=rules, memory=memory, unload_seconds=0.5, warm_up=False
    )
    residency.ensure(agent, fresh=True)
    assert memory.free_bytes() < 7_000_000_000
    assert residency.ensure(agent, fresh=True).unloaded == (agent.key,)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[]\n", []),
        (
            'The server is running on port 1234.\n{"running":true,"port":1234}\n',
            {"running": True, "port": 1234},
        ),
        ('[\n  {\n    "a": []\n  }\n]\n', [{"a": []}]),
        ("note\n[\n  1\n]", [1]),
        ("no JSON at all", None),
        ("", None),
    ],
)
def test_the_json_at_the_end_is_read_whole(text: str, value: Any):
    assert last_json(text) == value


def test_a_tool_that_fails_or_is_missing_is_told(doubles: Doubles, rules: FailureRules, tmp_path: Path):
    for program in (doubles("fails") / "lms", tmp_path / "nowhere"):
        with pytest.raises(InfrastructureFailure) as caught:
            Lms(program, {}, rules).ps()
        assert caught.value.kind == "lms-failed"
    with pytest.raises(RefuseToStart):
        Lms(tmp_path / "nowhere", {}, rules.at("start")).version()


def test_output_of_another_shape_is_told_as_such(tmp_path: Path, rules: FailureRules):
    program = tmp_path / "lms"
    program.write_text('#!/bin/sh\necho \'[{"identifier": "a"}]\'\n')
    program.chmod(0o755)
    with pytest.raises(InfrastructureFailure, match="modelKey"):
        Lms(program, {}, rules).ps()


def test_a_stopped_server_is_started_and_a_hung_one_stopped_first(
    host: Any, connect: Callable[..., LMStudioClient], lms: Lms
):
    client = connect(host.url, call=0.5)
    control = ServerControl(client, lms, None, time.monotonic, time.sleep, start_seconds=5.0)
    assert control.wake() == ()
    assert lms.stop_server()
    assert not lms.stop_server()
    with pytest.raises(InfrastructureFailure) as caught:
        client.greet()
    assert caught.value.kind == "host-unreachable"
    assert control.wake() == ("start",)
    host.reset({"route": "GET /lmstudio-greeting", "times": 1, "do": {"kind": "hang"}})
    assert control.wake() == ("stop", "start")
    host.reset()
    assert control.wake() == ()


def test_without_control_a_server_that_is_away_stays_away(
    connect: Callable[..., LMStudioClient], rules: FailureRules
):
    client = connect("http://127.0.0.1:9")
    with pytest.raises(InfrastructureFailure):
        ServerControl(client, None, None, time.monotonic, time.sleep).wake()


def test_a_server_that_is_another_is_not_restarted(host: Any, client: LMStudioClient, lms: Lms):
    body = '{"error": "Unexpected endpoint or method. (GET /lmstudio-greeting)"}'
    do = {"kind": "reply-instead", "status": 200, "body": body}
    host.reset({"route": "GET /lmstudio-greeting", "do": do})
    steps: list[str] = []
    control = ServerControl(client, lms, None, time.monotonic, time.sleep, on_step=steps.append)
    with pytest.raises(RefuseToStart):
        control.wake()
    assert steps == []


def test_provenance_names_versions_engines_and_devices(doubles: Doubles, rules: FailureRules):
    folder = doubles()
    seen = look(Lms(folder / "lms", {}, rules), NvidiaSmi(folder / "nvidia-smi", {}))
    assert seen.facts() == {
        "app_version": "emulator-1",
        "runtimes": ["LLM ENGINE SELECTED", "emulator@1.0.0 yes"],
        "devices": ["Emulated device, 1.0"],
    }
    hold_equal(seen, seen, rules)
    assert look(None) == HostProvenance(None, (), ())
