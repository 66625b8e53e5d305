"""One query from text to result."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from almanak.engine.evaluate import Evaluator, Record
from almanak.engine.functions import Functions, builtin
from almanak.engine.optimise import optimise_query
from almanak.engine.pipeline import apply_stage
from almanak.syntax.nodes import Group, Query, Show
from almanak.syntax.parser import parse_query

Lookup = Callable[[str], Iterable[Record]]


@dataclass(frozen=True, slots=True)
class Result:
    """Records and their columns.

    Attributes:
        columns: names in the order of display.
        records: each with a value for each column, or fewer.
    """

    columns: tuple[str, ...]
    records: tuple[Record, ...]

    def rows(self) -> list[list[object]]:
        """Values in the order of the columns; what a record lacks is None."""
        return [[record.get(column) for column in self.columns] for record in self.records]


def execute(
    query: Query | str, lookup: Lookup, *, today: dt.date, functions: Functions | None = None
) -> Result:
    """Run a query.

    Args:
        query: the query, or its text.
        lookup: gives the records of a source by its name.
        today: what ``today()`` gives.
        functions: what the query may call; the built-in functions when left out.

    Raises:
        SyntaxProblem: the text is no query.
        EvaluationProblem: an expression has no value.
        SourceProblem: the source cannot be read.
    """
    if isinstance(query, str):
        query = parse_query(query)
    evaluator = Evaluator(functions if functions is not None else builtin(today))
    query = optimise_query(query, evaluator)
    records: Iterable[Record] = lookup(query.source)
    for stage in query.stages:
        records = apply_stage(stage, records, evaluator)
    rows = tuple(records)
    return Result(_columns(query, rows), rows)


def _columns(query: Query, records: Iterable[Record]) -> tuple[str, ...]:
    """Columns as the last stage that names them has them, then those that turn up in the records."""
    columns: dict[str, None] = {}
    for stage in reversed(query.stages):
        if isinstance(stage, Show):
            columns.update(dict.fromkeys(item.name for item in stage.items))
            break
        if isinstance(stage, Group):
            columns.update(dict.fromkeys(item.name for item in (*stage.keys, *stage.aggregates)))
            break
    for record in records:
        columns.update(dict.fromkeys(record))
    return tuple(columns)
