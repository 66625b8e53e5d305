"""The gate: no p-value, interval or figure is computed from outcomes that did not pass here.

Every function of the analysis takes a `Gated`, and only this module can make one. The rules are those of the
preregistration: every planned key has exactly one terminal record and no other key has any; all records come
from one frozen manifest, one evaluator and one environment a task; nothing without an outcome was scored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, NoReturn

from repairlab.analysis.checks import REFREEZABLE, foreign_freezes, store_findings
from repairlab.analysis.frames import Frames
from repairlab.analysis.outcomes import Design, Key, Outcome, design_of, outcomes_of
from repairlab.contract.canonical import sha256_hex
from repairlab.contract.errors import IncompleteData


class Finding(NamedTuple):
    """One thing that closes the gate."""

    rule: str
    text: str


class GateClosed(IncompleteData):
    """The outcomes are not those that were promised. Holds every finding."""

    def __init__(self, experiment: str, findings: Sequence[Finding]) -> None:
        counts = Counter(finding.rule for finding in findings)
        total = ", ".join(f"{rule}: {count}" for rule, count in counts.items())
        lines = [line for rule in counts for line in _listed(rule, findings)]
        tolerable = {finding.rule for finding in findings} <= TOLERATED
        super().__init__(
            f"{experiment}: the gate is closed ({total})\n" + "\n".join(lines),
            repair=(
                "run the missing cells; --incomplete reports the complete part, with bounds for the rest"
                if tolerable
                else "no report can be made of these records, not even an incomplete one"
            ),
        )
        self.findings = tuple(findings)


def _listed(rule: str, findings: Sequence[Finding]) -> list[str]:
    own = [f"  {rule}: {finding.text}" for finding in findings if finding.rule == rule]
    return own if len(own) <= _LISTED else [*own[:_LISTED], f"  {rule}: and {len(own) - _LISTED} more"]


_LISTED = 20
"""Findings of one rule that the message names; `GateClosed.findings` has them all."""

MISSING, UNPLANNED, SCORED_FAILURE = "missing", "unplanned", "infrastructure record with an outcome"
DUPLICATE, UNEQUAL, EMPTY, CHANGED = "duplicate", "unequal arms", "no data", "frozen input"
TOLERATED = frozenset({MISSING, UNPLANNED, SCORED_FAILURE})
"""What an incomplete report may leave out, and says so. Everything else closes the gate for good."""


class Provenance(NamedTuple):
    """Where gated outcomes come from."""

    experiment: str
    title: str
    kind: str
    design: str
    manifest: str
    """Digest of the frozen manifest; empty for a table that has none."""
    data: str
    """SHA-256 over every record's key and seal."""


_KEY_OF_THE_GATE = object()


class Gated:
    """Outcomes that passed the gate. Made by `admit` and `admit_frames`, by nothing else.

    Attributes:
        design: what was planned.
        resolved: 0 or 1 of every key that has an outcome.
        missing: planned keys without one; empty unless an incomplete report was asked for.
        infrastructure: those of `missing` that were tried.
        notes: what was left out, and why; printed with every output.
        provenance: experiment and digests.
        frames: every table of the store, or ``None`` for outcomes that came as a table.
    """

    __slots__ = ("design", "frames", "infrastructure", "missing", "notes", "provenance", "resolved")

    design: Design
    resolved: Mapping[Key, int]
    missing: tuple[Key, ...]
    infrastructure: tuple[Key, ...]
    notes: tuple[str, ...]
    provenance: Provenance
    frames: Frames | None

    def __init__(self, key: object, **fields: object) -> None:
        if key is not _KEY_OF_THE_GATE:
            raise TypeError("outcomes pass the gate; nothing else makes them fit for analysis")
        for name in self.__slots__:
            object.__setattr__(self, name, fields[name])

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"gated outcomes are never changed: {name}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"gated outcomes are never changed: {name}")

    def __reduce__(self) -> NoReturn:
        raise TypeError("gated outcomes are neither copied nor stored; pass the gate again")

    @property
    def complete(self) -> bool:
        """Whether every planned key has its outcome."""
        return not self.missing

    @property
    def stamp(self) -> str:
        """What every output of an incomplete analysis carries; empty for a complete one."""
        if self.complete:
            return ""
        return f"INCOMPLETE {len(self.resolved)}/{len(self.design.planned)}"


def require_gated(gated: object) -> None:
    """What every function of the analysis asks first.

    Raises:
        TypeError: these outcomes did not pass the gate.
    """
    if not isinstance(gated, Gated):
        raise TypeError("only outcomes that passed the gate are analysed")


def admit_frames(frames: Frames, *, changed: Sequence[str] = (), incomplete: bool = False) -> Gated:
    """Let the records of one experiment pass, or say everything that forbids it.

    Args:
        frames: what the store holds.
        changed: frozen inputs that are not what was frozen; any closes the gate.
        incomplete: whether missing cells are tolerated, stamped on every output and bounded.

    Raises:
        GateClosed: with every finding.
    """
    plan = frames.plan
    findings = [Finding(CHANGED, text) for text in changed]
    findings += [Finding(rule, text) for rule, text in store_findings(frames)]
    notes = list(_of_earlier_freezes(frames))
    if plan.kind not in REFREEZABLE:
        findings += [Finding(UNPLANNED, name) for name in frames.unplanned]
    seals = frames.tables["cells"].filter("sealed").select("sequence", "seal").sort("sequence").iter_rows()
    data = sha256_hex("".join(f"{sequence} {seal}\n" for sequence, seal in seals).encode())
    provenance = Provenance(plan.experiment, plan.title, plan.kind, plan.design, plan.manifest, data)
    return _admit(
        design_of(plan), outcomes_of(frames), findings, provenance, frames, notes, incomplete=incomplete
    )


def _of_earlier_freezes(frames: Frames) -> Iterable[str]:
    """What an experiment outside the study, which may be frozen anew, holds of its earlier freezes."""
    if frames.plan.kind not in REFREEZABLE:
        return
    if frames.unplanned:
        yield f"{len(frames.unplanned)} sealed cells belong to an earlier freeze of this experiment: left out"
    earlier = foreign_freezes(frames)
    if earlier:
        yield f"{len(earlier)} cells ran under an earlier freeze record, with the same identity"


def admit(design: Design, outcomes: Iterable[Outcome], name: str, *, incomplete: bool = False) -> Gated:
    """As `admit_frames`, for outcomes that were read from a table.

    Raises:
        GateClosed: with every finding.
    """
    rows = tuple(outcomes)
    known = sorted(f"{row.key} {row.resolved} {row.infrastructure}\n" for row in rows)
    provenance = Provenance(name, name, "table", "factorial", "", sha256_hex("".join(known).encode()))
    return _admit(design, rows, [], provenance, None, (), incomplete=incomplete)


def _admit(
    design: Design,
    outcomes: Sequence[Outcome],
    findings: Sequence[Finding],
    provenance: Provenance,
    frames: Frames | None,
    notes: Sequence[str],
    *,
    incomplete: bool,
) -> Gated:
    balanced = provenance.design == "factorial"
    found = [*findings, *_design_findings(design, balanced=balanced), *_outcome_findings(design, outcomes)]
    fatal = [finding for finding in found if finding.rule not in TOLERATED]
    if fatal or (found and not incomplete):
        raise GateClosed(provenance.experiment, found)
    planned = set(design.planned)
    scored = {
        row.key: row.resolved
        for row in outcomes
        if row.key in planned and not row.infrastructure and row.resolved is not None
    }
    resolved = {key: scored[key] for key in design.planned if key in scored}
    tried = {row.key for row in outcomes if row.infrastructure}
    missing = tuple(key for key in design.planned if key not in resolved)
    told = [f"{finding.rule}: {finding.text}" for finding in found if finding.rule != MISSING]
    return Gated(
        _KEY_OF_THE_GATE,
        design=design,
        resolved=resolved,
        missing=missing,
        infrastructure=tuple(key for key in missing if key in tried),
        notes=(*notes, *told),
        provenance=provenance,
        frames=frames,
    )


def _design_findings(design: Design, *, balanced: bool) -> Iterable[Finding]:
    for key, count in Counter(design.planned).items():
        if count > 1:
            yield Finding(DUPLICATE, f"{key} is planned {count} times")
    if not design.planned:
        yield Finding(EMPTY, "nothing is planned")
    if balanced:
        met: dict[tuple[str, str], set[tuple[str, str]]] = {}
        for key in design.planned:
            met.setdefault((key.arm, key.model), set()).add((key.task, key.draw))
        every = set().union(*met.values()) if met else set()
        for (arm, model), own in sorted(met.items()):
            if own != every:
                what = f"{len(every - own)} tasks and draws of other arms, such as {min(every - own)}"
                yield Finding(UNEQUAL, f"{arm} {model} is planned without {what}".replace("  ", " "))


def _outcome_findings(design: Design, outcomes: Sequence[Outcome]) -> Iterable[Finding]:
    planned: set[Key] = set(design.planned)
    rows: dict[Key, list[Outcome]] = {}
    for row in outcomes:
        rows.setdefault(row.key, []).append(row)
    for key, own in sorted(rows.items()):
        if key not in planned:
            yield Finding(UNPLANNED, str(key))
        if len(own) > 1:
            told = ", ".join(
                "no outcome" if row.infrastructure else f"resolved {row.resolved}" for row in own
            )
            yield Finding(DUPLICATE, f"{key} has {len(own)} records ({told})")
        elif own[0].infrastructure and own[0].resolved is not None:
            yield Finding(SCORED_FAILURE, f"{key} (resolved {own[0].resolved})")
    scored = {row.key for row in outcomes if not row.infrastructure and row.resolved is not None}
    for key in design.planned:
        if key not in scored:
            state = "tried, without an outcome" if key in rows else "never tried"
            yield Finding(MISSING, f"{key} ({state})")
    for arm in design.arms:
        if not any(key.arm == arm for key in scored):
            yield Finding(EMPTY, f"arm {arm} has no outcome at all")
