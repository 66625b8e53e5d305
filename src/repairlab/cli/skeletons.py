"""`repairlab skeleton`: what the first stage of A001 is shown of each task, with the fate of the fix's files.

Nothing of this enters a request: the files of a fix are known to people alone.
"""

from __future__ import annotations

import os
from pathlib import Path

from repairlab.cli.settings import settings_for
from repairlab.cli.tables import print_table
from repairlab.contract.study import load_inputs, open_study
from repairlab.repositories.sources import UPSTREAM, Sources
from repairlab.runner.indexes import open_symbols
from repairlab.runner.stages import GoldFile, Survey, survey
from repairlab.runner.workplace import Workplace
from repairlab.search.toolset import SearchPlaces

HEADER = (
    "task",
    "tokens/cap",
    "complete",
    "files named",
    "with names",
    "names",
    "files of the fix: names shown",
)


def skeleton_command(root: Path, experiment: str, sources: str, cache: str, *, show: str) -> None:
    """Print a row for each task, and the skeleton of the task `show`.

    Raises:
        BadInput: an input is malformed.
    """
    study = open_study(root)
    inputs = load_inputs(study, experiment)
    settings = settings_for(study, os.environ, sources, cache)
    workplace = Workplace(settings.cache, Sources(settings.sources or UPSTREAM))
    rows = []
    for name, task in sorted(inputs.tasks.items()):
        mirror = workplace.mirrors.ensure(task.repository, [task.base])
        indexes = open_symbols(inputs, task, mirror, SearchPlaces(workplace.search))
        found = survey(inputs, task, indexes, inputs.shared.generation.context_tokens)
        if name == show:
            print(found.skeleton.text)
        rows.append(_texts(name, found))
    print_table(f"{experiment}: skeletons of A001 (controlled adaptation)", HEADER, rows)


def _texts(name: str, found: Survey) -> tuple[str, ...]:
    skeleton = found.skeleton
    return (
        name,
        f"{skeleton.tokens}/{found.cap}",
        "yes" if skeleton.complete else "no",
        f"{len(skeleton.named)}/{len(skeleton.all_names)}",
        str(len(skeleton.names)),
        f"{sum(skeleton.names.values())}/{sum(skeleton.all_names.values())}",
        "; ".join(map(_gold, found.gold)),
    )


def _gold(file: GoldFile) -> str:
    if file.created:
        return f"{file.path}: created by the fix"
    return f"{file.path}: {f'{file.names_shown}/{file.names}' if file.named else 'NOT NAMED'}"
