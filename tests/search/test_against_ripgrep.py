"""The line sets of a regular-expression search equal those of ripgrep, a tool of its own making."""

from __future__ import annotations

import random
import re
import shutil
import subprocess

import pytest

from repairlab.search.exact import Mode
from repairlab.search.results import QueryError

# RE2's Perl classes go by ASCII, ripgrep's by Unicode: written out, they mean the same in both.
ASCII = {
    r"\w": "[0-9A-Za-z_]",
    r"\W": "[^0-9A-Za-z_]",
    r"\d": "[0-9]",
    r"\D": "[^0-9]",
    r"\s": r"[\t\n\f\r ]",
    r"\S": r"[^\t\n\f\r ]",
    r"\b": r"(?-u:\b)",
}

QUERIES = [
    "def ", "self", "x", r"\bfoo\b", r"class \w+:", r"def \w+\(self", "^import", "^$", r"^\s+return",
    "return$", r"\)$", r"\r$", "x*", ".", "..", "(?i)SELF|Ö", "(?i)k", r"[^\w\s]+$", "é", "gr..e", r"\d+",
    r"\D\d", "a|b|^$", r"foo.*bar", r"(foo|bar)+\(", r"[a-c]{2,3}", r"^[^#]*#", r"\w+\s*=\s*\w+", "\\t",
    "日本", r"\x66oo", r"\p{Greek}", r"\w+_\w+", "_", "(?s)a.b", r"a\W*b", "x{0}", r"^\w+$", "(?:)foo",
    r"\.", r"foo\b",
]  # fmt: skip

PIECES = [
    "def foo(self):", "    return self.bar", "import os", "class Foo_Bar:", "foo", "bar", "x = 1", "", "a",
    "b", "#", "K", "\u212a", "größe", "日本語", "Öl", "öl", "\t", "\r", "λ = 2", "foo.bar(", "foobar(",
    "3.14", " ", "self", "…", "é",
]  # fmt: skip


def files() -> dict[str, bytes]:
    """Thirty small files in which the queries meet; the same in every run."""
    chance = random.Random(20)
    made = {}
    for number in range(30):
        lines = [
            "".join(chance.choice(PIECES) for _ in range(chance.randrange(4))).encode()
            for _ in range(chance.randrange(12))
        ]
        made[f"f{number:02}.py"] = chance.choice([b"\n", b"\n", b"\r\n"]).join(lines) + chance.choice(
            [b"", b"\n"]
        )
    made["latin.py"] = b"caf\xe9 foo\n\xff\xfe\nx\xe9\n"
    made["empty.py"] = b""
    return made


@pytest.fixture
def ripgrep() -> str:
    found = shutil.which("rg")
    # Not skipped: without the comparison the claim of equal line sets is untested.
    assert found is not None, "these tests need ripgrep (on Debian: apt-get install ripgrep)"
    return found


@pytest.fixture
def tree(tmp_path):
    folder = tmp_path / "tree"
    folder.mkdir()
    for name, data in files().items():
        (folder / name).write_bytes(data)
    return folder


def lines_of(rg: str, folder, *arguments: str) -> dict[str, tuple[int, ...]]:
    # -E none: ripgrep would drop byte-order marks; --text: it would stop at what it takes for binary.
    command = [
        rg,
        "--no-config",
        "--no-ignore",
        "--text",
        "-E",
        "none",
        "-n",
        "--null",
        "--no-heading",
        *arguments,
        ".",
    ]
    ended = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    assert ended.returncode in (0, 1), ended.stderr
    found: dict[str, list[int]] = {}
    for path, number in re.findall(rb"^\./([^\0\n]+)\0(\d+):", ended.stdout, re.MULTILINE):
        found.setdefault(path.decode(), []).append(int(number))
    return {path: tuple(numbers) for path, numbers in sorted(found.items())}


def ours(search, query: str, mode: Mode) -> dict[str, tuple[int, ...]]:
    ranking = search.rank(query, mode)
    assert not isinstance(ranking, QueryError), ranking
    return {file.path: search.lines(ranking, file) for file in sorted(ranking.files, key=lambda f: f.path)}


def test_regular_expressions_find_the_lines_that_ripgrep_finds(ripgrep, tree, memory_corpus, exact):
    search = exact(memory_corpus(files()))
    for query in QUERIES:
        written_out = re.sub(r"\\[wWdDsSb]", lambda found: ASCII[found[0]], query)
        if "[^" in query:  # a class inside a class is its content
            written_out = query.replace(r"[^\w\s]", r"[^0-9A-Za-z_\t\n\f\r ]")
        assert ours(search, query, Mode.REGEX) == lines_of(ripgrep, tree, "-e", written_out), query


def test_substrings_find_the_lines_that_ripgrep_finds(ripgrep, tree, memory_corpus, exact):
    search = exact(memory_corpus(files()))
    for query in ("foo", "self.", "o", "é", "本", "(", "= 1", "bar(", "foo.bar("):
        assert ours(search, query, Mode.SUBSTRING) == lines_of(ripgrep, tree, "-F", "-e", query), query


def test_literals_find_the_lines_that_ripgrep_finds_as_words(ripgrep, tree, memory_corpus, exact):
    search = exact(memory_corpus(files()))
    for query in ("foo", "self", "Foo_Bar", "größe", "x", "os", "日本語", "def foo"):
        assert ours(search, query, Mode.LITERAL) == lines_of(ripgrep, tree, "-w", "-F", "-e", query), query


def test_the_comparison_is_not_empty(ripgrep, tree):
    assert sum(len(lines) for lines in lines_of(ripgrep, tree, "-e", "foo").values()) > 20
