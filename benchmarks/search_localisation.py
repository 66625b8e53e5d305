"""A check of the instrument, no result of the study: where each search tool ranks the files of a known fix.

    REPAIRLAB_SOURCES=... python benchmarks/search_localisation.py

Over the fixes of preregistration/excluded.toml, which are no tasks of the study, with statements of our own
as queries. Gold files are the production files of the language that the fix changes and that exist at its
base, read from the commit at run time. Vectors come from the feature-hashing embedder, which is no language
model: the dense rows check the path, not what an embedding model could find. Each row gives the share of the
gold files of a fix, averaged over the fixes, among the first 1, 3 and 5 files.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from repairlab.contract.controls import SharedControls
from repairlab.contract.excluded import ExcludedFix, Exclusions
from repairlab.contract.strict import load
from repairlab.contract.study import Study
from repairlab.hosts.emulator.engines.hashing import DIMENSIONS, embed
from repairlab.repositories.mirrors import Mirror
from repairlab.repositories.sources import Sources
from repairlab.search.chunks import ChunkRules, CorpusChunks
from repairlab.search.dense import DenseIndex, embed_corpus
from repairlab.search.dense_search import DenseSearch
from repairlab.search.exact import Mode
from repairlab.search.fusion_dense_first import DenseFirstResult, DenseFirstSearch
from repairlab.search.graph_search import Seed
from repairlab.search.hybrid import HasPath, HybridSearch
from repairlab.search.results import Hit, QueryError
from repairlab.search.toolset import SearchPlaces, Toolset, dense_component, open_toolset
from repairlab.search.vectors import QueryVectors, VectorStore

ROOT = Path(__file__).resolve().parents[1]
FIRST = (1, 3, 5)
Tools = Mapping[str, Callable[[str], Sequence[str]]]


class Hashing:
    """The labelled feature-hashing embedder, without a host between."""

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        return [embed(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return embed(text)


def main() -> int:
    sources = os.environ.get("REPAIRLAB_SOURCES", "")
    if not sources:
        print("REPAIRLAB_SOURCES names no clones", file=sys.stderr)
        return 2
    controls = load(SharedControls, ROOT / "contracts" / "shared.toml")
    listed = load(Exclusions, Study(ROOT).excluded_file).excluded
    ranks: dict[tuple[str, str], list[tuple[float, ...]]] = {}
    print(
        "Check of the instrument; no result of the study. Rank of each gold file, - for none of the first 50."
    )
    with tempfile.TemporaryDirectory() as name:
        for fix in listed:
            mirror = Mirror(fix.repository, Path(Sources(sources).locate(fix.repository)))
            tools = tools_of(controls, fix, mirror, SearchPlaces(Path(name) / fix.language))
            gold = gold_files(Path(Sources(sources).locate(fix.repository)), fix, controls)
            for kind, query in (("statement", fix.statement), ("name", fix.name)):
                found = {tool: list(find(query)) for tool, find in tools.items()}
                for tool, paths in found.items():
                    shares = tuple(sum(path in paths[:n] for path in gold) / len(gold) for n in FIRST)
                    ranks.setdefault((kind, tool), []).append(shares)
                told = "; ".join(
                    f"{tool} {','.join(rank(p, paths) for p in gold)}" for tool, paths in found.items()
                )
                print(f"{fix.id} ({len(gold)} gold), {kind}: {told}", flush=True)
    print(
        f"\n{'query':10} {'tool':12} "
        + " ".join(f"first {n}" for n in FIRST)
        + f"   over {len(listed)} fixes"
    )
    for (kind, tool), every in ranks.items():
        means = " ".join(f"{sum(column) / len(column):7.2f}" for column in zip(*every, strict=True))
        print(f"{kind:10} {tool:12} {means}")
    return 0


def rank(path: str, paths: Sequence[str]) -> str:
    return str(paths.index(path) + 1) if path in paths else "-"


def gold_files(clone: Path, fix: ExcludedFix, controls: SharedControls) -> list[str]:
    """Production files of the language that the fix changes and that exist at its base."""
    command = ["git", "-C", str(clone), "diff", "--name-only", "--diff-filter=MD", "-z", fix.base, fix.fix]
    names = subprocess.run(command, capture_output=True, check=True).stdout.decode().split("\0")
    rules = controls.patch
    suffixes = rules.python_suffixes if fix.language == "python" else rules.go_suffixes
    return [name for name in names if name.endswith(suffixes) and not protected(name, controls)]


def protected(name: str, controls: SharedControls) -> bool:
    path = Path(name)
    return any(path.match(pattern) for pattern in controls.patch.protected_names) or bool(
        set(path.parts[:-1]) & set(controls.patch.protected_folders)
    )


def tools_of(controls: SharedControls, fix: ExcludedFix, mirror: Mirror, places: SearchPlaces) -> Tools:
    tools = open_toolset(mirror, fix.base, fix.language, controls, places)
    chunks = CorpusChunks(tools.corpus, ChunkRules.of(controls.dense), places.blobs)
    store = VectorStore(places.blobs, {"key": "hashing"}, DIMENSIONS)
    embed_corpus(chunks, store, Hashing())
    queries = QueryVectors(Hashing(), controls.dense.query_instruction, DIMENSIONS)
    dense = DenseSearch(DenseIndex(chunks, store), queries, controls.search, controls.dense, controls.view)
    hybrid = HybridSearch(
        {**tools.components, "dense": dense_component(dense)}, controls.search, controls.fusion
    )
    first = DenseFirstSearch(tools.exact, dense, controls.search)
    return {
        "exact": lambda query: ranked(tools.exact.rank(query, Mode.SUBSTRING)),
        "lexical": lambda query: ranked(tools.lexical.rank(query, 50)),
        "symbols": lambda query: ranked(tools.symbols.rank(query, 50)),
        "dense": lambda query: ranked(dense.rank(query, 50)),
        "dense-first": lambda query: shown(first.find(query, Mode.SUBSTRING)),
        "hybrid": lambda query: fused(hybrid, query),
        "graph": lambda query: neighbours(tools, hybrid, query),
    }


class Ranking(Protocol):
    """The answer of any one component: its files, best first."""

    @property
    def files(self) -> Sequence[HasPath]: ...


def ranked(ranking: Ranking | QueryError) -> list[str]:
    return [] if isinstance(ranking, QueryError) else [file.path for file in ranking.files[:50]]


def shown(answer: DenseFirstResult | QueryError) -> list[str]:
    return [] if isinstance(answer, QueryError) else [hit.path for hit in answer.hits]


def fused(hybrid: HybridSearch, query: str) -> list[str]:
    answer = hybrid.find(query)
    return [] if isinstance(answer, QueryError) else [one.path for one in answer.fused[:50]]


def neighbours(tools: Toolset, hybrid: HybridSearch, query: str) -> list[str]:
    answer = hybrid.find(query)
    if isinstance(answer, QueryError):
        return []
    seeds = [seed_of(hit) for hit in answer.hits]
    return [file.path for file in tools.graph.rank(seeds, 50).files]


def seed_of(hit: Hit) -> Seed:
    return Seed(hit.path, min(hit.matching_lines, default=hit.start_line))


if __name__ == "__main__":
    sys.exit(main())
