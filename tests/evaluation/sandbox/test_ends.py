"""How the end of a run becomes a value or a failure, and how much of its output is kept."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repairlab.contract.errors import InfrastructureFailure
from repairlab.evaluation.sandbox.capped import Capped
from repairlab.evaluation.sandbox.jobs import finished
from repairlab.evaluation.sandbox.supervise import Ended


def ended(ready_at=1.5, said=b""):
    output = Capped(1000)
    output.add(said)
    return Ended(output, b"", report_overflow=False, started_at=1.0, ready_at=ready_at, ended_at=3.0,
        stopped=None, leftovers=None)  # fmt: skip


def test_phases_add_up():
    result = finished(ended(), 0, "copy", {}, 1.0, 3.25, memory_kills=0)
    assert (result.seconds_setup, result.seconds_run, result.seconds_teardown) == (0.5, 1.5, 0.25)


@pytest.mark.parametrize(("returncode", "exit_code"), [(0, 0), (3, 3), (-9, 137), (137, 137)])
def test_death_by_a_signal_is_told_as_a_shell_tells_it(returncode, exit_code):
    assert finished(ended(), returncode, "copy", {}, 1.0, 3.0, memory_kills=0).exit_code == exit_code


def test_a_machine_out_of_memory_is_infrastructure_whatever_the_run_said():
    for returncode in (0, 1, 137):
        with pytest.raises(InfrastructureFailure) as caught:
            finished(ended(), returncode, "copy", {}, 1.0, 3.0, memory_kills=1)
        assert caught.value.kind == "out-of-memory"


def test_a_run_that_never_began_tells_what_was_said():
    with pytest.raises(InfrastructureFailure, match="no such thing") as caught:
        finished(ended(ready_at=None, said=b"no such thing"), 1, "copy", {}, 1.0, 3.0, memory_kills=0)
    assert caught.value.kind == "sandbox-start"


@given(st.integers(0, 50), st.lists(st.binary(max_size=40), max_size=12))
def test_head_and_tail_are_the_ends_of_the_stream_and_every_byte_is_counted(cap, parts):
    kept = Capped(cap)
    for part in parts:
        kept.add(part)
    whole = b"".join(parts)
    assert len(kept.head) + len(kept.tail) <= cap
    assert len(kept.head) + len(kept.tail) + kept.dropped == len(whole)
    assert whole.startswith(bytes(kept.head))
    assert whole.endswith(bytes(kept.tail))
    if len(whole) <= cap:
        assert bytes(kept.head + kept.tail) == whole
