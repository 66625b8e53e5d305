"""The symbols of a corpus: the stored rows of its files, merged over one sorted table of texts."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from repairlab.contract.canonical import digest_of
from repairlab.contract.task import Language
from repairlab.search.cache import Cache, code_of
from repairlab.search.container import Container, open_or_build, write
from repairlab.search.corpus import Corpus
from repairlab.search.fuzzy import FuzzyIndex, fuzzy_sections, read_table
from repairlab.search.symbols_blob import NONE, Columns, Definition, Import, Kind, Reference
from repairlab.search.symbols_cache import code, symbols_by_blob
from repairlab.search.symbols_modules import module_names

_KIND = "symbols"

Rows = NDArray[np.int32]
Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Symbol:
    """A definition in a corpus.

    Attributes:
        id: its number; ids ascend by path bytes, then by place.
        file: id of the file, path: its path.
        name: in NFKC.
        owner: dotted names of what it stands in (a Go method: its type); empty at the top of a file.
        qualified: module (Python) or package (Go), owner and name, joined by dots.
        kind: what it is.
        parent: id of the function or type around it in its file, None at the top.
        line: where the name stands; first, last: lines of the whole definition.
        start, end: bytes of the whole definition, the end excluded.
        recovered: read off a line that the parser could not place.
    """

    id: int
    file: int
    path: str
    name: str
    owner: str
    qualified: str
    kind: Kind
    parent: int | None
    line: int
    first: int
    last: int
    start: int
    end: int
    recovered: bool


class SymbolIndex:
    """An opened index. Immutable.

    Attributes:
        language: of the corpus.
        corpus: whose symbols these are.
        texts: every text, ascending; rows refer to it by position.
        definitions: shape (definitions, fields of `Definition`); `enclosing` is a symbol's id here.
        references: shape (references, fields of `Reference`); `enclosing` likewise.
        imports: shape (imports, fields of `Import`).
        packages: text of each file's Go package, `NONE` for Python.
        modules: dotted module of each Python file; the folder of each Go file.
        with_errors: ids of the files in which the parser found errors, ascending.
        names: the distinct names of definitions, ascending.
        similar: finds the names that resemble a text.
    """

    __slots__ = (
        "_bounds",
        "_container",
        "_defined",
        "_referenced",
        "corpus",
        "definitions",
        "imports",
        "language",
        "modules",
        "names",
        "packages",
        "references",
        "similar",
        "texts",
        "with_errors",
    )

    def __init__(self, container: Container, corpus: Corpus, language: Language) -> None:
        self._container = container
        self.corpus = corpus
        self.language: Language = language
        text = str(container.section("texts"), "utf-8")
        self.texts = text.split("\0") if text else []
        self.definitions = _table(container, "definitions", len(Definition._fields))
        self.references = _table(container, "references", len(Reference._fields))
        self.imports = _table(container, "imports", len(Import._fields))
        self._bounds = np.frombuffer(container.section("bounds"), np.int64).reshape(3, -1)
        self._defined = _ByName(container, "defined")
        self._referenced = _ByName(container, "referenced")
        self.packages: list[int] = np.frombuffer(container.section("packages"), np.int32).tolist()
        errors = np.frombuffer(container.section("errors"), np.uint8)
        self.with_errors: tuple[int, ...] = tuple(np.flatnonzero(errors).tolist())
        self.modules = module_names([file.path for file in corpus.files], language)
        self.names = [self.texts[number] for number in np.unique(self._defined.names).tolist()]
        self.similar = FuzzyIndex(self.names, read_table(container, "fuzzy"))

    def content(self) -> str:
        """SHA-256 of everything that the index holds; see `repairlab.search.container.Container.content`."""
        return self._container.content()

    def text(self, number: int) -> str:
        """The text with this number; empty for `NONE`."""
        return self.texts[number] if number != NONE else ""

    def number_of(self, text: str) -> int:
        """The number of `text`, `NONE` if no row refers to it."""
        place = bisect_left(self.texts, text)
        return place if place < len(self.texts) and self.texts[place] == text else NONE

    def defining(self, name: str) -> Sequence[int]:
        """Ids of the symbols with exactly this name (in NFKC), ascending."""
        ids: list[int] = self._defined.rows(self.number_of(name)).tolist()
        return ids

    def referring(self, name: str) -> Numbers:
        """Rows of `references` to exactly this name, ascending: by file, then by place."""
        return self._referenced.rows(self.number_of(name))

    def symbols_of(self, file: int) -> range:
        """Ids of the symbols of a file."""
        return range(*self._bounds[0, file : file + 2].tolist())

    def references_of(self, file: int) -> range:
        """Rows of the references in a file."""
        return range(*self._bounds[1, file : file + 2].tolist())

    def imports_of(self, file: int) -> range:
        """Rows of the imports of a file."""
        return range(*self._bounds[2, file : file + 2].tolist())

    def files_of_references(self, rows: Numbers) -> Numbers:
        """The file of each of these rows of `references`."""
        return np.searchsorted(self._bounds[1], rows, "right") - 1

    def files_of_imports(self, rows: Numbers) -> Numbers:
        """The file of each of these rows of `imports`."""
        return np.searchsorted(self._bounds[2], rows, "right") - 1

    def file_of(self, symbol: int) -> int:
        """The file that defines a symbol."""
        return int(np.searchsorted(self._bounds[0], symbol, "right")) - 1

    def row(self, symbol: int) -> Definition:
        """The stored row of a symbol."""
        return Definition(*self.definitions[symbol].tolist())

    def reference(self, row: int) -> Reference:
        """A stored reference."""
        return Reference(*self.references[row].tolist())

    def imported(self, row: int) -> Import:
        """A stored import."""
        return Import(*self.imports[row].tolist())

    def symbol(self, number: int) -> Symbol:
        """The symbol with this id."""
        row, file = self.row(number), self.file_of(number)
        owner, name = self.text(row.owner), self.text(row.name)
        module = self.modules[file] if self.language == "python" else self.text(self.packages[file])
        return Symbol(
            id=number,
            file=file,
            path=self.corpus.files[file].path,
            name=name,
            owner=owner,
            qualified=".".join(part for part in (module, owner, name) if part),
            kind=Kind(row.kind),
            parent=row.enclosing if row.enclosing != NONE else None,
            line=row.line,
            first=row.first,
            last=row.last,
            start=row.start,
            end=row.end,
            recovered=bool(row.recovered),
        )

    def around(self, file: int, line: int) -> int | None:
        """Id of the innermost symbol of `file` whose definition spans `line`, None if none does."""
        ids = self.symbols_of(file)
        rows = self.definitions[ids.start : ids.stop]
        first, last = rows[:, Definition._fields.index("first")], rows[:, Definition._fields.index("last")]
        spanning = np.flatnonzero((first <= line) & (line <= last))
        if not len(spanning):
            return None
        # Rows ascend by start: of those around a line, the shortest is innermost, the later one on a tie.
        sizes = (last - first)[spanning]
        return ids.start + int(spanning[len(sizes) - 1 - int(sizes[::-1].argmin())])


class _ByName:
    """Rows ordered by the number of their name."""

    __slots__ = ("_order", "names")

    def __init__(self, container: Container, name: str) -> None:
        self.names: Rows = np.frombuffer(container.section(f"{name}-names"), np.int32)
        self._order: Numbers = np.frombuffer(container.section(f"{name}-rows"), np.int64)

    def rows(self, name: int) -> Numbers:
        first, last = np.searchsorted(self.names, (name, name + 1), "left")
        return self._order[first:last] if name != NONE else self._order[:0]


def _table(container: Container, name: str, width: int) -> Rows:
    return np.frombuffer(container.section(name), np.int32).reshape(-1, width)


def build_symbols(
    corpus: Corpus, language: Language, *, cache: Cache, folder: Path, processes: int = 1
) -> SymbolIndex:
    """The index of `corpus`, opened from `folder`; built there first if it is absent or damaged.

    Args:
        corpus: whose symbols are wanted.
        language: of the corpus.
        cache: keeps what is read of each blob.
        folder: keeps the index.
        processes: how many may parse at once. The result does not depend on it.

    Raises:
        InfrastructureFailure: cache or folder cannot be written.
    """
    digest = digest_of(
        {
            "corpus": corpus.digest,
            "language": language,
            "code": [code(language), code_of(__name__, "repairlab.search.fuzzy")],
        }
    )
    path = folder / f"{digest}.symbols"

    def build() -> None:
        blobs = symbols_by_blob(corpus, language, cache, processes)
        sections = _sections([blobs[file.blob_id] for file in corpus.files])
        write(path, kind=_KIND, digest=digest, facts={"corpus": corpus.digest}, sections=sections)

    container = open_or_build(path, kind=_KIND, digest=digest, build=build)
    return SymbolIndex(container, corpus, language)


def _sections(files: Sequence[Columns]) -> dict[str, bytes | memoryview]:
    texts, numbers = _merged_texts(files)
    definitions, defined = _merged(
        [file.definitions for file in files], numbers, Definition._fields, ("name", "owner", "receiver")
    )
    references, referred = _merged(
        [file.references for file in files], numbers, Reference._fields, ("name", "receiver")
    )
    imports, imported = _merged(
        [file.imports for file in files], numbers, Import._fields, ("module", "last", "name", "alias")
    )
    for table, bounds, fields in (
        (definitions, defined, Definition._fields),
        (references, referred, Reference._fields),
    ):
        enclosing = table[:, fields.index("enclosing")]
        first = np.repeat(defined[:-1], np.diff(bounds)).astype(np.int32)
        enclosing += np.where(enclosing == NONE, 0, first)
    packages = [own[file.package] for own, file in zip(numbers, files, strict=True)]
    names = [texts[number] for number in np.unique(definitions[:, 0]).tolist()]
    return {
        "texts": "\0".join(texts).encode(),
        "definitions": definitions.tobytes(),
        "references": references.tobytes(),
        "imports": imports.tobytes(),
        "bounds": np.stack([defined, referred, imported]).tobytes(),
        "packages": np.array(packages, np.int32).tobytes(),
        "errors": np.array([file.errors for file in files], np.uint8).tobytes(),
        **_by_name("defined", definitions[:, 0]),
        **_by_name("referenced", references[:, 0]),
        **fuzzy_sections(names, "fuzzy"),
    }


def _merged_texts(files: Sequence[Columns]) -> tuple[list[str], list[Rows]]:
    """All texts, ascending, and for each file the new number of its texts; the last element stays `NONE`."""
    seen: defaultdict[str, int] = defaultdict()
    seen.default_factory = seen.__len__
    first = [[seen[text] for text in file.texts] for file in files]
    texts = sorted(seen)
    ranks = np.zeros(len(texts), np.int32)
    ranks[[seen[text] for text in texts]] = np.arange(len(texts), dtype=np.int32)
    return texts, [np.append(ranks[own], np.int32(NONE)) if own else _NO_TEXTS for own in first]


_NO_TEXTS: Rows = np.array([NONE], np.int32)


def _merged(
    files: Iterable[memoryview], numbers: Sequence[Rows], fields: Sequence[str], texts: Sequence[str]
) -> tuple[Rows, Numbers]:
    """The rows of all files with the new numbers of their texts, and where those of each file begin."""
    tables = []
    columns = [fields.index(name) for name in texts]
    for view, own in zip(files, numbers, strict=True):
        table = np.frombuffer(view, np.int32).reshape(-1, len(fields)).copy()
        # `NONE` is -1: it picks the last element, which is `NONE` again.
        table[:, columns] = own[table[:, columns]]
        tables.append(table)
    bounds = np.cumsum([0, *map(len, tables)]).astype(np.int64)
    return (np.concatenate(tables) if tables else np.zeros((0, len(fields)), np.int32)), bounds


def _by_name(section: str, names: Rows) -> dict[str, bytes]:
    order = np.argsort(names, kind="stable").astype(np.int64)
    return {f"{section}-names": names[order].tobytes(), f"{section}-rows": order.tobytes()}
