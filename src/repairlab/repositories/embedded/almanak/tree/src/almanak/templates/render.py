"""Templates to text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from almanak.engine.evaluate import Evaluator, Record
from almanak.errors import EvaluationProblem
from almanak.syntax.nodes import Name
from almanak.templates.filters import Filter
from almanak.templates.nodes import For, If, Node, Output, Text
from almanak.templates.parser import parse
from almanak.values import Value, to_text, truth


class Renderer:
    """Renders templates.

    Args:
        evaluator: works out their expressions.
        filters: by name.
    """

    def __init__(self, evaluator: Evaluator, filters: Mapping[str, Filter]) -> None:
        self._evaluator = evaluator
        self._filters = filters

    def render(self, template: str, records: Mapping[str, Sequence[Record]], **values: Value) -> str:
        """Text of a template.

        Args:
            template: its text.
            records: what a ``for`` may run over, by name.
            values: what expressions may name besides.

        Raises:
            SyntaxProblem: the template cannot be read.
            EvaluationProblem: something in it has no value.
        """
        return "".join(self._nodes(parse(template), records, dict(values)))

    def _nodes(
        self, nodes: Sequence[Node], records: Mapping[str, Sequence[Record]], scope: dict[str, Value]
    ) -> list[str]:
        out: list[str] = []
        for node in nodes:
            match node:
                case Text(text):
                    out.append(text)
                case Output():
                    out.append(to_text(self._output(node, scope)))
                case If(branches, otherwise):
                    chosen = next(
                        (b.body for b in branches if truth(self._evaluator.value(b.condition, scope))), otherwise
                    )
                    out.extend(self._nodes(chosen, records, scope))
                case For():
                    out.extend(self._for(node, records, scope))
        return out

    def _output(self, node: Output, scope: dict[str, Value]) -> Value:
        value = self._evaluator.value(node.expression, scope)
        for applied in node.filters:
            function = self._filters.get(applied.name)
            if function is None:
                raise EvaluationProblem(f"there is no filter {applied.name!r}")
            arguments = [self._evaluator.value(argument, scope) for argument in applied.arguments]
            try:
                value = function(value, *arguments)
            except TypeError as error:
                raise EvaluationProblem(f"filter {applied.name!r}: {error}") from error
        return value

    def _for(
        self, node: For, records: Mapping[str, Sequence[Record]], scope: dict[str, Value]
    ) -> list[str]:
        items = self._items(node, records, scope)
        if not items:
            return self._nodes(node.otherwise, records, scope)
        out: list[str] = []
        for number, item in enumerate(items, start=1):
            inner = dict(scope)
            inner["loop.number"] = number
            inner["loop.last"] = number == len(items)
            if isinstance(item, Mapping):
                inner.update({f"{node.variable}.{name}": value for name, value in item.items()})
            else:
                inner[node.variable] = item
            out.extend(self._nodes(node.body, records, inner))
        return out

    def _items(
        self, node: For, records: Mapping[str, Sequence[Record]], scope: dict[str, Value]
    ) -> Sequence[Record | Value]:
        if isinstance(node.over, Name) and node.over.name in records:
            return records[node.over.name]
        value = self._evaluator.value(node.over, scope)
        if value is None:
            return ()
        if not isinstance(value, (list, tuple)):
            raise EvaluationProblem(f"a for cannot run over {to_text(value)!r}")
        return value
