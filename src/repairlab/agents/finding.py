"""Finding files by name: the tool ``find_files``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import translate

from repairlab.agents.searching import Found, plural
from repairlab.contract.controls import Paths, Search
from repairlab.search.corpus import Corpus
from repairlab.search.results import quote_path

_GLOB = frozenset("*?[")


@dataclass(frozen=True, slots=True)
class FileFinder:
    """Lists files of the searched text by their paths. A name is no file shown: only contents are."""

    corpus: Corpus
    search: Search
    paths: Paths

    def find(self, name: str) -> Found:
        """Answer one call: every path that `name` fits, in order of path bytes, up to the frozen number."""
        fault = self._fault(name)
        if fault:
            return Found(f"The name cannot be looked for: {fault}.", valid=False)
        found = _fitting(name, [file.path for file in self.corpus.files])
        if not found:
            return Found("No file matches.")
        most = self.paths.listed_files
        head = f"{len(found)} {plural('file', len(found))}{' match' if len(found) > 1 else ' matches'}."
        if len(found) > most:
            head += f" The first {most} are listed."
        return Found("\n".join([head, *map(quote_path, found[:most])]))

    def _fault(self, name: str) -> str:
        most = self.search.query_characters
        if not name or name.isspace():
            return "it is empty: it needs at least one visible character"
        if len(name) > most:
            return f"it has {len(name)} characters; at most {most} are looked for"
        return ""


def _fitting(name: str, paths: list[str]) -> list[str]:
    if not _GLOB & set(name):
        return [path for path in paths if name in path]
    pattern = re.compile(translate(name))
    whole = "/" in name
    return [path for path in paths if pattern.match(path if whole else path.rpartition("/")[2])]
