"""The tree of a query. Nodes are immutable and compare by content."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from almanak.values import Value


@dataclass(frozen=True, slots=True)
class Literal:
    """A value that stands in the query itself."""

    value: Value


@dataclass(frozen=True, slots=True)
class Name:
    """A field of the record."""

    name: str


@dataclass(frozen=True, slots=True)
class Call:
    """A function and its arguments."""

    function: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list of expressions."""

    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Unary:
    """``-x`` or ``not x``."""

    operator: str
    operand: Expression


@dataclass(frozen=True, slots=True)
class Binary:
    """Two operands with an operator between them."""

    operator: str
    left: Expression
    right: Expression


Expression: TypeAlias = Literal | Name | Call | ListOf | Unary | Binary


@dataclass(frozen=True, slots=True)
class Item:
    """An expression and the name that its value gets."""

    expression: Expression
    name: str


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a sort."""

    expression: Expression
    descending: bool = False


@dataclass(frozen=True, slots=True)
class Where:
    """Keep the records for which the condition is true."""

    condition: Expression


@dataclass(frozen=True, slots=True)
class Let:
    """Add fields."""

    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Show:
    """Keep only these fields."""

    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """One record for each group of equal keys."""

    keys: tuple[Item, ...]
    aggregates: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Sort:
    """Order the records."""

    keys: tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class Take:
    """Keep the first records."""

    count: int


@dataclass(frozen=True, slots=True)
class Skip:
    """Drop the first records."""

    count: int


@dataclass(frozen=True, slots=True)
class Distinct:
    """Keep the first of equal records."""


Stage: TypeAlias = Where | Let | Show | Group | Sort | Take | Skip | Distinct


@dataclass(frozen=True, slots=True)
class Query:
    """A source and what is done with its records."""

    source: str
    stages: tuple[Stage, ...] = ()
