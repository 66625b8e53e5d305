"""Reports as bytes: what is believed, and what it adds up to. Pure."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repairlab.contract.outcome import TestOutcome as Outcome
from repairlab.evaluation.golang.findings import find
from repairlab.evaluation.golang.records import read_driver, read_program
from repairlab.evaluation.runs import RunEnd

KEY = bytes(range(32))
INNER = bytes(range(1, 33))


def sent(records, key):
    """Records as the sending side would write them."""
    data = b""
    for number, fields in enumerate(records):
        payload = json.dumps({"n": number, **fields}).encode()
        data += struct.pack(">I", len(payload)) + hmac.new(key, payload, hashlib.sha256).digest() + payload
        key = hashlib.sha256(b"next" + key).digest()
    return data


def hexed(**fields):
    kind = fields.pop("kind")
    return {"kind": kind, **{name: value.encode().hex() for name, value in fields.items()}}


STARTED = hexed(kind="hello", go="go1.26.8")
BEGUN = hexed(kind="begin", id="TestA")
PASSED = hexed(kind="end", id="TestA", outcome="passed", message="")
RAN = hexed(kind="ran", code="0")
CLEAN = (STARTED, BEGUN, PASSED, RAN)


def driven(inner, *, status=0, output="", ended=True, extra=()):
    """Findings over one start in the package ``p`` whose program sent the bytes `inner`."""
    records = [{"kind": "hello", "go": "go1.26.8"}]
    half = len(inner) // 2
    records += [  # chunks end anywhere
        {"kind": "chunk", "run": 0, "data": base64.b64encode(part).decode()}
        for part in (inner[:half], inner[half:])
    ]
    if ended:
        records.append({"kind": "ended", "run": 0, "status": status, "output": output, "leftovers": 0})
    report = read_driver(sent([*records, *extra], KEY), KEY)
    assert not report.broken
    return find(report, {0: "p"}, [INNER], ("p::TestA",))


def test_a_clean_run_passes():
    found = driven(sent(CLEAN, INNER))
    assert (found.end, found.outcomes) == (RunEnd.ALL_PASSED, {"p::TestA": Outcome.PASSED})


@pytest.mark.parametrize(
    ("inner", "status"),
    [
        (CLEAN, 2),
        (CLEAN[:-1], 0),
        ((*CLEAN[:-1], hexed(kind="ran", code="1")), 0),
        ((*CLEAN, BEGUN), 0),
    ],
)
def test_a_program_without_a_clean_end_makes_no_clean_run(inner, status):
    found = driven(sent(inner, INNER), status=status)
    assert found.end is RunEnd.TESTS_FAILED


def test_a_program_that_was_killed_is_no_result():
    found = driven(sent(CLEAN[:2], INNER), status=137)
    assert found.end is RunEnd.DIED


def test_t13_begun_and_not_ended_is_failed_when_the_program_ended_and_not_run_when_it_was_stopped():
    inner = sent(CLEAN[:2], INNER)
    assert driven(inner, status=2, output="panic: x").outcomes == {"p::TestA": Outcome.FAILED}
    assert driven(inner, status=2, output="panic: x").failures == {"p::TestA": "panic: x"}
    assert driven(inner, ended=False).outcomes == {"p::TestA": Outcome.NOT_RUN}


def test_a_program_that_dies_inside_a_record_has_still_said_what_it_said():
    found = driven(sent(CLEAN[:3], INNER)[:-5], status=2)
    assert found.outcomes == {"p::TestA": Outcome.FAILED}
    assert found.end is RunEnd.TESTS_FAILED


def test_records_under_another_key_are_no_evidence():
    found = driven(sent(CLEAN, KEY))
    assert found.end is RunEnd.EVIDENCE_BROKEN
    assert found.outcomes == {"p::TestA": Outcome.NOT_RUN}


def test_a_record_that_is_sent_again_breaks_the_evidence():
    inner = sent(CLEAN, INNER)
    first = sent(CLEAN[:1], INNER)
    assert driven(first + inner).end is RunEnd.EVIDENCE_BROKEN


def test_a_spoiled_channel_is_broken_evidence_and_says_by_whom():
    spoiled = hexed(kind="spoiled", what="testing.RunTests is called")
    found = driven(sent((*CLEAN[:3], spoiled), INNER))
    assert found.end is RunEnd.EVIDENCE_BROKEN
    assert "testing.RunTests" in found.problem
    assert read_program(sent((spoiled,), INNER), INNER).broken


def test_tests_before_the_main_function_are_out_of_order():
    assert read_program(sent(CLEAN[1:], INNER), INNER).broken


def test_one_name_with_two_ends_is_no_result():
    found = driven(sent((STARTED, BEGUN, PASSED, BEGUN, PASSED, RAN), INNER))
    assert found.end is RunEnd.DUPLICATE_IDS


@given(st.integers(min_value=0), st.integers(0, 7))
def test_one_changed_bit_anywhere_is_never_a_pass(position, bit):
    inner = bytearray(sent(CLEAN, INNER))
    inner[position % len(inner)] ^= 1 << bit
    assert driven(bytes(inner)).end is not RunEnd.ALL_PASSED


@given(st.integers(min_value=0))
def test_a_report_that_is_cut_anywhere_is_never_a_pass(position):
    inner = sent(CLEAN, INNER)
    assert driven(inner[: position % len(inner)]).end is not RunEnd.ALL_PASSED


def test_an_unknown_kind_of_record_is_malformed():
    assert "malformed" in read_driver(sent([{"kind": "pass", "test": "TestA"}], KEY), KEY).broken
