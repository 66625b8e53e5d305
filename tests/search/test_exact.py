from __future__ import annotations

import re
import time

import pytest
import re2
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from repairlab.search.exact import ExactResult, Mode
from repairlab.search.results import QueryError

MANY = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

# Small alphabets, so that texts and queries meet. The last three: a letter beyond ASCII, a mark that is no
# letter, and a byte that is not UTF-8.
PIECES = st.sampled_from(
    [b"a", b"b", b"ab_", b"(", b" ", b"\n", b"\r\n", "é".encode(), "…".encode(), b"\xe9"]
)
DATA = st.lists(PIECES, max_size=14).map(b"".join)
FILES = st.dictionaries(st.sampled_from(["a.py", "b.py", "c/d.py", "é.py"]), DATA, max_size=4)
QUERY = st.text("ab_( é…", min_size=1, max_size=4).filter(lambda query: not query.isspace())


def naive_lines(data: bytes) -> list[bytes]:
    pieces = data.split(b"\n")
    return pieces[:-1] if pieces[-1] == b"" else pieces


def line_sets(search, query: str, mode: Mode) -> dict[str, tuple[int, ...]]:
    ranking = search.rank(query, mode)
    assert not isinstance(ranking, QueryError), ranking
    return {file.path: search.lines(ranking, file) for file in ranking.files}


def naive(files, matches) -> dict[str, tuple[int, ...]]:
    found = {
        path: tuple(n for n, line in enumerate(naive_lines(data), start=1) if matches(line))
        for path, data in files.items()
    }
    return {path: lines for path, lines in found.items() if lines}


def stands_alone(query: str, line: bytes) -> bool:
    """The literal rule, on decoded text: a byte that is no text counts as a letter."""

    def letter(text: str) -> bool:
        return text == "\ufffd" or (text != "" and ("a" + text).isidentifier())

    text = line.decode("utf-8", "replace")
    for place in range(len(text)):
        if text.startswith(query, place):
            before, behind = text[max(0, place - 1) : place], text[place + len(query) :][:1]
            if not (letter(query[0]) and letter(before)) and not (letter(query[-1]) and letter(behind)):
                return True
    return False


@MANY
@given(FILES, QUERY)
def test_substrings_are_found_on_the_lines_of_a_naive_scan(memory_corpus, exact, files, query):
    search = exact(memory_corpus(files))

    assert line_sets(search, query, Mode.SUBSTRING) == naive(files, lambda line: query.encode() in line)


@MANY
@given(FILES, QUERY)
def test_literals_are_found_where_they_stand_alone(memory_corpus, exact, files, query):
    search = exact(memory_corpus(files))

    assert line_sets(search, query, Mode.LITERAL) == naive(files, lambda line: stands_alone(query, line))


ATOM = st.sampled_from(
    [
        "a",
        "b",
        "_",
        "é",
        "…",
        r"\(",
        ".",
        r"\w",
        r"\W",
        r"\s",
        r"\b",
        "[ab]",
        "[^a]",
        "^",
        "$",
        "(?:ab)",
        "(a|_)",
    ]
)
REPEATED = st.tuples(ATOM, st.sampled_from(["", "", "", "*", "+", "?", "{2}", "{0,1}", "{2,}", "*?"])).map(
    "".join
)
SEQUENCE = st.lists(REPEATED, min_size=1, max_size=4).map("".join)
PATTERN = st.recursive(
    SEQUENCE,
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=3).map(lambda branches: f"({'|'.join(branches)})"),
        st.tuples(inner, inner).map("".join),
        inner.map(lambda pattern: f"(?:{pattern})?"),
        inner.map(lambda pattern: f"(?i){pattern}"),
    ),
    max_leaves=4,
)


def naive_regex(query: str):
    """Each line searched alone: no line can see another."""
    options = re2.Options()
    options.log_errors = False
    pattern = re2.compile(f"(?m){query}", options)
    return lambda line: pattern.search(line) is not None


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(FILES, PATTERN)
def test_regular_expressions_are_found_on_the_lines_of_a_naive_scan(memory_corpus, exact, files, query):
    search = exact(memory_corpus(files))

    assert line_sets(search, query, Mode.REGEX) == naive(files, naive_regex(query))


@pytest.mark.parametrize(
    "query",
    [
        r"a\sb",
        r"a\Wb",
        r"a[^x]b",
        r"(?s)a.b",
        r"a\Db",
        r"a[\n]b",
        r"a[[:space:]]b",
        r"a\s*b",
        r"a\PLb",
        r"a(?s:.*)b",
    ],
)
def test_a_match_never_spans_lines(memory_corpus, exact, query):
    assert line_sets(exact(memory_corpus({"a.py": b"a\nb\n"})), query, Mode.REGEX) == {}


@pytest.mark.parametrize(
    "query", ["def\n", r"def\n", r"a\x0ab", r"a\x{0a}b", r"a\12b", "(?:x|\n)", r"(a\n)?b", "def\\\n"]
)
def test_s06_a_line_feed_in_the_pattern_is_refused_with_the_reason(memory_corpus, exact, query):
    answer = exact(memory_corpus({"a.py": b"def\n"})).find(query, Mode.REGEX)

    assert isinstance(answer, QueryError)
    assert "spans lines" in answer.reason


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("foo(", "missing )"),
        ("*abc", "no argument for repetition operator"),
        ("a)(b", "unexpected )"),
        ("(?=x)", "look-ahead"),
        ("(?!x)", "negative look-ahead"),
        ("(?<=x)y", "look-behind"),
        ("(?<!x)y", "look-behind"),
        (r"(a)\1", "back-references"),
        (r"(?<name>x)\K\w++", "invalid escape sequence"),
        (r"\w++", "possessive"),
        ("a{1,65536}{1,65536}", "invalid repetition size"),
        (r"a\Cb", r"\C"),
        (r"\Qa(", r"\Q"),
        ("(" * 60 + "a" + ")" * 60, "nested"),
        (r"\pL{1,900}x", "too large"),
        ("[z-a]", "invalid character class range"),
    ],
)
def test_s06_a_pattern_that_cannot_be_searched_for_is_told_why(memory_corpus, exact, query, words):
    answer = exact(memory_corpus({"a.py": b"x = 1\n"})).find(query, Mode.REGEX)

    assert isinstance(answer, QueryError)
    assert words in answer.reason


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("query", ["", "   \t ", "a\0b", "a\ud800", "word " * 20000])
def test_s06_queries_without_a_meaning_are_refused_in_every_mode(memory_corpus, exact, mode, query):
    assert isinstance(exact(memory_corpus({"a.py": b"  a = 1\n"})).find(query, mode), QueryError)


@pytest.mark.parametrize("mode", [Mode.LITERAL, Mode.SUBSTRING])
def test_s06_a_literal_of_two_lines_is_refused(memory_corpus, exact, mode):
    answer = exact(memory_corpus({"a.py": b"a\nb\n"})).find("a\nb", mode)

    assert isinstance(answer, QueryError)
    assert "one line" in answer.reason


def test_s06_a_pattern_that_looks_like_an_option_is_a_pattern(memory_corpus, exact):
    search = exact(memory_corpus({"a.py": b"x\ny --files-with-matches\n"}))

    for mode in Mode:
        assert line_sets(search, "--files-with-matches", mode) == {"a.py": (2,)}


@pytest.mark.parametrize(
    ("query", "expected"), [("x*", (1, 2, 3)), (".", (1, 3)), ("^$", (2,)), ("$", (1, 2, 3))]
)
def test_s06_patterns_that_match_nothing_or_everything_give_each_line_once(
    memory_corpus, exact, query, expected
):
    for data in (b"xx y\n\nz\n", b"xx y\n\nz"):
        assert line_sets(exact(memory_corpus({"a.py": data})), query, Mode.REGEX) == {"a.py": expected}
    assert line_sets(exact(memory_corpus({"empty.py": b""})), query, Mode.REGEX) == {}


@pytest.mark.parametrize(
    "query", ["(a+)+$", "(a|aa)+$", "(a|a?)+b", "(.*)*x", "(x+x+)+y", "a.{0,120}b[^c]{0,40}d"]
)
def test_s06_catastrophic_patterns_take_linear_time(memory_corpus, exact, query):
    search = exact(memory_corpus({"a.py": (b"a" * 40 + b"!\n") * 5000}))
    begin = time.process_time()
    answer = search.find(query, Mode.REGEX)

    # A backtracking engine needs 2**40 steps for one of these lines.
    assert time.process_time() - begin < 10
    assert isinstance(answer, ExactResult)


def test_s06_the_largest_accepted_pattern_is_bounded(memory_corpus, exact, controls):
    search = exact(memory_corpus({"a.py": b"x"}))

    assert isinstance(search.find(f"a{{0,{500}}}", Mode.REGEX), ExactResult)
    answer = search.find("[^a]{0,1000}", Mode.REGEX)
    assert isinstance(answer, QueryError)
    assert str(controls.exact.instructions) in answer.reason


def test_s01_names_in_every_encoding_are_found_on_the_line_git_names(git_corpus, exact):
    files = {
        "bom.py": b"\xef\xbb\xbfdef first_after_bom():\n    return 1\n",
        "cookie.py": b"# coding: latin-1\nNAME = '\xe9t\xe9'\n\n\ndef after_cookie():\n    return NAME\n",
        "cr_only.py": b"def one():\r    return 1\r\rdef two():\r    return 2\r",
        "crlf.py": b"a = 1\r\nafter_crlf = 2\r\n",
        "latin1.py": b"def caf\xe9_total(x):\n    return x\n\n\ndef after_bad_byte():\n    return 1\n",
        "no_end.py": b"x = 1\nlast_line = 2",
    }
    search = exact(git_corpus(files))

    for mode in Mode:
        assert line_sets(search, "first_after_bom", mode) == {"bom.py": (1,)}
        assert line_sets(search, "after_cookie", mode) == {"cookie.py": (5,)}
        assert line_sets(search, "after_bad_byte", mode) == {"latin1.py": (5,)}
        assert line_sets(search, "after_crlf", mode) == {"crlf.py": (2,)}
        assert line_sets(search, "two", mode) == {"cr_only.py": (1,)}
        assert line_sets(search, "last_line", mode) == {"no_end.py": (2,)}
    # What stands beside a byte that is not UTF-8 is a part of a name, not a name.
    assert line_sets(search, "_total", Mode.LITERAL) == {}
    assert line_sets(search, "_total", Mode.SUBSTRING) == {"latin1.py": (1,)}
    assert line_sets(search, "return 1$", Mode.REGEX) == {"bom.py": (2,), "latin1.py": (6,)}


def test_s03_a_name_after_wide_characters_is_found_whole(git_corpus, exact):
    text = "# 日本語 café 😀\ndef plain_name(a):\n    return a\n\n\ndef größe(b):\n    return b\n"
    search = exact(git_corpus({"wide.py": text.encode()}))

    assert line_sets(search, "plain_name", Mode.LITERAL) == {"wide.py": (2,)}
    assert line_sets(search, "größe", Mode.LITERAL) == {"wide.py": (6,)}
    assert line_sets(search, "gr", Mode.LITERAL) == {}
    assert line_sets(search, "e", Mode.LITERAL) == {}
    assert line_sets(search, "日本", Mode.LITERAL) == {}
    assert line_sets(search, "日本", Mode.SUBSTRING) == {"wide.py": (1,)}
    assert line_sets(search, "gr..e", Mode.REGEX) == {"wide.py": (6,)}
    assert line_sets(search, "(?i)GRÖSSE|GRÖßE", Mode.REGEX) == {"wide.py": (6,)}


def test_s04_hits_of_a_very_long_line_are_counted_and_cut(git_corpus, exact, controls):
    cut = controls.view.line_characters
    data = b"DATA = [" + b"needle_zero, " * 20000 + b"]\nx = 1\nneedle_zero = 2\n"
    answer = exact(git_corpus({"one_line.py": data})).find("needle_zero", Mode.LITERAL)

    assert (answer.matching_files, answer.matching_lines) == (1, 2)
    (hit,) = answer.hits
    assert hit.matching_lines == (1, 3)
    assert hit.lines[0] == data[:cut].decode() + f" [cut: {260009 - cut} characters]"
    assert hit.lines[1:] == ("x = 1", "needle_zero = 2")


def test_s08_paths_with_hostile_names_are_ranked_by_their_bytes(git_corpus, exact):
    names = [b"-rf.py", b"Mod.py", b"mod.py", b"n\n.py", "é.py".encode(), b"\xff.py"]
    answer = exact(git_corpus(dict.fromkeys(names, b"same = 1\n"))).find("same", Mode.LITERAL)

    assert [hit.path.encode("utf-8", "surrogateescape") for hit in answer.hits] == sorted(names)[:5]
    assert answer.matching_files == 6


def test_files_rank_by_matching_lines_then_by_path(git_corpus, exact, controls):
    files = {f"f{number}.py": b"hit = 0\n" * (number % 4) + b"hit hit hit\n" for number in range(8)}
    answer = exact(git_corpus(files)).find("hit", Mode.LITERAL)

    assert [hit.path for hit in answer.hits] == ["f3.py", "f7.py", "f2.py", "f6.py", "f1.py"]
    assert [hit.rank for hit in answer.hits] == [1, 2, 3, 4, 5]
    assert [hit.components for hit in answer.hits] == [{"exact": rank} for rank in range(1, 6)]
    assert len(answer.hits) == controls.search.files
    assert (answer.matching_files, answer.matching_lines) == (8, 20)


def test_a_snippet_shows_the_densest_lines_with_their_surroundings(git_corpus, exact, controls):
    lines = [b"line %d" % number for number in range(1, 101)]
    for number in (3, 50, 52, 60):
        lines[number - 1] += b" needle"
    (hit,) = exact(git_corpus({"a.py": b"\n".join(lines)})).find("needle", Mode.LITERAL).hits

    assert len(hit.lines) == controls.search.snippet_lines
    assert (hit.start_line, hit.matching_lines) == (44, (50, 52, 60))
    assert hit.lines[0] == "line 44"


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("value", (1, 4)),
        ("value(", (4,)),
        (".value", (1,)),
        ("my_value", (2,)),
        ("valu", ()),
        ("= 1", (1, 2)),
    ],
)
def test_a_literal_is_bounded_only_where_its_own_edge_is_an_identifier(memory_corpus, exact, query, found):
    data = b"self.value = 1\nmy_value = 1\nvalues = 2\nvalue(value2)\n"
    expected = {"a.py": found} if found else {}

    assert line_sets(exact(memory_corpus({"a.py": data})), query, Mode.LITERAL) == expected


def test_a_second_occurrence_counts_where_the_first_is_part_of_a_word(memory_corpus, exact):
    search = exact(memory_corpus({"a.py": b"xfoo foo\nfoofoo\naaa aa\n"}))

    assert line_sets(search, "foo", Mode.LITERAL) == {"a.py": (1,)}
    assert line_sets(search, "aa", Mode.LITERAL) == {"a.py": (3,)}


def test_a_search_is_case_sensitive_unless_a_pattern_says_otherwise(memory_corpus, exact):
    search = exact(memory_corpus({"a.py": b"Needle\nneedle\n"}))

    assert line_sets(search, "needle", Mode.LITERAL) == {"a.py": (2,)}
    assert line_sets(search, "needle", Mode.SUBSTRING) == {"a.py": (2,)}
    assert line_sets(search, "needle", Mode.REGEX) == {"a.py": (2,)}
    assert line_sets(search, "(?i)needle", Mode.REGEX) == {"a.py": (1, 2)}


def test_perl_classes_go_by_ascii_and_dot_by_characters(memory_corpus, exact):
    search = exact(memory_corpus({"a.py": "größe\n".encode() + b"gr\xf6e\n"}))

    assert line_sets(search, r"^\w+$", Mode.REGEX) == {}
    assert line_sets(search, r"^gr.", Mode.REGEX) == {"a.py": (1,)}
    assert line_sets(search, r"^\p{L}+$", Mode.REGEX) == {"a.py": (1,)}


def test_an_absolute_anchor_means_the_ends_of_the_file(memory_corpus, exact):
    search = exact(memory_corpus({"a.py": b"x\nx\nx", "b.py": b"x\n"}))

    assert line_sets(search, r"\Ax", Mode.REGEX) == {"a.py": (1,), "b.py": (1,)}
    assert line_sets(search, r"x\z", Mode.REGEX) == {"a.py": (3,)}


def test_an_empty_corpus_gives_an_empty_answer(memory_corpus, exact):
    search = exact(memory_corpus({}))

    for mode in Mode:
        assert search.find("anything", mode) == ExactResult((), 0, 0)


def test_a_search_leaves_nothing_behind_that_changes_the_next(memory_corpus, exact):
    search = exact(memory_corpus({"a.py": b"alpha\nbeta\n", "b.py": b"beta\n"}))
    first = search.find("beta", Mode.REGEX)
    search.find("(?i)ALPHA|b.*", Mode.REGEX)

    assert search.find("beta", Mode.REGEX) == first


def test_the_naive_scan_of_these_tests_can_fail():
    assert naive({"a.py": b"a\nb"}, lambda line: re.search(b"b", line) is not None) == {"a.py": (2,)}


def test_s06_a_pattern_that_takes_too_many_steps_is_refused_unless_a_word_narrows_it(memory_corpus, exact):
    files = {f"f{number}.py": b"a" * 2**20 for number in range(13)}
    search = exact(memory_corpus({**files, "small.py": b"needle aaa"}))
    costly = ".{0,400}b"

    answer = search.find(costly, Mode.REGEX)
    assert isinstance(answer, QueryError)
    assert "too many steps" in answer.reason
    assert search.find(f"needle{costly}", Mode.REGEX) == ExactResult((), 0, 0)
    assert search.find("needle.{0,400}a", Mode.REGEX).matching_files == 1
