"""What is derived from blobs and chunks, computed once and kept: by content, parameters and code.

A folder holds one folder a table, that one *packs*: immutable files of many entries each. An entry carries a
checksum over its key and value; one that fails it counts as absent and is made again. Packs are only ever
added, each by one atomic rename, under a lock that decides between writers: the first value of a key stays.
So an index reads the same whether the cache was empty, full or partly filled.
"""

from __future__ import annotations

import hashlib
import importlib.util
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from repairlab.contract.canonical import Json, digest_of, sha256_hex
from repairlab.contract.errors import InfrastructureFailure, IntegrityViolation
from repairlab.repositories.locking import hold
from repairlab.search.container import Container, open_container, write

_KIND = "cache"
_SUFFIX = ".pack"
_LOCK = "lock"
_CHECK_BYTES = 16
_NAME = re.compile(r"[a-z][a-z-]*")
_FOLDER = re.compile(r"[a-z][a-z-]*-[0-9a-f]{64}")

Make = Callable[[Sequence[str]], Iterable[tuple[str, bytes]]]
"""Computes the values of the given keys (distinct, ascending): one pair a key, in any order."""


@dataclass(frozen=True, slots=True)
class Table:
    """Entries that are made in one way.

    Attributes:
        name: what they are, in lower-case letters and hyphens; the name of their folder begins with it.
        code: version of the code that makes them, such as `code_of` gives.
        parameters: everything else beside the key that a value depends on.
    """

    name: str
    code: str
    parameters: Json

    @property
    def digest(self) -> str:
        """64 hexadecimal digits; other code or parameters give another table."""
        return digest_of({"name": self.name, "code": self.code, "parameters": self.parameters})


def code_of(*modules: str) -> str:
    """A digest over the source of these modules, by their full names: it changes when one of them does.

    Raises:
        IntegrityViolation: a module has no source file.
    """
    sources: dict[str, Json] = {}
    for name in modules:
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            raise IntegrityViolation(f"module {name} has no source file, so its version is unknown")
        sources[name] = sha256_hex(Path(spec.origin).read_bytes())
    return digest_of(sources)


@dataclass(frozen=True, slots=True)
class TableStats:
    """What the cache holds of one table.

    Attributes:
        folder: name of the table's folder.
        packs: number of files.
        entries: entries in them; one that was made again counts again.
        size: bytes on disk.
        damaged: entries that fail their checksum, and packs that cannot be read at all.
    """

    folder: str
    packs: int
    entries: int
    size: int
    damaged: int


class Cache:
    """A folder of tables. Holds no state: any number of threads and processes may share the folder."""

    __slots__ = ("folder",)

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get_or_make(
        self, table: Table, keys: Iterable[str], make: Make, *, exclusive: bool = False
    ) -> dict[str, memoryview]:
        """The value of every key, by ascending key; what is absent or damaged is made and kept.

        Args:
            table: where the entries belong.
            keys: printable ASCII without white space, such as blob ids; repeats count once.
            make: computes what is absent. What it gave before it failed is kept.
            exclusive: let one process at a time make entries of this table, so that none is ever made
                twice; for values that are dear or that another computation would not repeat to the bit.

        Raises:
            IntegrityViolation: `make` gave a key that it was not asked for, one twice, or not all of them.
            InfrastructureFailure: the folder cannot be written (kind ``cache-write``).
        """
        wanted = sorted(set(keys))
        folder = self.table_folder(table)
        found = _read(folder, table, wanted)
        missing = [key for key in wanted if key not in found]
        if missing and exclusive:
            with _locked(folder):
                found = _read(folder, table, wanted)
                missing = [key for key in wanted if key not in found]
                found.update(_made(missing, make, lambda new: _write(folder, table, new)))
        elif missing:
            found.update(_made(missing, make, lambda new: _add(folder, table, new)))
        return {key: found[key] for key in wanted}

    def get(self, table: Table, keys: Iterable[str]) -> dict[str, memoryview]:
        """The values of those keys that are there and undamaged, by ascending key; nothing is made."""
        wanted = sorted(set(keys))
        found = _read(self.table_folder(table), table, wanted)
        return {key: found[key] for key in wanted if key in found}

    def table_folder(self, table: Table) -> Path:
        """Where the packs of `table` lie."""
        if not _NAME.fullmatch(table.name):
            raise ValueError(f"{table.name!r} is no name of a table")
        return self.folder / f"{table.name}-{table.digest}"

    def stats(self) -> tuple[TableStats, ...]:
        """What the cache holds, by folder name. Every entry is read and held against its checksum."""
        return tuple(_stats(folder) for folder in self._tables())

    def clear(self) -> int:
        """Delete every pack, and nothing else; how many bytes were freed.

        Whoever has a pack open keeps reading it.

        Raises:
            InfrastructureFailure: a file cannot be deleted (kind ``cache-write``).
        """
        freed = 0
        for folder in self._tables():
            with _locked(folder):
                for path in (*_packs(folder), *folder.glob(f"*{_SUFFIX}.*.partial")):
                    freed += _delete(path)
        return freed

    def _tables(self) -> list[Path]:
        if not self.folder.is_dir():
            return []
        return sorted(path for path in self.folder.iterdir() if _FOLDER.fullmatch(path.name))


def _delete(path: Path) -> int:
    """Bytes freed."""
    try:
        size = path.stat().st_size
        path.unlink()
    except OSError as error:
        raise _unwritable(path, error) from error
    return size


def _made(
    missing: Sequence[str], make: Make, keep: Callable[[Mapping[str, bytes]], Mapping[str, memoryview]]
) -> Mapping[str, memoryview]:
    """The values of the missing keys, made and kept."""
    if not missing:
        return {}
    new: dict[str, bytes] = {}
    try:
        for key, value in make(missing):
            _expect(key not in new, f"an entry was made twice for {key!r}")
            new[key] = value
    except BaseException:
        keep({key: new[key] for key in missing if key in new})
        raise
    _expect(sorted(new) == missing, f"entries were made for other keys than {len(missing)} missing ones")
    return keep(new)


def _expect(holds: bool, fault: str) -> None:
    if not holds:
        raise IntegrityViolation(fault)


def _add(folder: Path, table: Table, new: Mapping[str, bytes]) -> dict[str, memoryview]:
    """Keep `new`, but for keys that another writer has kept meanwhile: theirs are returned."""
    if not new:
        return {}
    with _locked(folder):
        theirs = _read(folder, table, sorted(new))
        ours = _write(folder, table, {key: value for key, value in new.items() if key not in theirs})
    return {**theirs, **ours}


def _write(folder: Path, table: Table, new: Mapping[str, bytes]) -> dict[str, memoryview]:
    """Write one pack; the lock must be held."""
    if not new:
        return {}
    keys = sorted(new)
    if "\n".join(keys).split() != keys:
        raise ValueError(f"keys of {table.name} hold white space or are empty")
    checks = b"".join(_check(key, new[key]) for key in keys)
    write(
        folder / f"{sha256_hex(checks)[:32]}{_SUFFIX}",
        kind=_KIND,
        digest=table.digest,
        facts={"table": table.name, "entries": len(keys)},
        sections={
            "keys": "\n".join(keys).encode("ascii"),
            "bounds": memoryview(array("Q", accumulate((len(new[key]) for key in keys), initial=0))),
            "checks": checks,
            "values": b"".join(new[key] for key in keys),
        },
    )
    return {key: memoryview(new[key]) for key in keys}


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    with ExitStack() as stack:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            stack.enter_context(hold(folder / _LOCK))
        except OSError as error:
            raise _unwritable(folder, error) from error
        yield


def _unwritable(path: Path, error: OSError) -> InfrastructureFailure:
    return InfrastructureFailure(f"{path}: cannot be written ({error.strerror})", kind="cache-write")


def _read(folder: Path, table: Table, wanted: Iterable[str]) -> dict[str, memoryview]:
    """The whole entries among the wanted keys."""
    left = set(wanted)
    found: dict[str, memoryview] = {}
    for path in _packs(folder):
        if not left:
            break
        pack = _open(path, table.digest)
        if pack is None:
            continue
        for key, value in pack.whole(left):
            found[key] = value
            left.discard(key)
    return found


def _packs(folder: Path) -> list[Path]:
    return sorted(folder.glob(f"*{_SUFFIX}"))


def _open(path: Path, digest: str) -> _Pack | None:
    """The pack at `path`; None if it cannot be read, as if it were not there."""
    try:
        return _Pack(open_container(path, kind=_KIND, digest=digest))
    except FileNotFoundError:  # cleared since the folder was listed
        return None
    except IntegrityViolation:
        return None


class _Pack:
    """One opened file. Nothing in it is trusted but what an entry's checksum confirms."""

    __slots__ = ("_bounds", "_checks", "_values", "keys")

    def __init__(self, container: Container) -> None:
        self.keys = bytes(container.section("keys")).decode("ascii", "replace").split("\n")
        bounds = container.section("bounds")
        self._bounds = bounds[: len(bounds) // 8 * 8].cast("Q")
        self._checks = container.section("checks")
        self._values = container.section("values")

    def whole(self, wanted: set[str]) -> list[tuple[str, memoryview]]:
        """The wanted entries that are undamaged."""
        chosen = ((key, self._value(number, key)) for number, key in enumerate(self.keys) if key in wanted)
        return [(key, value) for key, value in chosen if value is not None]

    def _value(self, number: int, key: str) -> memoryview | None:
        if number + 1 >= len(self._bounds):
            return None
        value = self._values[self._bounds[number] : self._bounds[number + 1]]
        check = self._checks[number * _CHECK_BYTES : (number + 1) * _CHECK_BYTES]
        return value if check == _check(key, value) else None


def _check(key: str, value: bytes | memoryview) -> bytes:
    digest = hashlib.sha256(key.encode("utf-8", "replace") + b"\n")
    digest.update(value)
    return digest.digest()[:_CHECK_BYTES]


def _stats(folder: Path) -> TableStats:
    entries = size = damaged = 0
    digest = folder.name[-64:]
    paths = _packs(folder)
    for path in paths:
        size += path.stat().st_size
        pack = _open(path, digest)
        if pack is None:
            damaged += 1
            continue
        entries += len(pack.keys)
        damaged += len(pack.keys) - len(pack.whole(set(pack.keys)))
    return TableStats(folder.name, len(paths), entries, size, damaged)
