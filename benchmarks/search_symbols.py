"""Definitions and references against universal-ctags, and the time of look-ups and of the graph.

    python benchmarks/search_symbols.py REPOSITORY COMMIT [--language python] [--rounds 3]

REPOSITORY is a bare one. ctags reads a checkout (definitions alone); its time includes its start. Ours reads
the corpus with two processes, whose start counts. The ratio is one of CPU time, ours halved, so that it holds
on a machine that does other work as well; elapsed time is printed beside it. Exit status 1 if it misses the
target.
"""

from __future__ import annotations

import argparse
import os
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
from repairlab.search.cache import Cache
from repairlab.search.corpus import Corpus, build_corpus
from repairlab.search.graph import SymbolGraph
from repairlab.search.graph_search import GraphSearch, Seed
from repairlab.search.results import QueryError
from repairlab.search.symbols import SymbolSearch
from repairlab.search.symbols_cache import symbols_by_blob
from repairlab.search.symbols_index import SymbolIndex, build_symbols

TARGET = 7.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("repository", type=Path)
    parser.add_argument("commit")
    parser.add_argument("--language", choices=("python", "go"), default="python")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    controls = load(SharedControls, Path(__file__).resolve().parents[1] / "contracts" / "shared.toml")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        mirror = Mirror("benchmark", options.repository)
        corpus = build_corpus(mirror, options.commit, options.language, controls.corpus, cache=folder)
        write_tree(corpus, folder / "tree")
        ours, theirs = [], []
        for number in range(options.rounds):
            cache = Cache(folder / f"cache-{number}")
            theirs.append(measured(lambda: ctags(folder / "tree", options.language)))
            ours.append(measured(lambda c=cache: symbols_by_blob(corpus, options.language, c, 2)))
        (mine, elapsed), (other, waited) = (
            map(statistics.median, zip(*t, strict=True)) for t in (ours, theirs)
        )
        ratio = mine / 2 / other
        print(
            f"definitions and references, two processes: {mine / 2:.2f} s CPU each, {elapsed:.2f} s elapsed"
        )
        print(f"ctags: {other:.2f} s CPU, {waited:.2f} s elapsed; ratio {ratio:.1f} (target {TARGET:.0f})")

        def build() -> SymbolIndex:
            return build_symbols(corpus, options.language, cache=Cache(folder / "cache-0"), folder=folder)

        print(f"index from cached blobs {seconds(build):.2f} s, opened {seconds(build) * 1e3:.0f} ms")
        index = build()
        print(f"{len(index.definitions)} symbols, {len(index.references)} references")
        print(f"{len(index.with_errors)} files with errors")
        search = SymbolSearch(corpus, index, controls.search, controls.view, controls.symbols)
        report_queries(search, index.names, controls)
    return 1 if ratio > TARGET else 0


def report_queries(search: SymbolSearch, names: list[str], controls: SharedControls) -> None:
    graph = GraphSearch(
        SymbolGraph(search.lookup.index, controls.graph), controls.search, controls.view, controls.fusion
    )
    looked, expanded = [], []
    for name in names[:: max(1, len(names) // 200)]:
        queries = (name, name[:-1], f"what does {name} return")
        looked.extend(seconds(lambda q=query: search.rank(q, 50)) for query in queries)
        ranking = search.rank(name, 5)
        if isinstance(ranking, QueryError):
            continue
        seeds = [Seed(file.path, search.lines(ranking, file)[0]) for file in ranking.files]
        expanded.append(seconds(lambda s=seeds: graph.rank(s, 50)))
    for title, times in (("look-up", looked), ("graph around five seeds", expanded)):
        times.sort()
        middle, late = times[len(times) // 2], times[int(len(times) * 0.95)]
        print(
            f"{title}: p50 {middle * 1e3:.2f} ms, p95 {late * 1e3:.2f} ms, longest {times[-1] * 1e3:.1f} ms"
        )


def ctags(tree: Path, language: str) -> None:
    command = ["ctags", "-R", f"--languages={language}", "-f", "-", "."]
    subprocess.run(command, cwd=tree, stdout=subprocess.DEVNULL, check=True)


def write_tree(corpus: Corpus, folder: Path) -> None:
    for number, file in enumerate(corpus.files):
        path = folder / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(corpus.data(number))


def measured(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds of CPU, of this process and those that it waited for, and elapsed ones."""
    before, begin = os.times(), time.perf_counter()
    work()
    after = os.times()
    return sum(after[:4]) - sum(before[:4]), time.perf_counter() - begin


def seconds(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


if __name__ == "__main__":
    sys.exit(main())
