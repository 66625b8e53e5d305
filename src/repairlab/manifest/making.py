"""Making a freeze, and amending it. Nothing is written here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from repairlab.contract.errors import BadInput, RefuseToStart
from repairlab.contract.study import Inputs, Study
from repairlab.manifest.amendments import Amendment, changes, first_moved_field
from repairlab.manifest.expand import expand
from repairlab.manifest.freeze import FreezeRecord, Frozen, SourceState, input_files
from repairlab.manifest.revision import Code


class Moment(NamedTuple):
    """What a freeze or an amendment says of itself."""

    source: SourceState
    now: str
    tag: str = ""


def make_freeze(
    study: Study, inputs: Inputs, code: Code, moment: Moment, environments: Mapping[str, str] | None = None
) -> Frozen:
    """Expand and describe an experiment; nothing is written.

    Args:
        study: its directory.
        inputs: its frozen inputs.
        code: the program.
        moment: source state, time and tag.
        environments: key of each task's test environment, where they are frozen too.

    Raises:
        RefuseToStart: a preregistered experiment with an unpinned model fact, a dirty source tree or an
            environment that is not known.
    """
    known = dict(environments or {})
    if inputs.experiment.preregistered:
        _refuse_unready(inputs, moment.source)
        unknown = sorted(set(inputs.tasks) - known.keys())
        if unknown:
            raise RefuseToStart(
                f"the test environment of {unknown[0]} is not known",
                repair="a frozen study names its test environments: prepare its tasks on this machine first",
            )
    manifest = expand(inputs, code.revision)
    record = FreezeRecord(
        schema_version=1,
        experiment=inputs.experiment.name,
        manifest=manifest.digest(),
        cells=len(manifest.cells),
        inputs=input_files(study, inputs),
        code=code.revision,
        sources=code.sources,
        environments=known,
        host_level=inputs.experiment.host_level,
        source_commit=moment.source.commit,
        source_dirty=moment.source.dirty,
        frozen_at=moment.now,
        tag=moment.tag,
    )
    return Frozen(record, manifest)


def amend(study: Study, inputs: Inputs, frozen: Frozen, code: Code, moment: Moment, reason: str) -> Frozen:
    """The next link of the chain; nothing is written.

    Raises:
        RefuseToStart: nothing differs, more differs than a repair of the harness may change, or a
            preregistered experiment has a dirty source tree.
        BadInput: no reason.
    """
    if not reason.strip():
        raise BadInput("an amendment needs a reason: --reason TEXT")
    if inputs.experiment.preregistered and moment.source.dirty:
        raise _dirty()
    changed = changes(frozen.files(), {**input_files(study, inputs), **code.sources})
    manifest = expand(inputs, code.revision)
    if not changed and code.revision == frozen.code:
        raise RefuseToStart(
            f"{inputs.experiment.name}: nothing differs from its freeze, so nothing is amended"
        )
    moved = first_moved_field(frozen.manifest, manifest)
    plan = next((path for path in changed if path.startswith("preregistration/")), "")
    if moved or plan:
        raise RefuseToStart(
            f"{inputs.experiment.name}: {moved or plan} changed: that is another experiment, no repair of the"
            " harness",
            repair="an amendment changes code and prose alone; restore the rest, or freeze a new experiment",
        )
    amendment = Amendment(
        schema_version=1,
        experiment=inputs.experiment.name,
        number=len(frozen.amendments) + 1,
        parent=frozen.head,
        reason=reason.strip(),
        changed=changed,
        code=code.revision,
        manifest=manifest.digest(),
        source_commit=moment.source.commit,
        source_dirty=moment.source.dirty,
        amended_at=moment.now,
        tag=moment.tag,
    )
    return Frozen(frozen.record, manifest, (*frozen.amendments, amendment))


def _refuse_unready(inputs: Inputs, source: SourceState) -> None:
    models = dict(inputs.models)
    if inputs.embedder:
        models[inputs.experiment.embedder] = inputs.embedder
    for name, model in sorted(models.items()):
        unpinned = model.facts.unpinned()
        if unpinned:
            raise RefuseToStart(
                f"contracts/models.toml: {name}: {', '.join(unpinned)} not verified at a host",
                repair="a frozen study names models by verified facts; fill them in first",
            )
    if source.dirty:
        raise _dirty()


def _dirty() -> RefuseToStart:
    return RefuseToStart(
        "the source tree has uncommitted changes", repair="commit them: a frozen study names its code"
    )
