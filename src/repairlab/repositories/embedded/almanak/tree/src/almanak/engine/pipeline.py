"""The stages of a query, each from records to records."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from almanak.engine.aggregates import aggregate, is_aggregate
from almanak.engine.evaluate import Evaluator, Record
from almanak.errors import EvaluationProblem
from almanak.syntax.nodes import Call, Distinct, Group, Item, Key, Let, Show, Skip, Sort, Stage, Take, Where
from almanak.values import BOOLEAN, DATE, LIST, MISSING, NUMBER, TEXT, Value, compare, kind, truth

# The order of kinds in a sort. Missing values come last, whichever the direction.
_KIND_ORDER = {kind: place for place, kind in enumerate((BOOLEAN, NUMBER, DATE, TEXT, LIST))}


def apply_stage(stage: Stage, records: Iterable[Record], evaluator: Evaluator) -> Iterator[Record]:
    """Records that come out of one stage."""
    match stage:
        case Where(condition):
            return (r for r in records if truth(evaluator.value(condition, r)))
        case Let(items):
            return (_let(items, record, evaluator) for record in records)
        case Show(items):
            return ({i.name: evaluator.value(i.expression, r) for i in items} for r in records)
        case Group(keys, aggregates):
            return _group(keys, aggregates, records, evaluator)
        case Sort(keys):
            return iter(_sort(keys, list(records), evaluator))
        case Take(count):
            return islice(iter(records), count)
        case Skip(count):
            return islice(iter(records), count, None)
        case Distinct():
            return _distinct(records)
    raise TypeError(f"{stage!r} is no stage")


def _let(items: Sequence[Item], record: Record, evaluator: Evaluator) -> Record:
    changed = dict(record)
    for item in items:
        changed[item.name] = evaluator.value(item.expression, changed)
    return changed


def _group(
    keys: Sequence[Item], aggregates: Sequence[Item], records: Iterable[Record], evaluator: Evaluator
) -> Iterator[Record]:
    groups: dict[Any, tuple[Record, list[Record]]] = {}
    for record in records:
        head: Record = {key.name: evaluator.value(key.expression, record) for key in keys}
        mark = tuple(hashable(value) for value in head.values())
        groups.setdefault(mark, (head, []))[1].append(record)
    for head, members in groups.values():
        yield {**head, **{item.name: _aggregate(item, members, evaluator) for item in aggregates}}


def _aggregate(item: Item, members: Sequence[Record], evaluator: Evaluator) -> Value:
    call = item.expression
    if not isinstance(call, Call) or not is_aggregate(call.function):
        raise EvaluationProblem(f"{item.name} is no aggregate")
    columns = [[evaluator.value(argument, record) for record in members] for argument in call.arguments]
    return aggregate(call.function, columns, len(members))


def _sort(keys: Sequence[Key], records: list[Record], evaluator: Evaluator) -> list[Record]:
    # Sorting is stable: the last key first gives the same as all keys at once.
    for key in reversed(keys):
        values: list[tuple[Value, Record]] = [(evaluator.value(key.expression, r), r) for r in records]
        rank = functools.cmp_to_key(negate(compare_any) if key.descending else compare_any)
        present = [pair for pair in values if pair[0] is not None]
        present.sort(key=lambda pair: rank(pair[0]))
        records = [record for _, record in present] + [record for value, record in values if value is None]
    return records


def compare_any(left: Value, right: Value) -> int:
    """A total order over values of all kinds that are not missing."""
    order = compare(left, right)
    if order is not None:
        return order
    if kind(left) == kind(right) == BOOLEAN:
        return int(left) - int(right)
    if kind(left) == kind(right) == LIST:
        return compare_any([kind(v) for v in left], [kind(v) for v in right])
    return _KIND_ORDER[kind(left)] - _KIND_ORDER[kind(right)]


def negate(order: Any) -> Any:
    """The opposite order."""
    return lambda left, right: -order(left, right)


def _distinct(records: Iterable[Record]) -> Iterator[Record]:
    seen: set[Any] = set()
    for record in records:
        mark = tuple((name, hashable(value)) for name, value in sorted(record.items()))
        if mark not in seen:
            seen.add(mark)
            yield record


def hashable(value: Value) -> Any:
    """Something hashable that is equal for equal values and different for others."""
    name = kind(value)
    if name == MISSING:
        return (name,)
    if name == LIST:
        return (name, tuple(hashable(item) for item in value))
    assert name in (BOOLEAN, NUMBER, DATE, TEXT)
    return (name, value)
