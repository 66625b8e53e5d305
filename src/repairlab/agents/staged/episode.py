"""The three stages of A001, in order: files, lines, repair; then one run of the public tests.

Each stage is a conversation of its own with one request. An answer that cannot be used ends the work without
a patch. The public tests run once behind an accepted patch; their result is recorded and changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from repairlab.agents.budget import Spent, budget_end
from repairlab.agents.clocks import Clock
from repairlab.agents.loop import EpisodeResult, Model, Record, Tally, Tokens, ask, kind_without_call, spoken
from repairlab.agents.staged.answers import (
    Dropped,
    Localisation,
    Place,
    Selection,
    read_places,
    read_selection,
    render_places,
)
from repairlab.agents.staged.measure import TokenRule
from repairlab.agents.staged.packing import Packed, Packer, Span
from repairlab.agents.staged.repository import StagedRepository
from repairlab.agents.staged.requests import StageRequests
from repairlab.agents.staged.skeleton import Skeleton, build_skeleton
from repairlab.agents.toolbox import Checkout, PublicTests, patch_facts
from repairlab.contract.canonical import Json
from repairlab.contract.controls import Budgets, PatchRules, Staged
from repairlab.contract.outcome import EndReason, Stage
from repairlab.hosts.chat import DeadlineReached, UnparsableCall
from repairlab.repositories.diffs import Fault
from repairlab.repositories.workspace import Refused

_UNUSABLE = {
    "files": EndReason.FILES_STAGE_UNUSABLE,
    "lines": EndReason.LINES_STAGE_UNUSABLE,
    "repair": EndReason.REPAIR_STAGE_UNUSABLE,
}


@dataclass(frozen=True, slots=True)
class StagedRules:
    """The frozen rules of the stages."""

    budgets: Budgets
    staged: Staged
    patch: PatchRules


class StagedEpisode:
    """One run of the stages over one workspace.

    Args:
        rules: frozen.
        requests: the text of each stage's request.
        repository: the base commit.
        checkout: what the patch is applied to.
        tests: the public allowlist.
        model: the agent.
        clock: of the cell.
        record: writes to the transcript.
    """

    def __init__(
        self,
        rules: StagedRules,
        requests: StageRequests,
        repository: StagedRepository,
        checkout: Checkout,
        tests: PublicTests,
        model: Model,
        clock: Clock,
        record: Record,
    ) -> None:
        self._rules = rules
        self._requests = requests
        self._repository = repository
        self._checkout = checkout
        self._tests = tests
        self._model = model
        self._clock = clock
        self._record = record
        self._rule = TokenRule(rules.staged.light_bytes_per_token)
        self._spent = Spent()
        self._tokens = Tokens()
        self._tally = Tally()

    def run(self) -> EpisodeResult:
        """Go through the stages until the last or an unusable one, or until a budget ends the work."""
        reason = self._run()
        self._record({"type": "end", "reason": reason.value})
        return EpisodeResult(reason, self._spent, self._tokens, dict(sorted(self._tally.counts.items())))

    def _run(self) -> EndReason:
        selection = self._files()
        if isinstance(selection, EndReason):
            return selection
        localisation = self._lines(selection)
        if isinstance(localisation, EndReason):
            return localisation
        return self._repair(localisation) or self._validate()

    def _files(self) -> Selection | EndReason:
        staged = self._rules.staged
        cap = self._cap(self._requests.files(""), staged.skeleton_tokens)
        if isinstance(cap, EndReason):
            return cap
        skeleton = build_skeleton(self._repository.outlines(), self._rule, cap)
        self._record(_skeleton_record(skeleton, cap))
        reply = self._ask("files", self._requests.files(skeleton.text))
        if isinstance(reply, EndReason):
            return reply
        steps = self._rules.patch.normalisation
        found = read_selection(reply, self._repository.known(), staged.selected_files, steps)
        if isinstance(found, Fault):
            return self._unusable("files", found.code)
        self._take("files", {"selected": list(found.paths), "dropped": _counts(found.dropped)})
        return found

    def _lines(self, selection: Selection) -> Localisation | EndReason:
        staged = self._rules.staged
        cap = self._cap(self._requests.lines(""), staged.source_tokens)
        if isinstance(cap, EndReason):
            return cap
        packed = self._packer(selection.paths).whole_files(cap)
        self._record(_source_record("lines", packed, cap))
        reply = self._ask("lines", self._requests.lines(packed.text))
        if isinstance(reply, EndReason):
            return reply
        shown = dict.fromkeys(span.path for span in packed.shown)
        files = {path: self._repository.definitions(path) for path in shown}
        steps = self._rules.patch.normalisation
        found = read_places(reply, files, staged.locations, steps)
        if isinstance(found, Fault):
            return self._unusable("lines", found.code)
        places: Json = [_place(one) for one in found.places]
        self._take("lines", {"places": places, "dropped": _counts(found.dropped)})
        return found

    def _repair(self, localisation: Localisation) -> EndReason | None:
        places = localisation.places
        named = render_places(places)
        cap = self._cap(self._requests.repair(named, ""), self._rules.staged.source_tokens)
        if isinstance(cap, EndReason):
            return cap
        packer = self._packer(list(dict.fromkeys(place.path for place in places)))
        packed = packer.places([self._around(place) for place in places], cap)
        self._record(_source_record("repair", packed, cap))
        reply = self._ask("repair", self._requests.repair(named, packed.text))
        if isinstance(reply, EndReason):
            return reply
        with self._clock.running("tool"):
            outcome = self._checkout.apply(reply)
        if isinstance(outcome, Refused):
            return self._unusable("repair", outcome.code, {"patch": patch_facts(outcome)})
        self._take("repair", {"patch": patch_facts(outcome)})
        return None

    def _validate(self) -> EndReason:
        """The public tests, once. The agent has been asked for the last time, so no budget is looked at."""
        self._spent = self._spent.with_test_run()
        self._tally.add("validation")
        with self._clock.running("tool"):
            _, result = self._tests.run()
        self._record({"type": "validation", "test_run": result})
        return EndReason.FINISHED

    def _cap(self, empty: list[Json], frozen: int) -> int | EndReason:
        """Tokens for what is packed into `empty`, or why no request is sent any more."""
        budgets = self._rules.budgets
        end = budget_end(self._spent, budgets, self._clock.binding(budgets.binding_clock))
        cap = self._requests.cap(empty, frozen)
        return end or (cap if cap > 0 else EndReason.CONTEXT_EXHAUSTED)

    def _ask(self, stage: Stage, messages: list[Json]) -> str | EndReason:
        """The content of the one reply of a stage."""
        budgets = self._rules.budgets
        left = budgets.agent_clock_seconds - self._clock.binding(budgets.binding_clock)
        self._spent = self._spent.with_model_call()
        with self._clock.running("model"):
            reply = ask(self._model, messages, [], left, self._tally)
        if reply is None:
            return EndReason.CONTEXT_EXHAUSTED
        if isinstance(reply, DeadlineReached):
            self._tally.add("reply-cut-by-clock")
            return EndReason.AGENT_CLOCK_SPENT
        if isinstance(reply, UnparsableCall):
            self._tokens.add(None, None)
            return self._unusable(stage, "unparsable-call")
        usage = reply.usage
        self._tokens.add(usage.prompt_tokens if usage else None, usage.completion_tokens if usage else None)
        if reply.finish_reason == "length":
            return self._unusable(stage, "cut-at-limit")
        answer = spoken(reply.content)
        if not answer.strip():
            return self._unusable(stage, kind_without_call(reply))
        return answer

    def _take(self, stage: Stage, facts: dict[str, Json]) -> None:
        self._tally.add(f"stage-{stage}")
        self._record({"type": "stage-taken", "stage": stage, "usable": True, "fault": "", **facts})

    def _unusable(self, stage: Stage, fault: str, facts: dict[str, Json] | None = None) -> EndReason:
        self._tally.add(f"stage-{stage}-{fault}")
        self._record(
            {"type": "stage-taken", "stage": stage, "usable": False, "fault": fault, **(facts or {})}
        )
        return _UNUSABLE[stage]

    def _packer(self, paths: Sequence[str]) -> Packer:
        files = [self._repository.source(path) for path in paths]
        return Packer(files, self._rule, self._rules.staged.line_characters)

    def _around(self, place: Place) -> Span:
        margin = self._rules.staged.margin_lines
        last = self._repository.definitions(place.path).lines
        return Span(place.path, max(1, place.start_line - margin), min(last, place.end_line + margin))


def _skeleton_record(skeleton: Skeleton, cap: int) -> dict[str, Json]:
    return {
        "type": "stage-shown",
        "stage": "files",
        "tokens": skeleton.tokens,
        "cap": cap,
        "skeleton": {
            "files": len(skeleton.all_names),
            "files_named": len(skeleton.named),
            "files_with_names": len(skeleton.names),
            "names": sum(skeleton.all_names.values()),
            "names_shown": sum(skeleton.names.values()),
            "complete": skeleton.complete,
        },
    }


def _source_record(stage: Stage, packed: Packed, cap: int) -> dict[str, Json]:
    shown: Json = [span._asdict() for span in packed.shown]
    return {
        "type": "stage-shown",
        "stage": stage,
        "tokens": packed.tokens,
        "cap": cap,
        "shown": shown,
        "left_out": list(packed.left_out),
    }


def _place(place: Place) -> Json:
    return place._asdict()


def _counts(dropped: Dropped) -> Json:
    return dropped._asdict()
