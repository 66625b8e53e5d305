"""`repairlab carry-over`: decide which sealed cells stand under an amended code revision."""

from __future__ import annotations

import getpass

from repairlab.cli.auditing import replay, veil_of
from repairlab.cli.freezing import unsealing_of, utc_now
from repairlab.cli.running import Options, Plan, make_plan
from repairlab.contract.errors import BadInput, InfrastructureFailure, RefuseToStart
from repairlab.manifest.deviations import Deviation, append, read
from repairlab.runner.audited import Audited
from repairlab.runner.carrying import Candidate, candidates, decision
from repairlab.runner.replaying import Replay
from repairlab.store.carried import CarryRecord, write_decision
from repairlab.store.layout import prepare_layout
from repairlab.store.lock import writer_lock
from repairlab.store.sealed import check_seal


def carry_over_command(options: Options, *, run_tests: bool, jobs: int | None) -> None:
    """Replay every sealed cell of the earlier revisions; each decision is written when it is made.

    Raises:
        RefuseToStart: there is no amendment.
        BadInput: tests are to be left out although changed code could change what they give.
        IntegrityViolation: a sealed cell does not hold.
        InfrastructureFailure: a cell could not be replayed; it is undecided.
    """
    plan = make_plan(options)
    if not plan.frozen.amendments:
        raise RefuseToStart(
            f"{options.experiment} is not amended: its sealed cells stand as they are",
            repair=f"after a repair of the harness: freeze {options.experiment} --amend --reason TEXT",
        )
    read(plan.study)  # a log that was tampered with stops the command before anything is decided
    prepare_layout(plan.layout)
    with writer_lock(plan.layout, utc_now()):
        found = list(candidates(plan.layout, plan.frozen))
        if not run_tests:
            _hold_out_of_reach(found)
        made: list[CarryRecord] = []
        try:
            results = _decide(options, plan, found, made, run_tests=run_tests, jobs=jobs)
        finally:
            _log(plan, made)
    _report(plan, made, results)


def _decide(
    options: Options,
    plan: Plan,
    found: list[Candidate],
    made: list[CarryRecord],
    *,
    run_tests: bool,
    jobs: int | None,
) -> tuple[Audited, ...]:
    def decide(done: Replay, audited: Audited) -> None:
        if audited.trouble:
            return
        seal = check_seal(done.folder)
        record = decision(found[done.place], audited, seal, plan.frozen, utc_now())
        write_decision(plan.layout, record)
        made.append(record)

    replays = [Replay(place, one.folder, one.old) for place, one in enumerate(found)]
    return replay(options, plan, replays, run_tests=run_tests, jobs=jobs, done=decide)


def _hold_out_of_reach(found: list[Candidate]) -> None:
    for one in found:
        if one.reached:
            raise BadInput(
                f"--no-tests: {one.reached} changed since {one.old.name} was sealed, and may change what its"
                " tests give",
                repair="leave the option out: tests and verdict have to be made again",
            )


def _log(plan: Plan, made: list[CarryRecord]) -> None:
    """One deviation for all decisions of this call."""
    if not made:
        return
    refused = [record for record in made if record.decision == "refused"]
    names = ", ".join(record.old.name for record in refused[:5])
    more = f" and {len(refused) - 5} more" if len(refused) > 5 else ""
    amendment = plan.frozen.amendments[-1]
    tests = "tests run again" if made[0].tests_run else "test runs taken from the record"
    append(
        plan.study,
        Deviation(
            experiment=plan.inputs.experiment.name,
            at=utc_now(),
            unsealing=unsealing_of(plan.study, plan.inputs),
            what=f"carry-over to amendment {amendment.number}: {len(made) - len(refused)} cells carried,"
            f" {len(refused)} refused ({tests}){f': {names}{more}' if refused else ''}",
            why=" ".join(amendment.reason.split()),
            who=getpass.getuser(),
            effect="carried cells are byte-identical under the new code and change no result; refused ones"
            " are run again, and their first records stay in raw/",
        ),
    )


def _report(plan: Plan, made: list[CarryRecord], results: tuple[Audited, ...]) -> None:
    refused = sorted((r for r in made if r.decision == "refused"), key=lambda record: record.new.sequence)
    name, hide = plan.inputs.experiment.name, veil_of(plan)
    print(f"{name}: {len(made) - len(refused)} cells carried over, {len(refused)} refused")
    for record in refused:
        print(f"  refused: {record.old.name}: {hide(record.difference)}")
    if refused:
        print(f"  refused cells are run again by: repairlab run {name}")
    troubled = [one for one in results if one.trouble]
    if troubled:
        raise InfrastructureFailure(
            f"{len(troubled)} cells could not be replayed and are undecided; the first:"
            f"\n  {troubled[0].cell}: {troubled[0].trouble}",
            kind="replay",
        )
