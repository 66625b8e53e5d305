"""Commands with a word before them: `models`, `host`, `deviations`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from repairlab.cli.arguments import HERE, HostUrl, Name, StudyDir

models = typer.Typer(
    no_args_is_help=True, help="The models of a host, and what a study pins of them.", rich_markup_mode=None
)
host = typer.Typer(no_args_is_help=True, help="The emulator of a model host.", rich_markup_mode=None)
deviations = typer.Typer(no_args_is_help=True, help="The log of deviations.", rich_markup_mode=None)


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
