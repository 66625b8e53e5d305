"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Name = Annotated[
    str, typer.Argument(metavar="EXPERIMENT", help="Name of a file in experiments/, without .toml.")
]
StudyDir = Annotated[Path, typer.Option("--study", metavar="DIR", help="The study directory.")]
Sources = Annotated[
    str,
    typer.Option(
        metavar="TEMPLATE", help="Where repositories come from, such as /clones/{owner}/{name}.git."
    ),
]
Cache = Annotated[str, typer.Option(metavar="DIR", help="Where derived material is kept.")]
HostUrl = Annotated[
    str, typer.Option("--host", metavar="URL", help="The model host, such as http://127.0.0.1:1234.")
]
Sandbox = Annotated[
    str,
    typer.Option(metavar="NAME", help="How tests run: bubblewrap, copy, podman, docker, none."),
]
Plain = Annotated[bool, typer.Option("--plain", help="Plain lines instead of a progress display.")]
Jobs = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Replays at a time; one for each core if not given.")
]
HERE = Path()
