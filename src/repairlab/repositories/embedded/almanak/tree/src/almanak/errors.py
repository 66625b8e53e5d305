"""Everything that almanak raises on purpose."""

from __future__ import annotations


class AlmanakError(Exception):
    """Root of the errors of this package."""


class SyntaxProblem(AlmanakError):
    """Text that cannot be read as a query, an expression or a template.

    Attributes:
        text: the whole text.
        offset: where in it the problem is, from 0.
    """

    def __init__(self, message: str, text: str, offset: int) -> None:
        super().__init__(message)
        self.message = message
        self.text = text
        self.offset = min(max(offset, 0), len(text))

    @property
    def line(self) -> int:
        """Line of the problem, from 1."""
        return self.text.count("\n", 0, self.offset) + 1

    @property
    def column(self) -> int:
        """Position in the line, from 1."""
        return self.offset - (self.text.rfind("\n", 0, self.offset) + 1) + 1

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.message}"

    def excerpt(self) -> str:
        """The line of the problem with a caret under it."""
        start = self.text.rfind("\n", 0, self.offset) + 1
        end = self.text.find("\n", self.offset)
        line = self.text[start:] if end < 0 else self.text[start:end]
        return f"{line}\n{' ' * (self.offset - start)}^"


class EvaluationProblem(AlmanakError):
    """An expression that is well formed and has no value."""


class SourceProblem(AlmanakError):
    """A file of records that cannot be read."""


class ConfigProblem(AlmanakError):
    """A setting that makes no sense."""


class PluginProblem(AlmanakError):
    """A plugin that cannot be loaded or that claims what is taken."""
