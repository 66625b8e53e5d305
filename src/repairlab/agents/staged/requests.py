"""The text of each stage's request, and how much of it may be packed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from repairlab.agents.context import ContextBound
from repairlab.contract.canonical import Json
from repairlab.contract.controls import Staged
from repairlab.contract.wording import StagedPrompts, fill


@dataclass(frozen=True, slots=True)
class StageRequests:
    """The requests of one task.

    Attributes:
        prompts: the texts of the stages.
        staged: frozen caps.
        messages: the messages of a stage, from the text of its work.
        bound: the context, before any request.
    """

    prompts: StagedPrompts
    staged: Staged
    messages: Callable[[str], list[Json]]
    bound: ContextBound

    def files(self, skeleton: str) -> list[Json]:
        """The first stage."""
        most = str(self.staged.selected_files)
        return self.messages(fill(self.prompts.files, skeleton=skeleton, selected_files=most))

    def lines(self, source: str) -> list[Json]:
        """The second stage."""
        most = str(self.staged.locations)
        return self.messages(fill(self.prompts.lines, source=source, locations=most))

    def repair(self, places: str, source: str) -> list[Json]:
        """The third stage."""
        return self.messages(fill(self.prompts.repair, places=places, source=source))

    def cap(self, empty: list[Json], frozen: int) -> int:
        """Tokens for what is packed into the messages `empty`: the frozen cap, or what the context has left.

        The messages without it are bounded as in every treatment, by their bytes; what is packed counts by
        the token rule of the caps. 0 or less where nothing is left.
        """
        return min(frozen, self.bound.room(empty, []))
