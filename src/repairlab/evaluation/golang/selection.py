"""From test identifiers and test files to what each test program is asked to run. Pure.

An identifier is ``FOLDER::NAME``: the package's folder relative to the root (``.`` for the root), and the
test's name exactly as Go reports it, with its subtests behind slashes.

A ``-test.run`` pattern is split at its slashes and each part is matched against one part of the name, so
each is anchored and escaped by itself. Top-level tests that are wanted themselves share one start of the
program, and run with all of their subtests. Where only subtests of a test are wanted, the program is
started for that test alone, with the wanted names at each depth: its other subtests must not decide its
status.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from repairlab.contract.errors import BadInput

_SPECIAL = frozenset(r"\.+*?()|[]{}^$")


@dataclass(frozen=True, slots=True)
class Package:
    """One package of a request."""

    folder: str
    files: tuple[str, ...]
    """Names of test files whose tests are wanted; empty when `patterns` say it."""
    patterns: tuple[str, ...]
    """One start of the test program for each. An empty pattern stands for the tests in `files`."""


def packages_of(select: Sequence[str] | None, files: Sequence[str]) -> tuple[Package, ...]:
    """What to run: the tests `select`, or all that the test files `files` declare. Sorted by folder.

    Raises:
        BadInput: an identifier or a path does not have the form that it must have.
    """
    if select is not None:
        names: dict[str, set[str]] = defaultdict(set)
        for identifier in select:
            folder, name = split(identifier)
            names[folder].add(name)
        return tuple(Package(folder, (), patterns(names[folder])) for folder in sorted(names))
    by_folder: dict[str, set[str]] = defaultdict(set)
    for path in files:
        if not path.endswith("_test.go"):
            raise BadInput(f"{path} is no Go test file")
        folder, _, name = path.rpartition("/")
        by_folder[folder or "."].add(name)
    return tuple(Package(folder, tuple(sorted(by_folder[folder])), ("",)) for folder in sorted(by_folder))


def split(identifier: str) -> tuple[str, str]:
    """Folder and name of an identifier."""
    folder, separator, name = identifier.partition("::")
    parts = folder.split("/")
    contained = folder == "." or not any(part in {"", ".", ".."} for part in parts)
    if not (separator and name and contained):
        raise BadInput(f"{identifier!r} is no Go test: FOLDER::TestName is meant")
    return folder, name


def patterns(names: Iterable[str]) -> tuple[str, ...]:
    """The patterns that run `names` of one package and, beside their subtests and parents, little else."""
    wanted = sorted(set(names))
    whole = [name for name in wanted if "/" not in name]
    parts: dict[str, list[list[str]]] = defaultdict(list)
    for name in wanted:
        elements = name.split("/")
        if len(elements) > 1 and elements[0] not in whole:
            parts[elements[0]].append(elements)
    found = [_either(whole)] if whole else []
    return (*found, *(_by_depth(parts[top]) for top in sorted(parts)))


def _by_depth(names: Sequence[Sequence[str]]) -> str:
    """A pattern as deep as the shallowest of `names`: below that, everything runs."""
    depth = min(map(len, names))
    return "/".join(_either(sorted({name[level] for name in names})) for level in range(depth))


def _either(elements: Sequence[str]) -> str:
    return f"^(?:{'|'.join(map(quote, elements))})$"


def quote(element: str) -> str:
    """`element` as a regular expression that matches it and nothing else."""
    return "".join(f"\\{character}" if character in _SPECIAL else character for character in element)


def numbered(packages: Iterable[Package]) -> Mapping[int, tuple[str, str]]:
    """Number of each start, over all packages in order, to its folder and pattern."""
    starts = [(package.folder, pattern) for package in packages for pattern in package.patterns]
    return dict(enumerate(starts))
