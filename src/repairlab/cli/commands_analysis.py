"""Commands of the analysis: report and export what is sealed, simulate studies, simulate power."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from repairlab.cli.arguments import HERE, Name, StudyDir
from repairlab.contract.errors import RefuseToStart

Unblind = Annotated[
    str, typer.Option(metavar="REASON", help="Show outcomes that are blinded; the reason is logged.")
]
Incomplete = Annotated[
    bool,
    typer.Option(
        "--incomplete", help="Report the complete part, stamped, with bounds for the missing cells."
    ),
]


def report(
    experiment: Name,
    study: StudyDir = HERE,
    incomplete: Incomplete = False,
    json_output: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", file_okay=False, help="Also write report.json and report.md."),
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(metavar="TABLE", help="T1 to T11; may be repeated.")
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option(metavar="TASK", help="Add a labelled sensitivity without a task found broken."),
    ] = None,
    unblind: Unblind = "",
) -> None:
    """Report the registered analysis. Exit status 3, with a list, while the records are not complete."""
    need_analysis()
    from repairlab.cli.reporting import report_command

    report_command(
        study,
        experiment,
        out,
        unblind,
        only or (),
        without or (),
        incomplete=incomplete,
        json_output=json_output,
    )


def export(
    experiment: Name,
    out: Annotated[Path, typer.Option(metavar="DIR", file_okay=False, help="Where the files go.")],
    study: StudyDir = HERE,
    incomplete: Incomplete = False,
    unblind: Unblind = "",
) -> None:
    """Export cells, attempts, calls, transitions, files and tests as Parquet, with a data dictionary."""
    need_analysis()
    from repairlab.cli.exporting import export_command

    export_command(study, experiment, out, unblind, incomplete=incomplete)


def simulate(
    target: Annotated[Path, typer.Argument(metavar="DIR", help="A new study directory.")],
    name: Annotated[str, typer.Option(help="Name of the simulated experiment.")] = "simulated",
    tasks: Annotated[int, typer.Option(min=1, max=9999, help="Tasks of each of three repositories.")] = 20,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the generator (PCG64).")] = 1,
    base: Annotated[float, typer.Option(help="Rate of every arm without an effect.")] = 0.25,
    effect: Annotated[
        list[str] | None, typer.Option(metavar="ARM=D", help="Plant a difference; may be repeated.")
    ] = None,
    failing: Annotated[
        list[str] | None,
        typer.Option(metavar="ARM=SHARE", help="Share of cells with a failed attempt before the sealed one."),
    ] = None,
    missing: Annotated[int, typer.Option(min=0, help="Cells without any record.")] = 0,
    blocked: Annotated[int, typer.Option(min=0, help="Cells with failed attempts alone.")] = 0,
    stop_after: Annotated[int | None, typer.Option(min=0, metavar="N", help="Stop after N cells.")] = None,
    rehearsal: Annotated[
        bool, typer.Option("--rehearsal", help="Blinded like a preregistered experiment.")
    ] = False,
    study: StudyDir = HERE,
) -> None:
    """Write a study directory with simulated outcomes, in the real format: for tests and teaching."""
    need_analysis()
    from repairlab.cli.simulating import Wanted, simulate_command

    given = Wanted(
        study, target, name, tasks, seed, base, effect or (), failing or (), missing, blocked, stop_after,
        rehearsal,
    )  # fmt: skip
    simulate_command(given)


def power(
    study: StudyDir = HERE,
    tasks: Annotated[int, typer.Option(min=2, max=400, help="Tasks of a study.")] = 60,
    datasets: Annotated[
        int, typer.Option(min=100, max=50_000, metavar="N", help="Simulated studies for each row.")
    ] = 20_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the generator (PCG64).")] = 1,
    json_output: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Simulate what the registered tests would see: power, detectable effects, size. Reads no outcome."""
    from repairlab.cli.powering import Asked, power_command

    power_command(Asked(study, tasks, datasets, seed, json_output))


def need_analysis() -> None:
    """Refuse a command whose libraries belong to an extra that is not installed.

    Raises:
        RefuseToStart: with the command that installs it.
    """
    for name in ("polars", "statsmodels"):
        if find_spec(name) is None:
            raise RefuseToStart(
                f"this command needs {name}", repair="install the extra: pip install 'repairlab[analysis]'"
            )
