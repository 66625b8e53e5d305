"""Commands on the way to sealed cells: doctor, prepare, run, status, demo."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from repairlab.cli.arguments import HERE, Cache, HostUrl, Name, Plain, Sandbox, Sources, StudyDir


def doctor(
    experiment: Annotated[
        str, typer.Argument(metavar="[EXPERIMENT]", help="Check what this experiment needs.")
    ] = "",
    study: StudyDir = HERE,
    sources: Sources = "",
    cache: Cache = "",
    host_url: HostUrl = "",
    record: Annotated[
        Path | None,
        typer.Option(
            "--record",
            metavar="FILE",
            dir_okay=False,
            help="Write what the model host was asked and answered, without token and names.",
        ),
    ] = None,
) -> None:
    """Check this machine and the model host. Exit status 0 only if a run may start."""
    from repairlab.cli.doctor import doctor_command

    doctor_command(study, experiment, sources, cache, host_url, record)


def prepare(
    experiment: Name,
    study: StudyDir = HERE,
    sources: Sources = "",
    cache: Cache = "",
    sandbox: Sandbox = "bubblewrap",
    plain: Plain = False,
) -> None:
    """Make what cells need: mirrors, checkouts, search corpora, test environments; run the gold check."""
    from repairlab.cli.running import Options, prepare_command

    prepare_command(Options(study, experiment, sources, cache, "", sandbox, plain))


def run(
    experiment: Name,
    study: StudyDir = HERE,
    sources: Sources = "",
    cache: Cache = "",
    host_url: HostUrl = "",
    sandbox: Sandbox = "bubblewrap",
    limit: Annotated[int | None, typer.Option(min=1, metavar="N", help="Stop after N cells.")] = None,
    retry_blocked: Annotated[
        bool, typer.Option("--retry-blocked", help="Try blocked cells again; failed attempts stay on record.")
    ] = False,
    plain: Plain = False,
) -> None:
    """Run every cell that is not sealed yet, in the frozen order. Run it again to resume."""
    from repairlab.cli.running import Options, run_command

    options = Options(study, experiment, sources, cache, host_url, sandbox, plain)
    run_command(options, limit, retry_blocked=retry_blocked)


def status(
    experiment: Name,
    study: StudyDir = HERE,
    usage: Annotated[
        bool, typer.Option("--usage", help="Add up calls, tokens and seconds of the sealed cells too.")
    ] = False,
    json_output: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """How many cells are sealed, blocked and pending. Shows no outcome."""
    from repairlab.cli.status import status_command

    status_command(study, experiment, json_output=json_output, usage=usage)


def demo(study: StudyDir = HERE, cache: Cache = "", plain: Plain = False) -> None:
    """Freeze, prepare and run the embedded study, and print its results."""
    from repairlab.cli.demo import demo_command

    demo_command(study, cache, plain=plain)
