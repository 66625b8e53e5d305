"""The campaign: order, resume, retries and blocking, over a real store."""

from __future__ import annotations

import pytest

from repairlab.contract.errors import InfrastructureFailure, IntegrityViolation, RefuseToStart
from repairlab.contract.study import Study, load_inputs
from repairlab.manifest.cell import Cell
from repairlab.manifest.expand import expand
from repairlab.runner.campaign import CellResult, run_campaign, standing
from repairlab.runner.events import AttemptFailed, CellBlocked, CellSealed, Event
from repairlab.store.attempt import Attempt
from repairlab.store.layout import Layout, prepare_layout


class Bench:
    """Runs cells by writing plain artifacts; `faults` maps a sequence number to failures still to come."""

    def __init__(self, study: Study) -> None:
        self.cells = expand(load_inputs(study, "small"), "c" * 64).cells
        self.layout = Layout(study.raw / "small", study.incomplete / "small")
        prepare_layout(self.layout)
        self.faults: dict[int, int] = {}
        self.ran: list[int] = []
        self.restored = 0
        self.events: list[Event] = []

    def run_cell(self, cell: Cell, attempt: Attempt) -> CellResult:
        self.ran.append(cell.sequence)
        attempt.record({"type": "request"})
        if self.faults.get(cell.sequence, 0) > 0:
            self.faults[cell.sequence] -= 1
            raise InfrastructureFailure("the host went away", kind="host-unreachable")
        record = {"schema_version": 1, "cell": cell.model_dump(mode="json"), "freeze": "f" * 64, "facts": {}}
        attempt.write_json("cell.json", record)
        for name in ("metrics.json", "tests.json", "timing.json"):
            attempt.write_json(name, {})
        attempt.write("patch.diff", b"")
        attempt.seal()
        return CellResult("unresolved", "finished", 0.0)

    def restore(self) -> None:
        self.restored += 1

    def run(self, limit: int | None = None, *, retry_blocked: bool = False) -> None:
        run_campaign(
            self.layout, self.cells, 3, self.run_cell, self.restore, self.events.append, limit,
            retry_blocked=retry_blocked,
        )  # fmt: skip


@pytest.fixture
def bench(study: Study) -> Bench:
    return Bench(study)


def test_cells_run_once_in_their_frozen_order(bench: Bench) -> None:
    bench.run()
    bench.run()
    assert bench.ran == list(range(12))
    assert len(standing(bench.layout, bench.cells, 3).sealed) == 12


def test_a_campaign_goes_on_where_it_stopped(bench: Bench) -> None:
    bench.run(limit=5)
    bench.run()
    assert bench.ran == list(range(12))


def test_an_infrastructure_failure_is_kept_and_the_same_cell_retried_at_once(bench: Bench) -> None:
    bench.faults = {2: 2}
    bench.run()
    assert bench.ran == [0, 1, 2, 2, 2, *range(3, 12)]
    assert bench.restored == 2
    name = bench.cells[2].name
    assert bench.layout.failures(name) == 2
    assert bench.layout.sealed(name).is_dir()
    assert [e.kind for e in bench.events if isinstance(e, AttemptFailed)] == ["host-unreachable"] * 2


def test_a_cell_is_blocked_after_its_attempts_and_is_no_outcome(bench: Bench) -> None:
    bench.faults = {0: 99}
    bench.run()
    now = standing(bench.layout, bench.cells, 3)
    assert [cell.sequence for cell in now.blocked] == [0]
    assert len(now.sealed) == 11
    assert now.pending == ()
    assert [e.failures for e in bench.events if isinstance(e, CellBlocked)] == [3]
    assert not bench.layout.sealed(bench.cells[0].name).exists()


def test_a_blocked_cell_is_left_alone_until_it_is_asked_for(bench: Bench) -> None:
    bench.faults = {0: 3}
    bench.run()
    ran = len(bench.ran)
    bench.run()
    assert len(bench.ran) == ran
    bench.run(retry_blocked=True)
    assert bench.ran[ran:] == [0]
    assert bench.layout.failures(bench.cells[0].name) == 3
    assert len(standing(bench.layout, bench.cells, 3).sealed) == 12


def test_a_host_that_cannot_be_restored_stops_the_campaign(bench: Bench) -> None:
    bench.faults = {1: 1}

    def gone() -> None:
        raise RefuseToStart("no host")

    with pytest.raises(RefuseToStart):
        run_campaign(bench.layout, bench.cells, 3, bench.run_cell, gone, bench.events.append)
    assert bench.ran == [0, 1]
    assert len(bench.layout.attempts(bench.cells[1].name)) == 1


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_an_interrupted_attempt_stays_and_counts_as_no_failure(
    bench: Bench, error: type[BaseException]
) -> None:
    def stop(cell: Cell, attempt: Attempt) -> CellResult:
        attempt.record({"type": "request"})
        raise error

    with pytest.raises(error):
        run_campaign(bench.layout, bench.cells, 3, stop, bench.restore, bench.events.append)
    name = bench.cells[0].name
    assert len(bench.layout.attempts(name)) == 1
    assert bench.layout.failures(name) == 0
    bench.run()
    assert bench.layout.sealed(name).is_dir()
    assert len(bench.layout.attempts(name)) == 1


def test_a_tampered_cell_stops_the_campaign_before_anything_runs(bench: Bench) -> None:
    bench.run(limit=3)
    folder = bench.layout.sealed(bench.cells[1].name)
    for path in (folder, folder / "metrics.json"):
        path.chmod(0o755)
    (folder / "metrics.json").write_text('{"resolved_at_1": 1}')
    with pytest.raises(IntegrityViolation, match=r"metrics\.json is not what"):
        bench.run()
    assert bench.ran == [0, 1, 2]


def test_a_sealed_cell_of_another_freeze_is_counted_apart(bench: Bench) -> None:
    bench.run(limit=2)
    now = standing(bench.layout, bench.cells[2:], 3)
    assert now.sealed == ()
    assert len(now.foreign) == 2


def test_a_watcher_is_told_of_every_cell(bench: Bench) -> None:
    bench.run()
    assert [e.cell.sequence for e in bench.events if isinstance(e, CellSealed)] == list(range(12))


def test_the_order_is_the_manifest_s_and_not_the_store_s(bench: Bench) -> None:
    bench.faults = {4: 3, 1: 3}
    bench.run()
    ran = len(bench.ran)
    bench.run(retry_blocked=True)
    assert bench.ran[ran:] == [1, 4]
