"""The skeleton of a repository: every path, and under it the names of functions, types and methods.

Where all of it is larger than the cap, this decides what goes in: paths before names; then, level by level,
names at the top of production files, methods of production files, and the same of files that no patch may
touch. At the first level that does not fit, every file of it shows its first m names, with the largest m that
fits, and later levels show nothing: no file is favoured for its place in the alphabet. If not even all paths
fit, those are kept that come first by production before protected, then by the SHA-256 of the path.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from repairlab.agents.staged.measure import TokenRule, largest
from repairlab.contract.canonical import sha256_hex
from repairlab.search.blobs import path_bytes
from repairlab.search.results import quote_path
from repairlab.search.symbols_blob import NONE, Definition, Kind
from repairlab.search.symbols_index import SymbolIndex

_MORE = " +"
_NAME, _OWNER = Definition._fields.index("name"), Definition._fields.index("owner")
_KIND = Definition._fields.index("kind")

Level = tuple[bool, Literal["tops", "methods"]]
"""Whether a file is protected, and which of its names."""
Limits = Mapping[Level, int]
"""How many names each file shows, by level."""

_LEVELS: tuple[Level, ...] = ((False, "tops"), (False, "methods"), (True, "tops"), (True, "methods"))
"""In the order in which they go in."""


@dataclass(frozen=True, slots=True)
class Outline:
    """What a file defines.

    Attributes:
        path: of the file.
        protected: no patch may touch it.
        tops: functions and types at the top of the file, each name once, in the order of the source.
        methods: (owner, name), each pair once, in that order. A Go type may be defined in another file.
    """

    path: str
    protected: bool
    tops: tuple[str, ...]
    methods: tuple[tuple[str, str], ...]

    def names(self, kind: Literal["tops", "methods"]) -> tuple[object, ...]:
        """Those of one kind."""
        return self.tops if kind == "tops" else self.methods


@dataclass(frozen=True, slots=True)
class Skeleton:
    """The text for a model, and how much of the repository is in it.

    Attributes:
        text: folders, files, names.
        tokens: its size by the token rule.
        named: paths of the files in it.
        names: number of names shown, by path; files without any are left out.
        all_names: number of names that there are, by path.
    """

    text: str
    tokens: int
    named: frozenset[str]
    names: dict[str, int]
    all_names: dict[str, int]

    @property
    def complete(self) -> bool:
        """Whether nothing had to be dropped."""
        return len(self.named) == len(self.all_names) and sum(self.names.values()) == sum(
            self.all_names.values()
        )


def outlines(index: SymbolIndex, protected: Callable[[str], bool]) -> list[Outline]:
    """The outline of every file of the corpus, in the order of their paths."""
    return [
        Outline(file.path, protected(file.path), *_names(index, number))
        for number, file in enumerate(index.corpus.files)
    ]


def build_skeleton(files: Sequence[Outline], rule: TokenRule, cap_tokens: int) -> Skeleton:
    """The largest skeleton under the rule of this module that has at most `cap_tokens`."""
    cap = cap_tokens * rule.parts
    limits: Limits = dict.fromkeys(_LEVELS, 0)
    kept = _kept(files, lambda some: rule.size(_text(some, limits)) <= cap)
    complete = len(kept) == len(files)
    for level in _LEVELS:
        if complete:
            raised = _raised(kept, limits, level, lambda text: rule.size(text) <= cap)
            limits, complete = raised.limits, raised.complete
    return _skeleton(files, kept, limits, rule)


class _Raised(NamedTuple):
    limits: Limits
    complete: bool
    """Whether every name of the level is shown."""


def _raised(kept: Sequence[Outline], limits: Limits, level: Level, fits: Callable[[str], bool]) -> _Raised:
    """`limits` with the largest number of names at `level` that fits.

    Each name adds more than the mark of a file takes away with its last one, so sizes never fall.
    """
    protected, kind = level
    most = max((len(one.names(kind)) for one in kept if one.protected is protected), default=0)
    found = largest(most, lambda count: fits(_text(kept, {**limits, level: count})))
    return _Raised({**limits, level: found}, found == most)


def _kept(files: Sequence[Outline], fits: Callable[[Sequence[Outline]], bool]) -> list[Outline]:
    """Those whose paths go in, folder by folder."""
    ordered = _by_folder(files)
    if fits(ordered):
        return ordered
    ranked = sorted(files, key=lambda one: (one.protected, sha256_hex(path_bytes(one.path))))
    count = largest(len(ranked), lambda n: fits(_by_folder(ranked[:n])))
    return _by_folder(ranked[:count])


def _by_folder(files: Sequence[Outline]) -> list[Outline]:
    return sorted(files, key=lambda one: [path_bytes(part) for part in posixpath.split(one.path)])


def _skeleton(files: Sequence[Outline], kept: Sequence[Outline], limits: Limits, rule: TokenRule) -> Skeleton:
    text = _text(kept, limits)
    shown = {one.path: sum(map(len, _shown(one, limits))) for one in kept}
    return Skeleton(
        text,
        rule.tokens(rule.size(text)),
        frozenset(shown),
        {path: count for path, count in shown.items() if count},
        {one.path: len(one.tops) + len(one.methods) for one in files},
    )


def _text(files: Sequence[Outline], limits: Limits) -> str:
    return "\n".join(_lines(files, limits))


def _lines(files: Sequence[Outline], limits: Limits) -> Iterator[str]:
    folder = None
    for one in files:
        above, name = posixpath.split(one.path)
        if above != folder:
            folder = above
            yield quote_path(f"{folder or '.'}/")
        yield f"  {quote_path(name)}{_entries(one, limits)}"


def _shown(one: Outline, limits: Limits) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    tops, methods = limits[one.protected, "tops"], limits[one.protected, "methods"]
    return one.tops[:tops], one.methods[:methods]


def _entries(one: Outline, limits: Limits) -> str:
    tops, methods = _shown(one, limits)
    if not tops and not methods:
        return ""
    entries: dict[str, list[str]] = {name: [] for name in tops}
    for owner, name in methods:
        entries.setdefault(owner, []).append(name)
    texts = [f"{name}({', '.join(inner)})" if inner else name for name, inner in entries.items()]
    more = _MORE if len(tops) + len(methods) < len(one.tops) + len(one.methods) else ""
    return f": {', '.join(texts)}{more}"


def _names(index: SymbolIndex, file: int) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    ids, texts = index.symbols_of(file), index.texts
    tops: dict[str, None] = {}
    methods: dict[tuple[str, str], None] = {}
    for row in index.definitions[ids.start : ids.stop].tolist():
        name, owner, kind = texts[row[_NAME]], row[_OWNER], row[_KIND]
        if kind == Kind.METHOD and owner != NONE:
            methods[(texts[owner], name)] = None
        elif owner == NONE and kind in (Kind.FUNCTION, Kind.TYPE):
            tops[name] = None
    return tuple(tops), tuple(methods)
