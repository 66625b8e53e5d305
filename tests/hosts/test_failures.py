from __future__ import annotations

from typing import Any

import pytest

from repairlab.contract.errors import InfrastructureFailure, RefuseToStart
from repairlab.hosts.failures import HostError, bare_status, error_in, to_exception, written_by_the_model


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
def test_failures_of_the_host_have_a_stable_kind(message: str, kind: str):
    failure = to_exception(HostError(message), "POST /x", 500)
    assert isinstance(failure, InfrastructureFailure)
    assert failure.kind == kind


@pytest.mark.parametrize(
    "message",
    [
        "Unexpected endpoint or method. (POST /chat/completions)",
        "Engine protocol predict request returned 400: failed to parse grammar",
        'Error rendering prompt with jinja template: "No user query found"',
        "Unrecognized key(s) in object: 'ttl'",
    ],
)
def test_what_no_retry_can_cure_refuses_and_says_what_to_do(message: str):
    refusal = to_exception(HostError(message, code="unrecognized_keys" if "key" in message else ""), "x", 200)
    assert isinstance(refusal, RefuseToStart)
    assert refusal.repair


def test_q16_a_parse_error_of_the_models_own_text_is_no_failure_of_the_host():
    assert written_by_the_model(HostError("Failed to parse tool call arguments as JSON: column 74"))
    assert not written_by_the_model(HostError("Failed to parse grammar"))


def test_a_bare_404_is_an_unknown_route_and_a_bare_500_is_not():
    assert isinstance(bare_status("GET /x", 404, "<html>"), RefuseToStart)
    assert isinstance(bare_status("GET /x", 500, ""), InfrastructureFailure)
