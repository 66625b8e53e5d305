from __future__ import annotations

from typing import Any

import pytest

from repairlab.contract.errors import InfrastructureFailure, RefuseToStart
from repairlab.contract.failures import FailureClass
from repairlab.hosts.failures import FailureRules, HostError, error_in


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"error": "No models loaded."}, HostError("No models loaded.")),
        (
            {"error": "token needed", "code": "invalid_api_key"},
            HostError("token needed", "", "invalid_api_key"),
        ),
        ({"error": {"message": "m", "type": "t", "code": None}}, HostError("m", "t")),
        ({"error": {"code": 400, "message": "m"}}, HostError("m", "", "400")),
        ({"error": {"title": "Failed to embed string"}}, HostError("Failed to embed string")),
        ({"error": {"odd": 1}}, HostError('{"odd": 1}')),
        ({"error": {}, "message": "beside"}, HostError("beside")),
        ({"error": ""}, HostError("")),
        ({"error": False}, HostError("false")),
        ({"error": None, "choices": []}, None),
        ({"choices": []}, None),
        ([], None),
    ],
)
def test_q33_one_reader_for_every_form_of_an_error(body: Any, error: HostError | None):
    assert error_in(body) == error


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("tokens to keep from the initial prompt (n_keep: 7>= n_ctx: 6)", "host-context-overflow"),
        ("Context size has been exceeded.", "host-context-overflow"),
        ("Model unloaded.", "host-model-not-loaded"),
        ("No models loaded. Please load one.", "host-model-not-loaded"),
        ("The model has crashed (Exit code: 1844)", "host-model-crashed"),
        ("stopped due to insufficient system resources", "host-resources"),
        ("something else", "host-error"),
    ],
)
def test_failures_of_the_host_have_a_stable_kind(rules: FailureRules, message: str, kind: str):
    failure = rules.told(HostError(message), "POST /x", 500)
    assert isinstance(failure, InfrastructureFailure)
    assert failure.kind == kind
    assert message in failure.message


@pytest.mark.parametrize(
    "message",
    [
        "Unexpected endpoint or method. (POST /chat/completions)",
        "Engine protocol predict request returned 400: failed to parse grammar",
        'Error rendering prompt with jinja template: "No user query found"',
        "Unrecognized key(s) in object: 'ttl'",
    ],
)
@pytest.mark.parametrize("phase", ["start", "run"])
def test_what_no_retry_can_cure_refuses_and_says_what_to_do(rules: FailureRules, message: str, phase: Any):
    code = "unrecognized_keys" if "key" in message else ""
    refusal = rules.at(phase).told(HostError(message, code=code), "x", 200)
    assert isinstance(refusal, RefuseToStart)
    assert refusal.repair


def test_the_phase_decides_the_class_of_one_row(rules: FailureRules):
    row = rules.match(HostError("No models loaded."))
    assert rules.at("start").class_of(row) is FailureClass.REFUSE
    assert rules.class_of(row) is FailureClass.INFRASTRUCTURE
    assert isinstance(rules.at("start").raised(row, "x"), RefuseToStart)


def test_q16_a_parse_error_of_the_models_own_text_is_no_failure_of_the_host(rules: FailureRules):
    said = "Failed to parse tool call arguments as JSON: jinja, out of memory, crashed"
    assert rules.match(HostError(said), 500).kind == "arguments-not-json"
    assert rules.match(HostError("Failed to parse grammar")).kind == "grammar"


def test_a_bare_404_is_an_unknown_route_and_a_bare_500_is_not(rules: FailureRules):
    assert rules.bare(404).id == "unknown-route"
    assert rules.bare(500).id == "other-error"
    assert rules.bare(401).id == "authorization"


def test_of_a_rejected_authorization_nothing_is_quoted(rules: FailureRules):
    assert "sk-1" not in rules.told(HostError("sk-1 is no token"), "x", 401).message


def test_a_failure_of_the_transport_is_classed_by_the_table(rules: FailureRules):
    silent = InfrastructureFailure("no byte", kind="host-silent")
    assert isinstance(rules.at("start").reclassified(silent), RefuseToStart)
    in_run = rules.reclassified(silent)
    assert isinstance(in_run, InfrastructureFailure)
    assert (in_run.kind, in_run.message) == ("host-silent", "no byte")
    other = InfrastructureFailure("x", kind="sandbox-start")
    assert rules.at("start").reclassified(other) is other


def test_without_a_table_nothing_that_is_told_can_be_scored():
    bare = FailureRules()
    failure = bare.told(HostError("Failed to parse tool call arguments as JSON"), "x", 500)
    assert isinstance(failure, InfrastructureFailure)
    assert bare.of("call-dropped").retries == 0
