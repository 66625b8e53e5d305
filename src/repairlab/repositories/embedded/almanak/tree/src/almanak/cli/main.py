"""Commands."""

from __future__ import annotations

import argparse
import datetime as dt
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from almanak.cli.arguments import overrides, parser
from almanak.config.loader import load
from almanak.config.settings import Settings
from almanak.engine.evaluate import Evaluator
from almanak.engine.functions import Functions
from almanak.engine.functions import builtin as builtin_functions
from almanak.engine.run import Result, execute
from almanak.errors import AlmanakError, ConfigProblem, SyntaxProblem
from almanak.formats.registry import Formats
from almanak.plugins.loader import Hooks, load_all
from almanak.sources.catalogue import Catalogue
from almanak.syntax.nodes import Query
from almanak.syntax.parser import parse_query
from almanak.syntax.unparse import unparse_query
from almanak.templates.filters import builtin as builtin_filters
from almanak.templates.render import Renderer
from almanak.views.store import Views


class App:
    """Everything that the commands share."""

    def __init__(self, settings: Settings, base: Path, today: dt.date) -> None:
        self.settings = settings
        self.today = today
        self.functions: Functions = builtin_functions(today)
        self.filters = builtin_filters()
        self.formats = Formats(missing=settings.missing, limit=settings.width)
        self.catalogue = Catalogue(base / settings.folder, settings.sources)
        self.views = Views(base / settings.views)
        load_all(settings.plugins, Hooks(self.functions, self.filters, self.formats))

    def execute(self, query: Query | str) -> Result:
        """Result of a query."""
        return execute(query, self.catalogue.lookup, today=self.today, functions=self.functions)

    def show(self, result: Result) -> str:
        """A result in the format that is set."""
        return self.formats.render(self.settings.format, result)


def main(
    arguments: Sequence[str] | None = None, *, base: Path | None = None, today: dt.date | None = None,
    out: TextIO | None = None, err: TextIO | None = None,
) -> int:  # fmt: skip
    """Run one command and return its exit status."""
    out, err = out or sys.stdout, err or sys.stderr
    given = parser().parse_args(arguments)
    base = base or Path.cwd()
    try:
        app = App(load(base, overrides(given)), base, today or dt.date.today())
        out.write(_run(app, given, base))
    except SyntaxProblem as problem:
        err.write(f"almanak: {problem}\n{problem.excerpt()}\n")
        return 2
    except AlmanakError as problem:
        err.write(f"almanak: {problem}\n")
        return 1
    return 0


def _run(app: App, given: argparse.Namespace, base: Path) -> str:
    match given.command:
        case "run":
            query = parse_query(given.query)
            text = app.show(app.execute(query))
            if given.save:
                app.views.save(given.save, query)
            return text
        case "view":
            return app.show(app.execute(app.views.load(given.name)))
        case "views":
            if given.remove:
                app.views.remove(given.remove)
            return "".join(f"{name}\n" for name in app.views.names())
        case "report":
            return _report(app, base / given.template, given.queries)
        case "check":
            return f"{unparse_query(parse_query(given.query))}\n"
        case "sources":
            return "".join(f"{name}\n" for name in app.catalogue.names())
    raise ConfigProblem(f"there is no command {given.command!r}")


def _report(app: App, template: Path, queries: Sequence[str]) -> str:
    records = {}
    for item in queries:
        name, sign, query = item.partition("=")
        if not sign:
            raise ConfigProblem(f"{item!r} is not of the form NAME=QUERY")
        records[name.strip()] = app.execute(query).records
    try:
        text = template.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigProblem(f"{template.name}: {error.strerror}") from error
    return Renderer(Evaluator(app.functions), app.filters).render(text, records, today=app.today)
