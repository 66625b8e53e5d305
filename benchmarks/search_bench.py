"""The table of search: each kind of work against its anchor, in one run, with the target beside it.

    python benchmarks/search_bench.py [--rounds 5] [--only NAME ...]

Runs over the three embedded repositories, and over SymPy and golang/tools where REPAIRLAB_SOURCES names
clones of them.
Both sides of a ratio are measured in the same rounds, by turns, and their medians compared. All times are CPU
seconds, a process of ours or theirs with its start and its children included, so that a busy machine slows
both alike; only the dense row compares elapsed times, since memory is its floor. The exit status is 1
where a target is missed or an answer differs from its referee's.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import search_dense
import search_exact
import search_lexical
import search_symbols
from repairlab.contract.controls import SharedControls
from repairlab.contract.strict import load
from repairlab.search.cache import Cache
from repairlab.search.chunks import ChunkRules, CorpusChunks
from repairlab.search.corpus import Corpus
from repairlab.search.exact import ExactSearch, Mode
from repairlab.search.lexical_index import build_lexical
from repairlab.search.symbols_cache import symbols_by_blob
from repairlab.search.tokens import Tokenizer
from repairlab.search.toolset import SearchPlaces, Toolset, open_toolset
from search_trees import Subject, subjects

ROOT = Path(__file__).resolve().parents[1]
ANCHOR_SECONDS_A_MEGABYTE = {"go": 1.4 / 4.7, "python": 7.6 / 28}
"""Sum of the parts' best times on a Go tree of 4.7 MB and on SymPy, two cores, quiet."""
LARGE = 4 * 2**20


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: `ratio` is ours over the anchor's, `target` the most it may be, if any."""

    where: str
    work: str
    anchor: str
    ours: str
    ratio: float
    target: float | None

    @property
    def missed(self) -> bool:
        return self.target is not None and self.ratio > self.target


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--peak", help=argparse.SUPPRESS)
    options = parser.parse_args()
    controls = load(SharedControls, ROOT / "contracts" / "shared.toml")
    chosen = [one for one in subjects(os.environ.get("REPAIRLAB_SOURCES", "")) if matches(one, options.only)]
    if options.peak:
        return peak(controls, next(one for one in chosen if one.name == options.peak))
    missed = 0
    print(f"{'repository':12} {'work':44} {'anchor':>22} {'ours':>12} {'ratio':>7} {'target':>7}")
    for row in table(controls, chosen, options.rounds):
        missed += row.missed
        target = "-" if row.target is None else f"{row.target:g}"
        ratio = f"{row.ratio:7.2f}" if row.anchor != "-" else f"{'-':>7}"
        mark = "  MISSED" if row.missed else ""
        print(
            f"{row.where:12} {row.work:44} {row.anchor:>22} {row.ours:>12} {ratio} {target:>7}{mark}",
            flush=True,
        )
    print(f"{missed} targets missed")
    return 1 if missed else 0


def matches(subject: Subject, only: Sequence[str]) -> bool:
    return not only or subject.name in only


def table(controls: SharedControls, chosen: Sequence[Subject], rounds: int) -> Iterator[Row]:
    for subject in chosen:
        with tempfile.TemporaryDirectory() as name:
            yield from rows_of(controls, subject, Path(name), rounds)
    with tempfile.TemporaryDirectory() as name:
        one, every, ours = search_dense.query_seconds(controls, Path(name), 20_000, 100)
    title = "dense, 20,000 vectors, best 50 files (elapsed)"
    target = search_dense.TARGET
    yield Row("synthetic", title, f"memory, 1 core {ms(one)}", ms(ours), ours / one, target)
    yield Row("synthetic", title, f"memory, all {ms(every)}", ms(ours), ours / every, target)


def rows_of(controls: SharedControls, subject: Subject, folder: Path, rounds: int) -> Iterator[Row]:
    tools, cold = cold_build(controls, subject, folder)
    size = sum(file.size for file in tools.corpus.files)
    tree = folder / "tree"
    search_exact.write_tree(tools.corpus, tree)
    yield from exact_rows(subject, tools, tree, rounds)
    yield from lexical_rows(controls, subject, tools.corpus, SearchPlaces(folder / "cold"), rounds)
    yield from symbol_rows(subject, tools.corpus, folder, tree, rounds)
    anchor = ANCHOR_SECONDS_A_MEGABYTE[subject.language] * size / 1e6
    title = f"all indexes, cold ({len(tools.corpus.files)} files, {size / 1e6:.1f} MB)"
    large = size >= LARGE  # below this, fixed costs are all there is
    yield Row(
        subject.name,
        title,
        f"sum of parts {anchor:.2f} s",
        f"{cold:.2f} s",
        cold / anchor,
        1.0 if large else None,
    )
    again = statistics.median(
        cpu(lambda: opened(controls, subject, folder / "cold"))[0] for _ in range(rounds)
    )
    yield Row(
        subject.name,
        "all indexes, no new blob",
        f"cold {cold:.2f} s",
        f"{again:.2f} s",
        again / cold,
        0.06 if large else None,
    )
    command = [sys.executable, __file__, "--peak", subject.name]
    told = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
    yield Row(subject.name, "peak memory: cold build", "-", f"{told['build']:.0f} MiB", 0.0, None)
    yield Row(subject.name, "peak memory: opened and searched", "-", f"{told['search']:.0f} MiB", 0.0, None)


def opened(controls: SharedControls, subject: Subject, folder: Path) -> Toolset:
    return open_toolset(subject.source, subject.commit, subject.language, controls, SearchPlaces(folder))


def cold_build(controls: SharedControls, subject: Subject, folder: Path) -> tuple[Toolset, float]:
    """Median CPU seconds of three builds, a child's halved since two parse at once."""
    spent = []
    for number in range(3):
        place = folder / ("cold" if number == 2 else f"cold-{number}")
        spent.append(cpu(partial(opened, controls, subject, place), children=0.5)[0])
    return opened(controls, subject, folder / "cold"), statistics.median(spent)


def exact_rows(subject: Subject, tools: Toolset, tree: Path, rounds: int) -> Iterator[Row]:
    for title, queries, p50 in (
        ("specific", search_exact.queries_of(tools.corpus), 0.25),
        ("broad", list(search_exact.BROAD), None),
    ):
        mine, theirs, ratios, wrong = [], [], [], 0
        for mode, query in queries:
            ours, rg = exact_pair(tools.exact, tree, mode, query, rounds if title == "broad" else 3)
            mine.append(ours)
            theirs.append(rg)
            ratios.append((ours / rg, f"{mode} {query}", ours, rg))
            there = search_exact.lines_there(search_exact.commands(mode, query)[0], tree)
            wrong += search_exact.lines_here(tools.exact, mode, query) != there
        middle = statistics.median(ratio for ratio, *_ in ratios)
        yield Row(
            subject.name,
            f"exact, {title}: p50 of {len(queries)} queries",
            f"ripgrep {ms(statistics.median(theirs))}",
            ms(statistics.median(mine)),
            middle,
            p50,
        )
        shown = sorted(ratios, reverse=True)
        for ratio, query, ours, rg in shown if title == "broad" else shown[:1]:
            yield Row(
                subject.name, f"exact, {title}: {query}"[:44], f"ripgrep {ms(rg)}", ms(ours), ratio, 1.0
            )
        yield Row(subject.name, f"exact, {title}: line sets that differ", "ripgrep 0", str(wrong), wrong, 0.0)


def exact_pair(search: ExactSearch, tree: Path, mode: Mode, query: str, rounds: int) -> tuple[float, float]:
    search.find(query, mode)
    commands = search_exact.commands(mode, query)
    ours, theirs = [], []
    for _ in range(rounds):
        ours.append(cpu(lambda: search.find(query, mode))[0])
        theirs.append(min(cpu(partial(search_exact.run, command, tree), own=0.0)[0] for command in commands))
    return statistics.median(ours), statistics.median(theirs)


def lexical_rows(
    controls: SharedControls, subject: Subject, corpus: Corpus, places: SearchPlaces, rounds: int
) -> Iterator[Row]:
    rules = ChunkRules.of(controls.dense)
    index = build_lexical(corpus, rules, controls.lexical, cache=places.blobs, folder=places.indexes)
    docs = [Tokenizer().tokens(text) for text in CorpusChunks(corpus, rules, places.blobs).texts()]
    found = search_lexical.compare_scores(index, docs, search_lexical.queries_of(index), rounds)
    name = subject.name
    large = sum(file.size for file in corpus.files) >= LARGE
    yield Row(name, "BM25, queries with another score", "rank-bm25 0", str(found.wrong), found.wrong, 0.0)
    yield Row(
        name,
        "BM25, best 50, p50",
        f"rank-bm25 {ms(found.rank_bm25)}",
        ms(found.ours),
        found.ours / found.rank_bm25,
        None,
    )
    yield Row(
        name,
        "BM25, best 50, p50",
        f"bm25s {ms(found.bm25s)}",
        ms(found.ours),
        found.ours / found.bm25s,
        1.5 if large else None,
    )
    if large:
        names = search_lexical.compare_names(index.vocabulary)
        yield Row(name, f"fuzzy, {names.names} names, p95", "1.5 ms", ms(names.p95), names.p95 / 1.5e-3, 1.0)
        yield Row(name, "fuzzy, other answers than a full scan", "0", str(names.wrong), names.wrong, 0.0)


def symbol_rows(subject: Subject, corpus: Corpus, folder: Path, tree: Path, rounds: int) -> Iterator[Row]:
    ours, theirs = [], []
    for number in range(min(rounds, 5)):
        cache = Cache(folder / f"symbols-{number}")
        theirs.append(cpu(lambda: search_symbols.ctags(tree, subject.language), own=0.0)[0])
        ours.append(
            cpu(partial(symbols_by_blob, corpus, subject.language, cache, 2), own=0.5, children=0.5)[0]
        )
    mine, other = statistics.median(ours), statistics.median(theirs)
    large = sum(file.size for file in corpus.files) >= LARGE
    yield Row(
        subject.name,
        "definitions and references, two processes",
        f"ctags {ms(other)}",
        ms(mine),
        mine / other,
        search_symbols.TARGET if large else None,
    )


def cpu(work: Callable[[], object], *, own: float = 1.0, children: float = 1.0) -> tuple[float, float]:
    """CPU seconds of `work`, of this process and of its children, each times a factor; and elapsed ones."""
    before = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    begin = time.perf_counter()
    work()
    elapsed = time.perf_counter() - begin
    after = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    mine, theirs = (
        b.ru_utime + b.ru_stime - a.ru_utime - a.ru_stime for a, b in zip(before, after, strict=True)
    )
    return own * mine + children * theirs, elapsed


def peak(controls: SharedControls, subject: Subject) -> int:
    """Print the peak memory, in MiB, of a cold build (parsers left out), and of searching alone."""
    with tempfile.TemporaryDirectory() as name:
        build = forked(lambda: opened(controls, subject, Path(name)))
        search = forked(lambda: search_everything(opened(controls, subject, Path(name))))
    print(json.dumps({"build": build, "search": search}))
    return 0


def search_everything(tools: Toolset) -> None:
    for mode, query in (*search_exact.queries_of(tools.corpus), *search_exact.BROAD):
        tools.exact.find(query, mode)
        tools.hybrid.find(query)


def forked(work: Callable[[], object]) -> float:
    """Peak memory, in MiB, of `work` in a process of its own."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        work()
        os.write(writer, str(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as told:
        text = told.read()
    os.waitpid(child, 0)
    return float(text)


def ms(seconds: float) -> str:
    return f"{seconds * 1e3:.2f} ms"


if __name__ == "__main__":
    sys.exit(main())
