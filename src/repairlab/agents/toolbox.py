"""Executing valid calls. Every answer is text for the model plus facts for the transcript."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from repairlab.agents.calls import Call, Value
from repairlab.agents.searching import Found, SearchTool
from repairlab.agents.syntax import SyntaxCheck
from repairlab.agents.viewing import numbered
from repairlab.contract.canonical import Json
from repairlab.contract.controls import View
from repairlab.repositories.workspace import Applied, Refused


class Checkout(Protocol):
    """The agent's workspace, as far as tools reach it."""

    def read(self, path: str) -> bytes | None:
        """Bytes of a regular file, ``None`` where there is none or the path is not allowed."""

    def apply(self, raw: str) -> Applied | Refused:
        """Apply a unified diff, whole or not at all."""


class PublicTests(Protocol):
    """The public allowlist, run on the workspace as it stands."""

    def run(self) -> tuple[str, Json]:
        """Text for the model, and the structured result for the transcript."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Result of one executed call."""

    text: str
    facts: Mapping[str, Json] = field(default_factory=dict)
    accepted: bool = True
    """False for a refused patch, a file that is not there, a query that cannot be run."""


class Toolbox:
    """The tools of one episode over one workspace.

    Args:
        checkout: what is read and edited.
        view: how much one answer shows.
        tests: the public allowlist.
        searches: the treatment's search tools by the name that the model calls.
        syntax: says which edited files cannot be parsed; ``None`` where the treatment does not say it.
    """

    def __init__(
        self,
        checkout: Checkout,
        view: View,
        tests: PublicTests,
        searches: Mapping[str, SearchTool] | None = None,
        syntax: SyntaxCheck | None = None,
    ) -> None:
        self._checkout = checkout
        self._view = view
        self._tests = tests
        self._searches = dict(searches or {})
        self._syntax = syntax

    def execute(self, call: Call) -> Answer:
        """Run one call. ``finish`` never comes here."""
        answer = self._execute(call)
        return replace(answer, text=_bounded(answer.text, self._view.answer_characters))

    def _execute(self, call: Call) -> Answer:
        if call.tool == "read_file":
            return self._read(call.arguments)
        if call.tool == "apply_patch":
            return self._apply(str(call.arguments["diff"]))
        if call.tool == "run_tests":
            text, facts = self._tests.run()
            return Answer(text, {"test_run": facts})
        if call.tool in self._searches:
            return _search(self._searches[call.tool](call.arguments))
        raise AssertionError(f"the tool {call.tool} is offered and has no implementation")

    def _read(self, arguments: Mapping[str, Value]) -> Answer:
        path = str(arguments["path"])
        data = self._checkout.read(path)
        if data is None:
            return Answer(f"There is no file {path[:200]!r} in the repository.", accepted=False)
        start = int(arguments.get("start_line", 1))
        end = int(arguments.get("end_line", start + self._view.read_lines - 1))
        excerpt = numbered(path, data, start, end, self._view)
        if excerpt.lines is None:
            return Answer(excerpt.text, accepted=False)
        first, last = excerpt.lines
        return Answer(excerpt.text, {"read": {"path": path, "start_line": first, "end_line": last}})

    def _apply(self, diff: str) -> Answer:
        outcome = self._checkout.apply(diff)
        facts = {"patch": patch_facts(outcome)}
        if isinstance(outcome, Refused):
            return Answer(outcome.message, facts, accepted=False)
        text = _applied_text(outcome)
        if self._syntax is not None:
            report = self._syntax.report({path: self._checkout.read(path) for path in outcome.paths})
            text = f"{text}\n{report}"
        return Answer(text, facts)


def patch_facts(outcome: Applied | Refused) -> Json:
    """What the transcript says of a diff."""
    if isinstance(outcome, Refused):
        return {"refused": outcome.code}
    return {
        "changed": list(outcome.paths),
        "normalised": outcome.normalised,
        "repairs": list(outcome.repairs),
    }


def _applied_text(applied: Applied) -> str:
    """What changed, and where hunks went whose stated line was not the real one."""
    lines = [f"Applied. Changed: {', '.join(applied.paths)}."]
    lines += [
        f"Hunk {hunk.number} of {hunk.path} went to line {hunk.found}, not {hunk.stated}."
        for hunk in applied.hunks
        if hunk.found != hunk.stated
    ]
    if applied.white_space_only:
        lines.append("Only white space differs.")
    return "\n".join(lines)


def _bounded(text: str, characters: int) -> str:
    if len(text) <= characters:
        return text
    return f"{text[:characters]}\n[cut: {len(text) - characters} characters of this answer]"


def _search(found: Found) -> Answer:
    shown: Json = [
        {
            "path": hit.path,
            "start_line": hit.start_line,
            "end_line": hit.start_line + len(hit.lines) - 1,
            "components": dict(hit.components),
        }
        for hit in found.hits
    ]
    return Answer(found.text, {"shown": shown}, found.valid)
