"""The command line. Commands are thin: they resolve settings, call a room, print a result.

Nothing heavy is imported before a command needs it, so that help and status answer at once.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Literal

import typer

from repairlab.cli import commands_records
from repairlab.cli.arguments import HERE, Cache, HostUrl, Name, Plain, Sandbox, Sources, StudyDir
from repairlab.contract.errors import RefuseToStart, RepairlabError

app = typer.Typer(
    name="repairlab",
    help="Preregistered experiments on code-repair agents with local language models.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    epilog="A study is a directory with contracts/, experiments/, preregistration/, raw/ and incomplete/.",
)
host = typer.Typer(no_args_is_help=True, help="The emulator of a model host.", rich_markup_mode=None)
app.add_typer(host, name="host")
models = typer.Typer(
    no_args_is_help=True, help="The models of a host, and what a study pins of them.", rich_markup_mode=None
)
app.add_typer(models, name="models")
deviations = typer.Typer(no_args_is_help=True, help="The log of deviations.", rich_markup_mode=None)
app.add_typer(deviations, name="deviations")
commands_records.register(app)


@app.command()
def skeleton(
    experiment: Name,
    study: StudyDir = HERE,
    sources: Sources = "",
    cache: Cache = "",
    show: Annotated[str, typer.Option("--show", metavar="TASK", help="Print this task's skeleton too.")] = "",
) -> None:
    """What the first stage of A001 is shown of each task, and whether the files of its fix are in it."""
    from repairlab.cli.skeletons import skeleton_command

    skeleton_command(study, experiment, sources, cache, show=show)


@app.command()
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


@app.command()
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


@deviations.command("list")
def list_deviations(study: StudyDir = HERE) -> None:
    """Print what was done otherwise than preregistered, and check that the log was not edited."""
    from repairlab.cli.deviating import list_command

    list_command(study)


@deviations.command("add")
def add_deviation(
    experiment: Name,
    what: Annotated[str, typer.Option(help="What was done otherwise, in one line.")],
    why: Annotated[str, typer.Option(help="The reason.")],
    who: Annotated[str, typer.Option(help="Who decided it.")],
    effect: Annotated[str, typer.Option(help="On each confirmatory result, with and without.")],
    unsealing: Annotated[
        Literal["before", "after"], typer.Option(help="Whether outcomes had been shown to anyone by then.")
    ],
    study: StudyDir = HERE,
) -> None:
    """Append to the log of deviations. Nothing in it can be changed later."""
    from repairlab.cli.deviating import add_command

    add_command(study, experiment, what, why, who, effect, unsealing)


@app.command()
def demo(study: StudyDir = HERE, cache: Cache = "", plain: Plain = False) -> None:
    """Freeze, prepare and run the embedded study, and print its results."""
    from repairlab.cli.demo import demo_command

    demo_command(study, cache, plain=plain)


@app.command()
def status(
    experiment: Name,
    study: StudyDir = HERE,
    json_output: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """How many cells are sealed, blocked and pending. Shows no outcome."""
    from repairlab.cli.status import status_command

    status_command(study, experiment, json_output=json_output)


Unblind = Annotated[
    str, typer.Option(metavar="REASON", help="Show outcomes that are blinded; the reason is logged.")
]
Incomplete = Annotated[
    bool,
    typer.Option(
        "--incomplete", help="Report the complete part, stamped, with bounds for the missing cells."
    ),
]


@app.command()
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
        list[str] | None, typer.Option(metavar="TABLE", help="T1 to T10; may be repeated.")
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


@app.command()
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


@app.command()
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


@app.command()
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


@app.command()
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


@app.command()
def search(
    place: Annotated[str, typer.Argument(metavar="REPOSITORY@COMMIT", help="Where to search.")],
    query: Annotated[str, typer.Argument(help="What to look for.")],
    tool: Annotated[
        str, typer.Option(help="exact, lexical, symbols, dense, dense-first, hybrid or graph.")
    ] = "exact",
    embedder: Annotated[
        str, typer.Option(help="An embedder of contracts/models.toml, such as HASHING. Without: no dense.")
    ] = "",
    mode: Annotated[str, typer.Option(help="Exact, dense-first: literal, substring, regex.")] = "substring",
    language: Annotated[str, typer.Option(help="Which sources are searched: python, go.")] = "python",
    explain: Annotated[bool, typer.Option("--explain", help="Show each component's ranks.")] = False,
    study: StudyDir = HERE,
    host: HostUrl = "",
    sources: Sources = "",
    cache: Cache = "",
) -> None:
    """Ask one search tool about a commit, as an agent would."""
    from repairlab.cli.searching import Question, search_command

    search_command(
        Question(study, place, query, tool, mode, language, embedder, host, sources, cache), explain=explain
    )


@app.command("cache")
def cache_contents(
    clear: Annotated[str, typer.Option(metavar="PART", help="Remove one part, or all.")] = "",
    study: StudyDir = HERE,
    cache: Cache = "",
) -> None:
    """Show what was derived on this machine (mirrors, checkouts, indexes, environments), or clear it."""
    from repairlab.cli.caching import cache_command

    cache_command(study, cache, clear)


@models.command("discover")
def discover(study: StudyDir = HERE, host_url: HostUrl = "") -> None:
    """List every model at the host with the facts that a study pins, and what a run would miss."""
    from repairlab.cli.models import discover_command

    discover_command(study, host_url)


@models.command("pin")
def pin(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Entry of contracts/models.toml, such as M002.")
    ],
    key: Annotated[str, typer.Argument(metavar="KEY", help="Key of the model at the host.")],
    study: StudyDir = HERE,
    host_url: HostUrl = "",
    replace: Annotated[
        bool, typer.Option("--replace", help="Write over facts that are pinned to something else.")
    ] = False,
) -> None:
    """Load a model as the study would, verify it, and write its facts into contracts/models.toml."""
    from repairlab.cli.models import pin_command

    pin_command(study, name, key, host_url, replace=replace)


@host.command("serve")
def serve(
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port on the loopback address; 0 takes a free one.")
    ] = 1234,
    knowledge: Annotated[
        Path | None,
        typer.Option(exists=True, dir_okay=False, help="What the calibration models know (JSON)."),
    ] = None,
    models_config: Annotated[
        Path | None,
        typer.Option(exists=True, dir_okay=False, help="The models of the host and its settings (JSON)."),
    ] = None,
    recordings: Annotated[
        Path | None,
        typer.Option(
            exists=True, dir_okay=False, help="A transcript that models of the engine 'recorded' repeat."
        ),
    ] = None,
    llama: Annotated[
        bool, typer.Option("--llama", help="Offer the small language model of the extra too.")
    ] = False,
    minilm: Annotated[
        bool, typer.Option("--minilm", help="Offer the small embedder of the extra too.")
    ] = False,
) -> None:
    """Serve the emulator until it is interrupted."""
    from repairlab.cli.serving import serve_command

    serve_command(
        port,
        models_config=models_config,
        knowledge=knowledge,
        recordings=recordings,
        llama=llama,
        minilm=minilm,
    )


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


def entry() -> None:
    """Run the command line; every error of repairlab becomes one message and its exit status."""
    try:
        app()
    except RepairlabError as error:
        print(f"repairlab: {error}", file=sys.stderr)
        sys.exit(error.exit_status)
    except SystemExit as end:
        if end.code == _INTERRUPTED:
            print("repairlab: interrupted; run the command again to go on", file=sys.stderr)
        raise


_INTERRUPTED = 130
"""What the framework makes of a keyboard interrupt, without a word."""
