"""`repairlab models discover` and `repairlab models pin`: what a host has, and what a study may rely on."""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence
from pathlib import Path

from repairlab.cli.alone import no_run_meanwhile
from repairlab.cli.hosting import Host, connect
from repairlab.cli.pinning import differing_facts, replace_file, with_facts
from repairlab.cli.settings import settings_for
from repairlab.cli.tables import print_table
from repairlab.contract import models as contract
from repairlab.contract.controls import SharedControls
from repairlab.contract.errors import BadInput, RefuseToStart
from repairlab.contract.experiment import Experiment
from repairlab.contract.failures import FailureTable, load_failures
from repairlab.contract.strict import load
from repairlab.contract.study import Study, open_study
from repairlab.hosts.facts import Kind, ModelFacts, VerifiedFacts
from repairlab.hosts.failures import FailureRules
from repairlab.hosts.wire import ListedModel, Listing

_SILENCE_SECONDS = 600.0
_CALIBRATION = "calibration"
"""The architecture that programs of known behaviour report."""
_HEADER = (
    "key",
    "type",
    "format",
    "quantization",
    "variants",
    "reasoning",
    "max context",
    "loaded",
    "pinned as",
    "notes",
)


def discover_command(root: Path, host_url: str) -> None:
    """Print every model at the host with the facts that a study pins. Nothing is loaded or unloaded."""
    study = Study(root.resolve())
    settings = settings_for(study, os.environ, host=host_url)
    pinned = _pinned(study)
    context = _shared_context(study)
    with connect(
        settings.host, settings.token, FailureRules(_table(study)), _SILENCE_SECONDS, os.environ
    ) as host:
        listing, ids = host.client.list_models(), host.client.inference_ids()
    rows = [_row(model, pinned, context) for model in sorted(listing.models, key=lambda one: one.key)]
    print_table(f"models at {settings.host}", _HEADER, rows)
    for line in _remarks(listing, ids):
        print(f"  {line}")


def pin_command(root: Path, name: str, key: str, host_url: str, *, replace: bool) -> None:
    """Load `key` as the study would, and write what was verified as the facts of `name`.

    Raises:
        RefuseToStart: a preregistered experiment is frozen; the host's model is not what it must be; a fact
            is pinned to something else and `replace` is false.
        BadInput: no such entry, or its facts cannot be edited.
    """
    study = open_study(root)
    path = study.contracts / "models.toml"
    before = path.read_bytes().decode("utf-8")
    model = _entry(path, name)
    refuse_frozen(study, name)
    settings = settings_for(study, os.environ, host=host_url)
    shared = load(SharedControls, study.contracts / "shared.toml").generation
    rules = FailureRules(load_failures(study.contracts))
    with (
        no_run_meanwhile(study),
        connect(settings.host, settings.token, rules, shared.silence_seconds, os.environ) as host,
    ):
        verified, level = _verified(host, model, key, shared.context_tokens)
    declared = {name: getattr(model.facts, name) for name in ("native_dimensions", "padded")}
    facts = pinnable(verified).model_copy(update=declared)
    differing = differing_facts(model.facts, facts)
    if differing and not replace:
        raise RefuseToStart(
            f"{name}: " + "; ".join(differing),
            repair="repair the host, or write the new facts over the pinned ones with --replace",
        )
    after = with_facts(before, name, facts, str(path))
    _report(name, verified, level)
    if after == before:
        print(f"{path}: says so already; nothing was written")
        return
    replace_file(path, before, after)
    _show_diff(path.relative_to(study.root).as_posix(), before, after)
    for experiment in _frozen_experiments(study):
        print(f"  {experiment} was frozen with the old facts: repairlab freeze {experiment} --replace")


def pinnable(verified: VerifiedFacts) -> contract.ModelFacts:
    """What a study pins of a verified instance. What the host does not report stays ``None``.

    Raises:
        RefuseToStart: the host reports the word that marks a placeholder.
    """
    facts = contract.ModelFacts(
        key=verified.key,
        format=verified.format,
        quantization=verified.quantization,
        selected_variant=verified.selected_variant,
        reasoning_default=verified.reasoning_default,
        inference_key=verified.instance_id,
    )
    if facts.unpinned():
        raise RefuseToStart(
            f"{verified.key}: the host reports {contract.UNPINNED!r} as {', '.join(facts.unpinned())}",
            repair="that word marks a fact that is not verified; rename it at the host",
        )
    return facts


def refuse_frozen(study: Study, name: str) -> None:
    """Refuse while a preregistered experiment of `study` is frozen.

    Its freeze holds a digest of the whole file, so that any change of it, of another model too, would stop
    the experiment.

    Raises:
        RefuseToStart: naming the experiment.
    """
    for experiment in _frozen_experiments(study):
        path = study.experiment_file(experiment)
        if not path.is_file():
            raise RefuseToStart(
                f"{experiment} is frozen, and {path.name} is gone, which says whether it is preregistered",
                repair="restore the file",
            )
        described = load(Experiment, path)
        if described.preregistered:
            uses = f"uses {name}" if name in described.models else "was frozen with the same file"
            raise RefuseToStart(
                f"{experiment} is frozen as preregistered and {uses}: contracts/models.toml may not change",
                repair="a preregistered experiment keeps its models; describe a new experiment for others",
            )


def _frozen_experiments(study: Study) -> list[str]:
    suffix = ".freeze.json"
    return sorted(path.name.removesuffix(suffix) for path in study.preregistration.glob(f"*{suffix}"))


def _entry(path: Path, name: str) -> contract.Model:
    known = load(contract.Models, path).root
    if name not in known:
        raise BadInput(f"{path}: no entry {name}", repair=f"entries here: {', '.join(sorted(known))}")
    return known[name]


def _verified(host: Host, model: contract.Model, key: str, context_tokens: int) -> tuple[VerifiedFacts, str]:
    """Load `key` and hold what the host then shows against what its list said before; unload it again."""
    kind: Kind = "embedding" if model.role == "embedder" else "llm"
    listing = host.client.list_models()
    entry = next((one for one in listing.models if one.key == key), None)
    if entry is None:
        raise RefuseToStart(
            f"the host has no model with the key {key!r}", repair=_nearest(key, listing, kind)
        )
    if (entry.architecture == _CALIBRATION) != model.calibration:
        what = "is a language model" if model.calibration else "is a calibration model, no language model"
        raise RefuseToStart(
            f"{key} {what}", repair="pin a model of the kind that the entry's field calibration tells"
        )
    wanted = ModelFacts(
        key=key,
        kind=kind,
        context_tokens=model.context_tokens or context_tokens,
        format=entry.format,
        quantization=entry.quantization_name,
        selected_variant=entry.selected_variant,
        reasoning_default=entry.reasoning_default,
        inference_key=contract.UNPINNED,
    )
    transition = host.residency.ensure(wanted, fresh=True)
    host.residency.release()
    return transition.verified, transition.level


def _nearest(key: str, listing: Listing, kind: Kind) -> str:
    keys = sorted(model.key for model in listing.models if model.type == kind)
    close = difflib.get_close_matches(key, keys, n=1)
    return f"did you mean {close[0]}?" if close else f"of type {kind} it has: {', '.join(keys) or 'none'}"


def _report(name: str, verified: VerifiedFacts, level: str) -> None:
    print(f"{name}: {verified.key} verified at level {level} with a context of {verified.context_tokens}")
    reported = pinnable(verified).model_dump(exclude={"native_dimensions", "padded"})
    absent = [fact for fact, value in reported.items() if value is None]
    if absent:
        print(f"  nothing is reported for: {', '.join(absent)}; a run refuses a host that does report it")


def _show_diff(path: str, before: str, after: str) -> None:
    lines = difflib.unified_diff(before.split("\n"), after.split("\n"), f"a/{path}", f"b/{path}", lineterm="")
    print("\n".join(lines))


def _row(model: ListedModel, pinned: dict[str, list[str]], context: int | None) -> list[str]:
    loaded = [f"{one.id} ({one.config.context_length})" for one in model.loaded_instances]
    variants = [f"*{one}" if one == model.selected_variant else one for one in model.variants or ()]
    return [
        model.key,
        model.type,
        model.format or "-",
        model.quantization_name or "-",
        " ".join(variants) or "-",
        model.reasoning_default or "-",
        str(model.max_context_length),
        " ".join(loaded) or "-",
        " ".join(pinned.get(model.key, ())) or "-",
        "; ".join(_notes(model, context)) or "-",
    ]


def _notes(model: ListedModel, context: int | None) -> Sequence[str]:
    notes = []
    if model.format is None:
        notes.append("no format")
    if model.quantization_name is None:
        notes.append("no quantization")
    if bool(model.variants) != (model.selected_variant is not None):
        notes.append("variants and selected variant do not go together")
    if model.type == "llm":
        if model.capabilities is None:
            notes.append("no capabilities")
        elif not model.capabilities.trained_for_tool_use:
            notes.append("not trained for tool use")
        if context is not None and model.max_context_length < context:
            notes.append(f"context below the study's {context}")
    if len(model.loaded_instances) > 1:
        notes.append("loaded more than once")
    return notes


def _remarks(listing: Listing, ids: tuple[str, ...]) -> Sequence[str]:
    """What concerns the host as a whole."""
    remarks = []
    llms = [model for model in listing.models if model.type == "llm"]
    if llms and not any(model.variants or model.reasoning_default for model in llms):
        remarks.append(
            "no model here shows variants or a reasoning switch: either none has them, or the server is too"
            " old to report them; a study pinned here is refused by a server that reports them"
        )
    extra = sorted(set(ids) - {instance.id for _, instance in listing.resident})
    if extra:
        remarks.append(
            "the inference routes show models that are not loaded: just-in-time loading is on, and a run"
            " refuses that; switch it off in the server's settings"
        )
    if len(listing.resident) > 1:
        remarks.append(f"{len(listing.resident)} instances are loaded at once; a run unloads them")
    keys = [model.key for model in listing.models]
    twice = sorted({key for key in keys if keys.count(key) > 1})
    if twice:
        remarks.append(f"keys that stand for more than one model, which a run refuses: {', '.join(twice)}")
    return remarks


def _pinned(study: Study) -> dict[str, list[str]]:
    """Names in the study's contracts, by the key that they are pinned to; empty outside of a study."""
    path = study.contracts / "models.toml"
    found: dict[str, list[str]] = {}
    for name, model in sorted(load(contract.Models, path).root.items()) if path.is_file() else ():
        found.setdefault(model.facts.key, []).append(name)
    return found


def _shared_context(study: Study) -> int | None:
    path = study.contracts / "shared.toml"
    return load(SharedControls, path).generation.context_tokens if path.is_file() else None


def _table(study: Study) -> FailureTable | None:
    return load_failures(study.contracts) if (study.contracts / "failures.toml").is_file() else None
