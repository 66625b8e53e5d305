"""Arguments of the command line."""

from __future__ import annotations

import argparse
from typing import Any


def parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    top = argparse.ArgumentParser(prog="almanak", description="Queries and reports over records in files.")
    top.add_argument("--folder", help="where the sources are")
    top.add_argument("--missing", help="what stands for a missing value")
    top.add_argument("--width", type=int, help="widest that a column of a table may be")
    commands = top.add_subparsers(dest="command", required=True)

    run = commands.add_parser("run", help="run a query")
    run.add_argument("query")
    run.add_argument("--format", help="table, markdown, csv, jsonl or the format of a plugin")
    run.add_argument("--save", metavar="NAME", help="keep the query as a view")

    view = commands.add_parser("view", help="run a saved query")
    view.add_argument("name")
    view.add_argument("--format")

    views = commands.add_parser("views", help="list saved queries, or remove one")
    views.add_argument("--remove", metavar="NAME")

    report = commands.add_parser("report", help="render a template")
    report.add_argument("template")
    report.add_argument("queries", nargs="*", metavar="NAME=QUERY")

    check = commands.add_parser("check", help="say whether a query can be read, and how it is understood")
    check.add_argument("query")

    commands.add_parser("sources", help="list sources")
    return top


def overrides(arguments: argparse.Namespace) -> dict[str, Any]:
    """Settings that the command line gives."""
    names = ("folder", "missing", "width", "format")
    return {name: value for name in names if (value := getattr(arguments, name, None)) is not None}
