"""Exact search against ripgrep: queries, and the command that asks the same. See search_bench.py.

Written out for ripgrep: the classes that go by ASCII here.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from repairlab.search.corpus import Corpus
from repairlab.search.exact import ExactSearch, Mode
from repairlab.search.results import QueryError

ASCII = {
    r"\w": "[0-9A-Za-z_]",
    r"\s": r"[\t\n\f\r ]",
    r"\d": "[0-9]",
    r"\b": r"(?-u:\b)",
}
TEMPLATES = (
    (Mode.LITERAL, "{name}"),
    (Mode.SUBSTRING, "{part}"),
    (Mode.SUBSTRING, "{name}("),
    (Mode.REGEX, r"def {name}\b"),
    (Mode.REGEX, r"\w*{part}\w*\("),
    (Mode.REGEX, r"{name}|{other}"),
    (Mode.REGEX, r"(class|def|func) \w*{part}"),
    (Mode.REGEX, r"{name}\s*=\s*\w+"),
)
BROAD = (
    (Mode.LITERAL, "self"),
    (Mode.SUBSTRING, "x"),
    (Mode.REGEX, r"\breturn\b"),
    (Mode.REGEX, r"def \w+"),
    (Mode.REGEX, r"\w+ = \w+"),
    (Mode.REGEX, "(?i)error"),
    (Mode.REGEX, "."),
)


def queries_of(corpus: Corpus) -> list[tuple[Mode, str]]:
    """Queries on names that stand in the tree, taken at even distances: the same in every run."""
    names = sorted(
        {
            name.decode()
            for number in range(0, len(corpus.files), 7)
            for name in re.findall(rb"(?:def|func|class) ([A-Za-z]\w{5,})", corpus.data(number))
        }
    )
    step = max(1, len(names) // 12)
    chosen = names[::step][:12]
    return [
        (mode, template.format(name=name, part=name[1:-1], other=chosen[number - 1]))
        if mode is not Mode.SUBSTRING or not template.endswith("(")
        else (mode, name + "(")
        for number, name in enumerate(chosen)
        for mode, template in TEMPLATES
    ]


def write_tree(corpus: Corpus, folder: Path) -> None:
    for number, file in enumerate(corpus.files):
        path = folder / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(corpus.data(number))


def commands(mode: Mode, query: str) -> list[list[str]]:
    form = {Mode.LITERAL: ["-w", "-F"], Mode.SUBSTRING: ["-F"], Mode.REGEX: []}[mode]
    if mode is Mode.REGEX:
        query = re.sub(r"\\[wsdb]", lambda found: ASCII[found[0]], query)
    common = [
        "rg",
        "--no-config",
        "--no-ignore",
        "--hidden",
        "--text",
        "-E",
        "none",
        "-n",
        "--null",
        "--no-heading",
    ]
    return [[*common, "-j", threads, *form, "-e", query, "."] for threads in ("1", "2")]


def run(command: list[str], tree: Path) -> bytes:
    return subprocess.run(command, cwd=tree, stdout=subprocess.PIPE, check=False).stdout


def lines_here(search: ExactSearch, mode: Mode, query: str) -> set[tuple[str, int]]:
    ranking = search.rank(query, mode)
    if isinstance(ranking, QueryError):
        raise SystemExit(f"{query}: {ranking.reason}")
    return {(file.path, line) for file in ranking.files for line in search.lines(ranking, file)}


def lines_there(command: list[str], tree: Path) -> set[tuple[str, int]]:
    rows = re.findall(rb"^\./([^\0\n]+)\0(\d+):", run(command, tree), re.MULTILINE)
    return {(path.decode("utf-8", "surrogateescape"), int(line)) for path, line in rows}
