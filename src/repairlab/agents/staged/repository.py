"""The base commit as the stages see it: the searched text and the symbols in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from repairlab.agents.staged.answers import Definitions, either_form
from repairlab.agents.staged.packing import SourceFile
from repairlab.agents.staged.skeleton import Outline, outlines
from repairlab.contract.errors import IntegrityViolation
from repairlab.search.corpus import Corpus
from repairlab.search.symbols_blob import Kind
from repairlab.search.symbols_index import SymbolIndex

_KINDS = {Kind.FUNCTION: "function", Kind.METHOD: "function", Kind.TYPE: "class"}


@dataclass(frozen=True, slots=True)
class StagedRepository:
    """One base commit.

    Attributes:
        corpus: the searched text.
        index: the symbols in it.
        protected: whether no patch may touch a path.
    """

    corpus: Corpus
    index: SymbolIndex
    protected: Callable[[str], bool]

    def outlines(self) -> list[Outline]:
        """What every file defines."""
        return outlines(self.index, self.protected)

    def known(self) -> dict[str, str]:
        """Every path, by the forms in which it may be named."""
        return either_form([file.path for file in self.corpus.files])

    def source(self, path: str) -> SourceFile:
        """The lines of a file."""
        file = self._id(path)
        lines = self.corpus.lines(file, 1, self.corpus.files[file].lines)
        symbols = map(self.index.symbol, self.index.symbols_of(file))
        return SourceFile(path, lines, tuple(sorted({one.first for one in symbols if one.kind in _KINDS})))

    def definitions(self, path: str) -> Definitions:
        """What a file defines, by name."""
        file = self._id(path)
        spans: dict[tuple[str, str], list[tuple[int, int]]] = {}
        for symbol in map(self.index.symbol, self.index.symbols_of(file)):
            kind = _KINDS.get(symbol.kind)
            if kind is not None:
                names = {symbol.name, f"{symbol.owner}.{symbol.name}".lstrip(".")}
                for name in sorted(names):
                    spans.setdefault((kind, name), []).append((symbol.first, symbol.last))
        return Definitions(self.corpus.files[file].lines, {key: tuple(found) for key, found in spans.items()})

    def _id(self, path: str) -> int:
        file = self.corpus.id_of(path)
        if file is None:
            raise IntegrityViolation(f"{path}: selected, and no file of the corpus")
        return file
