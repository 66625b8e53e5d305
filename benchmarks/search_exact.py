"""Exact search against ripgrep on one real tree, both measured in this run.

    python benchmarks/search_exact.py REPOSITORY COMMIT [--language python] [--rounds 7]

REPOSITORY is a bare one. Ripgrep's time includes its start, as an agent's tool would pay it; the faster
of one and two threads counts. Ours is the whole answer: needs, candidates, scan, ranking, snippets. The line
sets of every query are compared as well. Written out for ripgrep: the classes that go by ASCII here.
"""

from __future__ import annotations

import argparse
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from repairlab.contract.controls import SharedControls
from repairlab.contract.strict import load
from repairlab.repositories.mirrors import Mirror
from repairlab.search.corpus import Corpus, build_corpus, open_corpus
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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("repository", type=Path)
    parser.add_argument("commit")
    parser.add_argument("--language", choices=("python", "go"), default="python")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    controls = load(SharedControls, Path(__file__).resolve().parents[1] / "contracts" / "shared.toml")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        mirror = Mirror("benchmark", options.repository)
        begin = time.perf_counter()
        corpus = build_corpus(
            mirror, options.commit, options.language, controls.corpus, cache=folder / "cache"
        )
        built = time.perf_counter() - begin
        opened = median_of(lambda: open_corpus(folder / "cache", corpus.digest), options.rounds)
        size = sum(file.size for file in corpus.files)
        print(f"{len(corpus.files)} files, {size / 1e6:.1f} MB, {len(corpus.skipped)} skipped")
        print(f"build {built:.2f} s (git included), open {opened * 1e3:.1f} ms")
        write_tree(corpus, folder / "tree")
        search = ExactSearch(corpus, controls.search, controls.view, controls.exact)
        wrong = report("specific", queries_of(corpus), search, folder / "tree", options.rounds)
        wrong += report("broad", list(BROAD), search, folder / "tree", options.rounds)
    return 1 if wrong else 0


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


def report(title: str, queries: list[tuple[Mode, str]], search: ExactSearch, tree: Path, rounds: int) -> int:
    """Print the comparison; the number of queries whose line sets differ."""
    ours, theirs, ratios, wrong = [], [], [], 0
    worst = ("", 0.0)
    for mode, query in queries:
        mine = median_of(lambda m=mode, q=query: search.find(q, m), rounds)
        other = min(median_of(lambda c=command: run(c, tree), rounds) for command in commands(mode, query))
        ours.append(mine)
        theirs.append(other)
        ratios.append(mine / other)
        worst = max(worst, (f"{mode} {query}", mine / other), key=lambda pair: pair[1])
        if lines_here(search, mode, query) != lines_there(commands(mode, query)[0], tree):
            wrong += 1
            print(f"  line sets differ: {mode} {query}")
        if title == "broad":
            print(f"  {mode.value:9} {query:14} {mine * 1e3:8.2f} ms, ripgrep {other * 1e3:6.2f} ms")
    print(
        f"{title}: {len(queries)} queries, ours p50 {statistics.median(ours) * 1e3:.2f} ms, "
        f"p95 {sorted(ours)[int(len(ours) * 0.95)] * 1e3:.2f} ms; ripgrep p50 "
        f"{statistics.median(theirs) * 1e3:.2f} ms; ratio p50 {statistics.median(ratios):.3f}, "
        f"highest {worst[1]:.2f} ({worst[0]}); {wrong} line sets differ"
    )
    return wrong


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


def median_of(work: Callable[[], object], rounds: int) -> float:
    """Median of the seconds that `work` takes, after one run that does not count."""
    work()
    spent = []
    for _ in range(rounds):
        begin = time.perf_counter()
        work()
        spent.append(time.perf_counter() - begin)
    return statistics.median(spent)


if __name__ == "__main__":
    sys.exit(main())
