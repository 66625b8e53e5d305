"""Commands on what is frozen and what is sealed: freeze, verify, show, diff, audit, carry-over."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from repairlab.cli.arguments import HERE, Cache, Jobs, Name, Plain, Sandbox, Sources, StudyDir

Unblind = Annotated[
    str,
    typer.Option(metavar="REASON", help="Show outcomes of a preregistered experiment; the reason is logged."),
]
NoTests = Annotated[bool, typer.Option("--no-tests", help="Take test runs and verdict from the record.")]
Full = Annotated[bool, typer.Option("--full", help="Whole texts, nothing shortened.")]


def freeze(
    experiment: Name,
    study: StudyDir = HERE,
    replace: Annotated[
        bool, typer.Option("--replace", help="Freeze anew; for experiments that are not preregistered.")
    ] = False,
    amend: Annotated[
        bool, typer.Option("--amend", help="Append an amendment: a repair of the harness, nothing else.")
    ] = False,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why it is amended.")] = "",
    tag: Annotated[
        str,
        typer.Option(metavar="NAME", help="The signed git tag that you will make of it; verify checks it."),
    ] = "",
    environments: Annotated[
        bool,
        typer.Option(
            "--environments",
            help="Name the test environments of this machine; a preregistered experiment always does.",
        ),
    ] = False,
    sources: Sources = "",
    cache: Cache = "",
    sandbox: Sandbox = "bubblewrap",
) -> None:
    """Freeze an experiment: its inputs, its cells and their order; or amend its freeze."""
    from repairlab.cli.freezing import Wish, amend_command, freeze_command

    if amend:
        amend_command(study, experiment, reason, tag)
        return
    from repairlab.cli.freezing_environments import Where, environment_keys

    keys = environment_keys(study, experiment, Where(sources, cache, sandbox), asked=environments)
    freeze_command(study, experiment, Wish(replace, tag, keys))


def verify(
    experiment: Name,
    study: StudyDir = HERE,
    authority: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            exists=True,
            dir_okay=False,
            help="Certificates (PEM) of the time-stamp authority whose tokens lie beside the records.",
        ),
    ] = None,
) -> None:
    """Hold freeze record, amendments, timestamps and every sealed cell against their digests."""
    from repairlab.cli.verifying import verify_command

    verify_command(study, experiment, authority)


def show(
    experiment: Name,
    cell: Annotated[str, typer.Argument(help="Name of a sealed cell, or the start of one.")] = "",
    full: Full = False,
    study: StudyDir = HERE,
    unblind: Unblind = "",
) -> None:
    """Show the results of an experiment, or one sealed cell step by step."""
    from repairlab.cli.showing import show_command

    show_command(study, experiment, cell, unblind, full=full)


def diff(
    experiment: Name,
    left: Annotated[str, typer.Argument(metavar="CELL", help="Name of a sealed cell, or the start of one.")],
    right: Annotated[str, typer.Argument(metavar="CELL", help="Another run of the same task.")],
    full: Full = False,
    study: StudyDir = HERE,
    unblind: Unblind = "",
) -> None:
    """Set two runs of one task side by side, step by step."""
    from repairlab.cli.differing import diff_command

    diff_command(study, experiment, left, right, unblind, full=full)


def audit(
    experiment: Name,
    cell: Annotated[str, typer.Argument(help="Name of a sealed cell, or the start of one.")] = "",
    every: Annotated[bool, typer.Option("--all", help="Every sealed cell of the experiment.")] = False,
    no_tests: NoTests = False,
    jobs: Jobs = None,
    study: StudyDir = HERE,
    sources: Sources = "",
    cache: Cache = "",
    sandbox: Sandbox = "bubblewrap",
    plain: Plain = False,
) -> None:
    """Replay sealed cells from their recorded replies, without a host; everything must come out equal."""
    from repairlab.cli.auditing import audit_command
    from repairlab.cli.running import Options

    options = Options(study, experiment, sources, cache, "", sandbox, plain)
    audit_command(options, cell, every=every, run_tests=not no_tests, jobs=jobs)


def carry_over(
    experiment: Name,
    no_tests: NoTests = False,
    jobs: Jobs = None,
    study: StudyDir = HERE,
    sources: Sources = "",
    cache: Cache = "",
    sandbox: Sandbox = "bubblewrap",
    plain: Plain = False,
) -> None:
    """After an amendment: replay sealed cells under the new code; those that are byte-identical stand."""
    from repairlab.cli.carrying import carry_over_command
    from repairlab.cli.running import Options

    options = Options(study, experiment, sources, cache, "", sandbox, plain)
    carry_over_command(options, run_tests=not no_tests, jobs=jobs)
