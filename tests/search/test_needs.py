from __future__ import annotations

import pytest

from repairlab.search.needs import All, Anything, Need, Some, Text, candidates
from repairlab.search.syntax import read_syntax


def texts(need: Need) -> object:
    """A need in short: bytes, lists for all of them, sets of reprs for some of them, None for anything."""
    match need:
        case Anything():
            return None
        case Text(text):
            return text
        case All(needs):
            found = [short for part in needs if (short := texts(part)) is not None]
            return found[0] if len(found) == 1 else found
        case Some(needs):
            return {repr(texts(part)) for part in needs}


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("foo", b"foo"),
        (r"foo\(bar\)", b"foo(bar)"),
        (r"def \w+_linear\(", [b"def ", b"_linear("]),
        ("colou?r", [b"colo", b"r"]),
        ("ab+c", [b"ab", b"c"]),
        ("ab*c", [b"a", b"c"]),
        ("ab{0,3}c", [b"a", b"c"]),
        ("ab{2}c", [b"ab", b"c"]),
        ("ab{0}c", [b"a", b"c"]),
        ("a{,3}b", b"a{,3}b"),
        ("a{x}", b"a{x}"),
        ("(?:foo)?bar", b"bar"),
        ("(foo)+bar", [b"foo", b"bar"]),
        ("(?P<n>foo)bar", [b"foo", b"bar"]),
        ("(?<n>foo)bar", [b"foo", b"bar"]),
        ("foo|bar", {"b'foo'", "b'bar'"}),
        ("foo|", {"b'foo'", "[]"}),
        ("x(foo|bar)y", [b"x", {"b'foo'", "b'bar'"}, b"y"]),
        ("[abc]foo[]x]bar[^]y]", [b"foo", b"bar"]),
        ("[[:alpha:]]foo[[:^digit:]x]", b"foo"),
        (r"[\]]foo", b"foo"),
        ("[[:]foo", b"foo"),
        (r"\pLfoo\p{Greek}bar\PZ", [b"foo", b"bar"]),
        (r"\x66oo\x{62}ar", b"foobar"),
        (r"\146oo", b"foo"),
        (r"\bfoo\b", b"foo"),
        ("^foo$", b"foo"),
        ("größe", "größe".encode()),
        ("(?i)foo", None),
        ("foo(?i:bar)", None),
        ("(?s)foo", b"foo"),
        ("x*", []),
        (r"a\.b", b"a.b"),
        ("fo??o", [b"f", b"o"]),
    ],
)
def test_what_every_match_holds(pattern, expected):
    syntax = read_syntax(pattern)

    assert syntax.refusal == ""
    assert texts(syntax.need) == expected


@pytest.fixture
def words(memory_corpus):
    return memory_corpus(
        {
            "0.py": b"def solve_linear(x): pass",
            "1.py": b"from m import linear_algebra",
            "2.py": "nonlinear = größe".encode(),
            "3.py": b"x",
        }
    ).words


@pytest.mark.parametrize(
    ("need", "expected"),
    [
        (Text(b"linear"), {0, 1, 2}),
        (Text(b" linear"), {1}),
        (Text(b"linear "), {0, 2}),
        (Text(b"linear("), {0, 2}),
        (Text(b"linear", starts_word=True), {1}),
        (Text(b"linear", ends_word=True), {0, 2}),
        (Text(b"linear", starts_word=True, ends_word=True), set()),
        (Text(b"def solve_linear"), {0}),
        (Text("größe".encode()), None),
        (Text(b"x", starts_word=True, ends_word=True), {0, 3}),
        (Text(b"x"), None),
        (Text(b"=="), None),
        (All((Text(b"linear"), Text(b"import"))), {1}),
        (All((Text(b"linear"), Anything())), {0, 1, 2}),
        (All(()), None),
        (Some((Text(b"solve"), Text(b"nonlinear"))), {0, 2}),
        (Some((Text(b"solve"), Anything())), None),
    ],
)
def test_the_word_index_names_the_files_that_can_match(words, need, expected):
    found = candidates(need, words)

    assert found == (None if expected is None else frozenset(expected))


def test_words_that_too_many_words_hold_exclude_nothing(memory_corpus):
    many = b" ".join(b"word%d" % number for number in range(3000))
    words = memory_corpus({"a.py": many, "b.py": b"other"}).words

    assert words.files_with(b"word", starts_word=False, ends_word=False) is None
    assert words.files_with(b"word7", starts_word=True, ends_word=True) == {0}
    assert words.files_with(b"other", starts_word=False, ends_word=False) == {1}


def test_a_word_that_holds_a_run_twice_is_counted_once(memory_corpus):
    words = memory_corpus({"a.py": b"ababab xx", "b.py": b"xab"}).words

    assert words.files_with(b"ab", starts_word=False, ends_word=False) == {0, 1}
    assert words.files_with(b"ab", starts_word=True, ends_word=False) == {0}


def test_neighbours_in_the_vocabulary_are_both_found(memory_corpus):
    words = memory_corpus({"a.py": b"abc", "b.py": b"abd", "c.py": b"zab"}).words

    assert words.files_with(b"ab", starts_word=True, ends_word=False) == {0, 1}


@pytest.mark.parametrize("many", [3, 63, 64, 65, 700, 1999, 2000])
@pytest.mark.parametrize(("starts", "ends"), [(False, False), (True, False), (False, True), (True, True)])
def test_files_are_found_by_their_words_however_many_fit(memory_corpus, many: int, starts: bool, ends: bool):
    words = [b"%snub%s" % (b"" if starts else b"%d" % n, b"" if ends else b"%d" % n) for n in range(many)]
    files = {f"{n:04}.py": b" ".join(words[n::50]) for n in range(min(many, 50))} | {"none.py": b"nuub"}
    corpus = memory_corpus(files)
    distinct = len(set(words))

    found = corpus.words.files_with(b"nub", starts_word=starts, ends_word=ends)

    assert found == (frozenset(range(min(many, 50))) if distinct < 2000 else None)
