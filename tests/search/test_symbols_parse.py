from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repairlab.search.symbols_blob import (
    NONE,
    Definition,
    FileSymbols,
    Import,
    Kind,
    Reference,
    Use,
    pack,
    unpack,
)
from repairlab.search.symbols_parse import Grammar, parse_packed

PYTHON, GO = Grammar("python"), Grammar("go")


def text(symbols: FileSymbols, number: int) -> str:
    return symbols.texts[number] if number != NONE else ""


def defined(symbols: FileSymbols) -> list[tuple[str, str, str, int]]:
    """(name, owner, kind, line) of every definition."""
    return [
        (text(symbols, d.name), text(symbols, d.owner), Kind(d.kind).name.lower(), d.line)
        for d in symbols.definitions
    ]


def names(symbols: FileSymbols) -> list[str]:
    return [text(symbols, d.name) for d in symbols.definitions]


def used(symbols: FileSymbols) -> list[tuple[str, str, str, int]]:
    """(receiver, name, use, line) of every reference."""
    return [
        (text(symbols, r.receiver), text(symbols, r.name), Use(r.use).name.lower(), r.line)
        for r in symbols.references
    ]


def imported(symbols: FileSymbols) -> list[tuple[str, str, str, int]]:
    """(module with its dots, name, alias, line) of every import."""
    return [
        ("." * i.level + text(symbols, i.module), text(symbols, i.name), text(symbols, i.alias), i.line)
        for i in symbols.imports
    ]


def test_python_definitions_of_every_kind_with_what_they_stand_in():
    symbols = PYTHON.parse(
        b"""LIMIT = 3
name, OTHER = 1, 2
typed: int = 4
first = second = 5
if LIMIT:
    chosen = 1
elif name:
    chosen = 2
else:
    chosen = 3
try:
    import fast
except ImportError:
    fast = None
type Alias = int

@decorated
class Outer(Base):
    FIELD = 1
    @property
    def size(self):
        def inner():
            local = 1
        return inner
    class Inner:
        async def run(self): ...

def free(): ...
"""
    )
    assert defined(symbols) == [
        ("LIMIT", "", "constant", 1),
        ("name", "", "variable", 2),
        ("OTHER", "", "constant", 2),
        ("typed", "", "variable", 3),
        ("first", "", "variable", 4),
        ("second", "", "variable", 4),
        ("chosen", "", "variable", 6),
        ("chosen", "", "variable", 8),
        ("chosen", "", "variable", 10),
        ("fast", "", "variable", 14),
        ("Alias", "", "type", 15),
        ("Outer", "", "type", 18),
        ("FIELD", "Outer", "constant", 19),
        ("size", "Outer", "method", 21),
        ("inner", "Outer.size", "function", 22),
        ("Inner", "Outer", "type", 25),
        ("run", "Outer.Inner", "method", 26),
        ("free", "", "function", 28),
    ]
    outer = symbols.definitions[11]
    assert (outer.first, outer.last) == (18, 26)
    assert [d.enclosing for d in symbols.definitions[12:17]] == [11, 11, 13, 11, 15]


def test_python_references_with_their_receivers():
    symbols = PYTHON.parse(
        b"""import a.b
@wrap.it
class C(Base, mod.Other):
    def f(self, x: Hint, y: mod.Sort, z: list[Part]):
        self.g(a.b.call(1))
        return super().f() + make()[0].go() + 'x'.join(x) + (x
            .later()) + x . spaced()
top()
"""
    )
    assert used(symbols) == [
        ("wrap", "it", "call", 2),
        ("", "Base", "base", 3),
        ("mod", "Other", "base", 3),
        ("", "Hint", "type", 4),
        ("mod", "Sort", "type", 4),
        ("", "list", "type", 4),
        ("", "Part", "type", 4),
        ("self", "g", "call", 5),
        ("a.b", "call", "call", 5),
        ("", "super", "call", 6),
        ("super()", "f", "call", 6),
        ("", "make", "call", 6),
        ("?", "go", "call", 6),
        ("?", "join", "call", 6),
        ("x", "later", "call", 7),
        ("x", "spaced", "call", 7),
        ("", "top", "call", 8),
    ]
    assert [r.enclosing for r in symbols.references][:4] == [NONE, 0, 0, 1]
    assert symbols.references[-1].enclosing == NONE


def test_python_imports_of_every_form():
    symbols = PYTHON.parse(
        b"""import a.b, c as d
from x . y import (p as q,
    r)
from . import s
from ..up.more import *
from __future__ import annotations
def f():
    import local
"""
    )
    assert imported(symbols) == [
        ("a.b", "", "", 1),
        ("c", "", "d", 1),
        ("x.y", "p", "q", 2),
        ("x.y", "r", "", 2),
        (".", "s", "", 4),
        ("..up.more", "*", "", 5),
        ("local", "", "", 8),
    ]


def test_go_definitions_references_and_imports():
    symbols = GO.parse(
        b"""package store
import ("fmt"; x "a.b/c"; . "q/r"; _ "side/effect")
const A, B = 1, 2
var (
\tv1 = 3
\tv2, v3 int
)
type Set[T any] struct { other.Thing; *Part }
type Getter interface { Get(a int) string }
type Same = string
func (s *Set[T]) Do(xs ...Option) (r Result) {
\ts.Get()
\tfmt.
\t\tPrintln(v1)
\tMake[int](3)
\tx.New[int](2)
\treturn Set[int]{}.Do()
}
func (Getter2) No() {}
func main() { type Local struct{}; run() }
"""
    )
    assert text(symbols, symbols.package) == "store"
    assert defined(symbols) == [
        ("A", "", "constant", 3),
        ("B", "", "constant", 3),
        ("v1", "", "variable", 5),
        ("v2", "", "variable", 6),
        ("v3", "", "variable", 6),
        ("Set", "", "type", 8),
        ("Getter", "", "type", 9),
        ("Get", "Getter", "method", 9),
        ("Same", "", "type", 10),
        ("Do", "Set", "method", 11),
        ("No", "Getter2", "method", 19),
        ("main", "", "function", 20),
        ("Local", "main", "type", 20),
    ]
    assert text(symbols, symbols.definitions[9].receiver) == "s"
    assert [row for row in used(symbols) if row[2] == "call"] == [
        ("s", "Get", "call", 12),
        ("fmt", "Println", "call", 14),
        ("", "Make", "call", 15),
        ("x", "New", "call", 16),
        ("?", "Do", "call", 17),
        ("", "run", "call", 20),
    ]
    types = [row[:2] for row in used(symbols) if row[2] == "type"]
    assert {("other", "Thing"), ("", "Part"), ("", "Option"), ("", "Result")} <= set(types)
    assert imported(symbols) == [
        ("fmt", "", "", 2),
        ("a.b/c", "", "x", 2),
        ("q/r", "", ".", 2),
        ("side/effect", "", "_", 2),
    ]


def test_s01_symbols_stand_on_the_line_that_git_names_whatever_the_encoding():
    latin1 = PYTHON.parse(b"def caf\xe9_total(x):\n    return x\n\n\ndef after_bad_byte():\n    return 1\n")
    assert [(name, line) for name, _, _, line in defined(latin1)] == [
        ("caf\ufffd_total", 1),
        ("after_bad_byte", 5),
    ]
    assert not latin1.errors
    cookie = PYTHON.parse(
        b"# -*- coding: latin-1 -*-\nNAME = '\xe9'\n\n\ndef after_cookie():\n    return NAME\n"
    )
    assert [(name, line) for name, _, _, line in defined(cookie)] == [("NAME", 2), ("after_cookie", 5)]
    assert names(PYTHON.parse(b"\xef\xbb\xbfdef first_after_bom():\n    return 1\n")) == ["first_after_bom"]
    assert names(PYTHON.parse(b"")) == names(PYTHON.parse(b"\n")) == []
    returns = PYTHON.parse(b"def one():\r    return 1\r\rdef two():\r    return 2\r")
    assert [line for *_, line in defined(returns)] == [1, 1]


def test_s03_offsets_are_bytes_behind_wide_characters():
    data = (
        "# 日本語 é 😀\ndef plain_name(a):\n    return größe(a)\n\n\ndef größe(b):\n    return b\n".encode()
    )
    symbols = PYTHON.parse(data)

    assert [(name, line) for name, _, _, line in defined(symbols)] == [("plain_name", 2), ("größe", 6)]
    assert data[symbols.definitions[1].place :].startswith("größe(b)".encode())
    assert used(symbols) == [("", "größe", "call", 3)]


class TestS07:
    def test_s07_symbols_behind_an_error_are_found(self):
        broken = PYTHON.parse(
            b"def good_one():\n    return 1\n\n\ndef broken(:\n    return\n\n\n"
            b"class Later:\n    def method_after_error(self):\n        return 2\n"
        )
        assert broken.errors
        assert {"good_one", "Later", "method_after_error"} <= set(names(broken))

    def test_s07_what_the_go_parser_loses_is_recovered_from_its_line(self):
        broken = GO.parse(
            b"package p\n\nfunc Good() int { return 1 }\n\nfunc Bad( { \n\n"
            b"func Later() int { return 2 }\n\ntype After struct {\n}\n"
        )
        assert broken.errors
        assert ("Later", "", "function", 7) in defined(broken)
        assert {"Good", "After"} <= set(names(broken))
        assert len(names(broken)) == len(set(names(broken)))

    def test_s07_a_line_inside_a_sound_string_is_not_recovered(self):
        symbols = PYTHON.parse(b"TEXT = '''\ndef quoted():\n'''\n\ndef broken(:\n    pass\n")
        assert "quoted" not in names(symbols)

    @pytest.mark.parametrize(
        ("source", "last"),
        [
            (
                b"X = " + b"(" * 3000 + b"1" + b")" * 3000 + b"\n\n\ndef after_deep():\n    return 1\n",
                "after_deep",
            ),
            (b"Y = " + b" + ".join([b"1"] * 6000) + b"\n\n\ndef after_sum():\n    return 1\n", "after_sum"),
            (b"f(" * 3000 + b")" * 3000 + b"\ndef after_calls(): ...\n", "after_calls"),
        ],
    )
    def test_s07_deep_and_long_expressions_lose_nothing(self, source, last):
        assert names(PYTHON.parse(source))[-1] == last

    def test_s07_definitions_may_be_nested_deeply(self):
        source = (
            b"".join(b" " * depth + b"def f%d():\n" % depth for depth in range(300)) + b" " * 300 + b"pass\n"
        )
        symbols = PYTHON.parse(source)
        assert names(symbols) == [f"f{depth}" for depth in range(300)]
        assert symbols.definitions[-1].enclosing == 298

    @pytest.mark.parametrize(
        "source",
        [
            b"def f(): g()\n" + b"# filler\n" * 100_000 + b"def last(): ...\n",
            b"def f():\n    g()\n" + b"    # filler\n" * 100_000 + b"    h()\ndef last(): ...\n",
            b"x" + b".a()" * 100_000 + b"\ndef last(): ...\n",
            b"f(" * 50_000 + b")" * 50_000 + b"\ndef last(): ...\n",
            b"def f(:\n" * 30_000 + b"def last(): ...\n",
            b"(" * 200_000 + b"\ndef last(): ...\n",
        ],
        ids=["comments", "indented-comments", "chain", "nested-calls", "errors", "open-brackets"],
    )
    def test_s07_no_source_takes_time_that_grows_with_its_square(self, source):
        begin = time.process_time()
        symbols = PYTHON.parse(source)
        assert time.process_time() - begin < 5
        assert "last" in names(symbols)
        last = symbols.definitions[names(symbols).index("last")]
        assert last.line == source.count(b"\n")

    def test_s07_old_syntax_is_read(self):
        assert names(PYTHON.parse(b"print 'old'\n\n\ndef old_style():\n    exec 'x' in {}\n")) == [
            "old_style"
        ]


def test_s08_names_are_those_that_python_reads():
    symbols = PYTHON.parse("def \ufb01le_size():\n    return 1\n\n\n\u00b5 = 3\n\ufb01le_size()\n".encode())

    assert names(symbols) == ["file_size", "\u03bc"]
    assert used(symbols) == [("", "file_size", "call", 6)]


def test_s08_every_definition_of_a_name_is_kept():
    symbols = PYTHON.parse(
        b"if True:\n    def pick():\n        return 1\nelse:\n    def pick():\n        return 2\n\n\n"
        b"class A:\n    def run(self): ...\nclass B:\n    def run(self): ...\ndef run(): ...\n"
    )
    assert [row[:2] for row in defined(symbols)] == [
        ("pick", ""),
        ("pick", ""),
        ("A", ""),
        ("run", "A"),
        ("B", ""),
        ("run", "B"),
        ("run", ""),
    ]


def test_long_runs_of_comments_change_nothing_around_them():
    def source(lines: int) -> bytes:
        return (
            b"class C:\n    def f(self):\n        a()\n" + b"  # note\n" * lines + b"        b()\n    x = 1\n"
        )

    short, long = PYTHON.parse(source(3)), PYTHON.parse(source(300))
    assert [row[:3] for row in defined(short)] == [row[:3] for row in defined(long)]
    assert [row[:3] for row in used(short)] == [row[:3] for row in used(long)]
    assert [line - 297 for *_, line in used(long)][-1] == used(short)[-1][3]


PIECES = st.sampled_from(
    [
        "def f(x):\n", "class A(B):\n", "    ", "x = g(1)\n", "\n", "'''", "(", ")", "é", "self.h()\n",
        "import a\n", "from . import b\n", "func F() {\n", "}\n", "type T struct {\n", "package p\n",
        "a.b()\n",
    ]
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.lists(st.one_of(PIECES.map(str.encode), st.binary(max_size=4)), max_size=25).map(b"".join))
@pytest.mark.parametrize("grammar", [PYTHON, GO], ids=["python", "go"])
def test_any_bytes_give_rows_that_hold_together(grammar, data):
    data = data.replace(b"\0", b"")
    symbols = grammar.parse(data)

    assert len(set(symbols.texts)) == len(symbols.texts)
    for number, item in enumerate(symbols.definitions):
        assert 0 <= item.start <= item.place < item.end <= len(data)
        assert item.line == data.count(b"\n", 0, item.place) + 1
        assert item.first <= item.line <= item.last
        assert NONE <= item.enclosing < number
        if item.enclosing != NONE and not item.recovered:
            around = symbols.definitions[item.enclosing]
            assert around.start <= item.start < item.end <= around.end
    places = [item.place for item in symbols.references]
    assert places == sorted(set(places))
    assert not {item.place for item in symbols.definitions} & set(places)
    for reference in symbols.references:
        assert reference.line == data.count(b"\n", 0, reference.place) + 1
    read = unpack(memoryview(pack(symbols)))
    assert read.texts == list(symbols.texts)
    for view, rows, width in (
        (read.definitions, symbols.definitions, len(Definition._fields)),
        (read.references, symbols.references, len(Reference._fields)),
        (read.imports, symbols.imports, len(Import._fields)),
    ):
        numbers = view.cast("i").tolist()
        assert [tuple(numbers[i : i + width]) for i in range(0, len(numbers), width)] == [*map(tuple, rows)]


def test_a_grammar_parses_each_file_as_if_it_were_the_only_one():
    first, second = b"def a(): b()\n", b"class C: pass\n"

    assert list(parse_packed(PYTHON, [first, second])) == [
        pack(PYTHON.parse(first)),
        pack(PYTHON.parse(second)),
    ]
