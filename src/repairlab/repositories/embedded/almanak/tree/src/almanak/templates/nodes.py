"""The tree of a template."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from almanak.syntax.nodes import Expression


@dataclass(frozen=True, slots=True)
class Text:
    """Plain text."""

    text: str


@dataclass(frozen=True, slots=True)
class Filtered:
    """A filter with its arguments."""

    name: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Output:
    """A value, filtered."""

    expression: Expression
    filters: tuple[Filtered, ...] = ()


@dataclass(frozen=True, slots=True)
class Branch:
    """A condition and what is rendered when it is the first true one."""

    condition: Expression
    body: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class If:
    """Branches, and what is rendered when none of them is true."""

    branches: tuple[Branch, ...]
    otherwise: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class For:
    """A body for each record, and what is rendered when there are none."""

    variable: str
    over: Expression
    body: tuple[Node, ...]
    otherwise: tuple[Node, ...] = ()


Node: TypeAlias = Text | Output | If | For
