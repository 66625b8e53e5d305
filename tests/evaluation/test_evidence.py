from __future__ import annotations

import hashlib
import hmac
import json
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repairlab.contract.outcome import TestOutcome as Outcome
from repairlab.evaluation.evidence import Phase, read_evidence
from repairlab.evaluation.outcomes import fold, outcome_of

KEY = bytes(range(32))


def phase(name="t", when="call", outcome="passed", *, expected=False, part=False, message=""):
    return {
        "kind": "phase",
        "id": name,
        "when": when,
        "outcome": outcome,
        "expected": expected,
        "part": part,
        "message": message,
    }


HELLO = {"kind": "hello", "python": "3.12.1", "pytest": "9.0.2"}
PASSED = [phase(when=when) for when in ("setup", "call", "teardown")]


def final(phases=3, code=0):
    return {"kind": "final", "exit": code, "phases": phases, "leftovers": None}


def stream(records, key=KEY):
    data = b""
    for number, record in enumerate(records):
        payload = json.dumps({"n": number, **record}).encode()
        data += struct.pack(">I", len(payload)) + hmac.new(key, payload, hashlib.sha256).digest() + payload
        key = hashlib.sha256(b"next" + key).digest()
    return data


WHOLE = stream([HELLO, *PASSED, final()])


def test_a_whole_stream_is_read():
    evidence = read_evidence(WHOLE, KEY)
    assert evidence.broken == ""
    assert evidence.hello is not None
    assert evidence.final is not None
    assert len(evidence.phases) == 3


@given(st.integers(0, len(WHOLE) - 1))
def test_a_stream_that_was_cut_anywhere_has_no_final_record(length):
    assert read_evidence(WHOLE[:length], KEY).final is None


@given(st.integers(0, len(WHOLE) - 1), st.integers(1, 255))
def test_a_stream_with_one_other_byte_is_broken(position, difference):
    data = bytearray(WHOLE)
    data[position] ^= difference
    evidence = read_evidence(bytes(data), KEY)
    assert evidence.broken
    assert evidence.final is None


@given(st.binary(min_size=1, max_size=200))
def test_bytes_after_the_final_record_break_it(tail):
    assert read_evidence(WHOLE + tail, KEY).final is None


def test_a_record_is_good_for_one_place_only():
    records = [HELLO, *PASSED, final()]
    frames = [len(stream(records[: n + 1])) for n in range(len(records))]
    second, third = WHOLE[frames[0] : frames[1]], WHOLE[frames[1] : frames[2]]
    swapped = WHOLE[: frames[0]] + third + second + WHOLE[frames[2] :]
    dropped = WHOLE[: frames[0]] + WHOLE[frames[1] :]
    repeated = WHOLE[: frames[1]] + second + WHOLE[frames[1] :]
    for data in (swapped, dropped, repeated):
        assert read_evidence(data, KEY).broken == "record 1 is not authentic" or data == repeated
        assert read_evidence(data, KEY).final is None


def test_a_later_key_does_not_open_earlier_records():
    later = hashlib.sha256(b"next" + KEY).digest()
    assert read_evidence(stream([HELLO], key=later), KEY).broken


@pytest.mark.parametrize(
    "records",
    [
        [HELLO, *PASSED, final(phases=2)],
        [HELLO, *PASSED, final(), final()],
        [HELLO, {"kind": "unheard-of"}, final(0)],
        [HELLO, {**PASSED[0], "when": "collect"}, final(1)],
        [HELLO, {**PASSED[0], "extra": 1}, final(1)],
        [HELLO, *PASSED],
        [],
    ],
)
def test_a_stream_whose_count_order_or_form_is_wrong_has_no_final_record(records):
    assert read_evidence(stream(records), KEY).final is None


def test_without_a_hello_in_first_place_there_is_none():
    assert read_evidence(stream([PASSED[0], HELLO]), KEY).hello is None


def phases(*triples):
    return [Phase.model_validate({"n": 0, **phase(when=w, outcome=o, **more)}) for w, o, more in triples]


@pytest.mark.parametrize(
    ("triples", "outcome"),
    [
        ([("setup", "passed", {}), ("call", "passed", {}), ("teardown", "passed", {})], Outcome.PASSED),
        ([("setup", "passed", {}), ("call", "passed", {})], Outcome.NOT_RUN),
        ([("call", "passed", {}), ("teardown", "passed", {})], Outcome.NOT_RUN),
        ([("setup", "passed", {}), ("teardown", "passed", {})], Outcome.NOT_RUN),
        ([("setup", "passed", {})], Outcome.NOT_RUN),
        ([], Outcome.NOT_RUN),
        ([("setup", "passed", {}), ("call", "passed", {}), ("teardown", "failed", {})], Outcome.ERROR),
        ([("setup", "failed", {}), ("teardown", "passed", {})], Outcome.ERROR),
        ([("setup", "passed", {}), ("call", "failed", {}), ("teardown", "failed", {})], Outcome.FAILED),
        (
            [
                ("setup", "passed", {}),
                ("call", "failed", {"part": True}),
                ("call", "passed", {}),
                ("teardown", "passed", {}),
            ],
            Outcome.FAILED,
        ),
        (
            [
                ("setup", "passed", {}),
                ("call", "passed", {"part": True}),
                ("call", "passed", {}),
                ("teardown", "passed", {}),
            ],
            Outcome.PASSED,
        ),
        (
            [("setup", "passed", {}), ("call", "passed", {"part": True}), ("teardown", "passed", {})],
            Outcome.NOT_RUN,
        ),
        ([("setup", "passed", {}), ("call", "passed", {}), ("teardown", "passed", {})] * 2, Outcome.NOT_RUN),
        ([("setup", "skipped", {}), ("teardown", "passed", {})], Outcome.SKIPPED),
        ([("setup", "skipped", {"expected": True}), ("teardown", "passed", {})], Outcome.NOT_RUN),
        (
            [("setup", "passed", {}), ("call", "skipped", {"expected": True}), ("teardown", "passed", {})],
            Outcome.XFAILED,
        ),
        (
            [("setup", "passed", {}), ("call", "passed", {"expected": True}), ("teardown", "passed", {})],
            Outcome.XPASSED,
        ),
    ],
)
def test_the_table_of_outcomes(triples, outcome):
    assert outcome_of(phases(*triples)) is outcome


any_phase = st.tuples(
    st.sampled_from(["setup", "call", "teardown"]),
    st.sampled_from(["passed", "failed", "skipped"]),
    st.fixed_dictionaries({"expected": st.booleans(), "part": st.booleans()}),
)


@given(st.lists(any_phase, max_size=6))
def test_only_three_plain_passes_are_a_pass(triples):
    own = [(w, o, m["expected"]) for w, o, m in triples if not m["part"]]
    plain = own == [("setup", "passed", False), ("call", "passed", False), ("teardown", "passed", False)]
    loose = [(w, o) for w, o, _ in own] == [("setup", "passed"), ("call", "passed"), ("teardown", "passed")]
    broken_part = any(o == "failed" for _, o, m in triples if m["part"])
    if outcome_of(phases(*triples)) is Outcome.PASSED:
        assert loose
        assert own[1][2] is False
        assert not broken_part
    elif plain:
        assert broken_part


def test_a_selected_test_that_was_not_seen_is_in_the_outcomes():
    assert fold(phases(), ("b", "a")) == {"a": Outcome.NOT_RUN, "b": Outcome.NOT_RUN}
