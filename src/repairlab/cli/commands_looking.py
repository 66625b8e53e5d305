"""Commands that show what agents would be shown, and what was derived on this machine."""

from __future__ import annotations

from typing import Annotated

import typer

from repairlab.cli.arguments import HERE, Cache, HostUrl, Name, Sources, StudyDir


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


def cache(
    clear: Annotated[str, typer.Option(metavar="PART", help="Remove one part, or all.")] = "",
    study: StudyDir = HERE,
    cache: Cache = "",
) -> None:
    """Show what was derived on this machine (mirrors, checkouts, indexes, environments), or clear it."""
    from repairlab.cli.caching import cache_command

    cache_command(study, cache, clear)
