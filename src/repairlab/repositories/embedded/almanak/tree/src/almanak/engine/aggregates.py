"""Functions of a whole group of records."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from almanak.errors import EvaluationProblem
from almanak.values import Value, compare, equal, to_text, truth


def aggregate(name: str, columns: Sequence[Sequence[Value]], size: int) -> Value:
    """Value of the aggregate `name` over a group.

    Args:
        name: such as ``count`` or ``sum``.
        columns: for each argument, its value in each record of the group.
        size: number of records in the group.

    Raises:
        EvaluationProblem: unknown name, or arguments that do not fit.
    """
    if name == "count":
        if len(columns) > 1:
            raise EvaluationProblem("count() takes one argument or none")
        return size if not columns else sum(1 for value in columns[0] if value is not None)
    function = _AGGREGATES.get(name)
    if function is None:
        raise EvaluationProblem(f"there is no aggregate {name}()")
    wanted = 2 if name == "join" and len(columns) == 2 else 1
    if len(columns) != wanted:
        raise EvaluationProblem(f"{name}() does not take {len(columns)} arguments")
    values = [value for value in columns[0] if value is not None]
    if name == "join":
        separator = to_text(columns[1][0]) if wanted == 2 and columns[1] else ", "
        return separator.join(to_text(value) for value in values)
    return function(values)


def is_aggregate(name: str) -> bool:
    """Whether `name` is an aggregate."""
    return name == "count" or name in _AGGREGATES


def _sum(values: Sequence[Value]) -> Value:
    for value in values:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise EvaluationProblem(f"{to_text(value)!r} cannot be summed up")
    return sum(values)


def _mean(values: Sequence[Value]) -> Value:
    return _sum(values) / len(values) if values else None


def _median(values: Sequence[Value]) -> Value:
    _sum(values)
    if not values:
        return None
    ordered, middle = sorted(values), len(values) // 2
    return ordered[middle] if len(values) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def _extreme(sign: int) -> Callable[[Sequence[Value]], Value]:
    def extreme(values: Sequence[Value]) -> Value:
        best: Value = None
        for value in values:
            order = sign if best is None else compare(value, best)
            if order is None:
                raise EvaluationProblem(f"{to_text(value)!r} and {to_text(best)!r} have no order")
            if order == sign:
                best = value
        return best

    return extreme


def _distinct(values: Sequence[Value]) -> Value:
    seen: list[Value] = []
    for value in values:
        if not any(equal(value, other) for other in seen):
            seen.append(value)
    return len(seen)


_AGGREGATES: dict[str, Callable[[Sequence[Value]], Value]] = {
    "sum": _sum,
    "mean": _mean,
    "median": _median,
    "min": _extreme(-1),
    "max": _extreme(1),
    "first": lambda values: values[0] if values else None,
    "last": lambda values: values[-1] if values else None,
    "unique": _distinct,
    "any": lambda values: any(map(truth, values)),
    "all": lambda values: all(map(truth, values)),
    "list": list,
    "join": list,
}
