"""Patterns of a few bytes in a row: looked for in all bytes at once, they match where RE2 finds them."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from repairlab.search.exact import ExactSearch, Mode
from repairlab.search.matchers import TextMatcher, regex_matcher
from repairlab.search.results import QueryError
from repairlab.search.shapes import pattern_shape, text_shape

# The last four: a byte that is not UTF-8, a letter beyond ASCII, and two that fold into ASCII.
PIECES = st.sampled_from(
    [b"a", b"ab", b"K", b"s_", b"1", b" ", b"\n", b"\n\n", b"\r\n", b"\x0b", b"\xe9"]
    + [text.encode() for text in ("é", "\u212a", "\u017f")]
)
FILES = st.lists(st.lists(PIECES, max_size=12).map(b"".join), min_size=1, max_size=4)
ATOM = st.sampled_from(
    ["a", "b", "k", "S", " ", "1", "_", "é", r"\.", ".", r"\w", r"\d", r"\s", r"\b", r"\B", "^", "$"]
)
PATTERN = st.builds(
    lambda fold, first, atoms, last: ("(?i)" if fold else "") + first + "".join(atoms) + last,
    st.booleans(),
    st.sampled_from(["", "", "a*", r"\w+", r"\s?", ".*?"]),
    st.lists(ATOM, min_size=1, max_size=3),
    st.sampled_from(["", "", "+", "*", "?", "+?", r"\w*", "$"]),
)  # fmt: skip


def ask(controls, corpus, query: str, mode: Mode, filtered_bytes: int):
    """The ranking and the lines of each file in it."""
    search = ExactSearch(
        corpus, controls.search, controls.view, controls.exact, filtered_bytes=filtered_bytes
    )
    ranking = search.rank(query, mode)
    assert not isinstance(ranking, QueryError)
    return [(file.path, file.matching_lines, search.lines(ranking, file)) for file in ranking.files]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(FILES, PATTERN)
@example([b"", b"\n", b"a\n\na", b"a"], ".")
@example([b"k", "\u212a".encode()], "(?i)k")
@example([b"1\xe2\x84\xaa\n1a\n1k\n"], r"(?i)1\w")
@example([b"ab", b"ab"], r"^a\w+$")
@example([b"1a", b"b"], r"a\B")
@example([b"a.a.", b"a"], "a.a")
def test_a_shape_matches_where_the_engine_does(memory_corpus, controls, files, pattern):
    assume(pattern.strip() and pattern_shape(pattern) is not None)
    matcher = regex_matcher(pattern, controls.exact.instructions)
    assume(not isinstance(matcher, QueryError))
    # Many lines, so that those of one file are looked for at once too.
    corpus = memory_corpus(
        {f"{n}-{many}.py": data * many for n, data in enumerate(files) for many in (1, 60)}
    )
    expected = {
        file.path: tuple(corpus.line_of(n, start) for start in matcher.starts(corpus.data(n)))
        for n, file in enumerate(corpus.files)
    }

    found = ask(controls, corpus, pattern, Mode.REGEX, 0)

    assert {path: lines for path, _, lines in found} == {p: lines for p, lines in expected.items() if lines}
    assert all(count == len(lines) for _, count, lines in found)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.lists(PIECES, max_size=12).map(b"".join), min_size=1, max_size=3),
    st.text("aKb_ 1é\u212a", min_size=1, max_size=3).filter(str.strip),
    st.sampled_from([Mode.LITERAL, Mode.SUBSTRING]),
)
@example([b"a", "éa".encode(), b"\xe9a"], "a", Mode.LITERAL)
def test_the_shape_of_a_text_matches_where_the_text_does(memory_corpus, controls, files, text, mode):
    corpus = memory_corpus({f"{n}.py": data * 60 for n, data in enumerate(files)})
    matcher = TextMatcher(text, whole=mode is Mode.LITERAL)
    expected = {
        file.path: tuple(corpus.line_of(n, start) for start in matcher.starts(corpus.data(n)))
        for n, file in enumerate(corpus.files)
    }

    found = ask(controls, corpus, text, mode, 0)

    assert {path: lines for path, _, lines in found} == {p: lines for p, lines in expected.items() if lines}
    assert found == ask(controls, corpus, text, mode, 2**40)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(FILES, st.sampled_from([r"a\w*\(|ab", "a.*b", "(a|s) ?K", "[ab]b", "(?i)[k]a", "a.*", r"ab\W"]))
def test_lines_looked_at_alone_are_those_of_a_whole_scan(memory_corpus, controls, files, pattern):
    corpus = memory_corpus({f"{n}.py": data * 60 for n, data in enumerate(files)})
    matcher = regex_matcher(pattern, controls.exact.instructions)

    for path, count, lines in ask(controls, corpus, pattern, Mode.REGEX, 0):
        number = corpus.id_of(path)
        starts = [corpus.line_of(number, start) for start in matcher.starts(corpus.data(number))]
        assert (count, lines) == (len(starts), tuple(starts))
    assert ask(controls, corpus, pattern, Mode.REGEX, 0) == ask(controls, corpus, pattern, Mode.REGEX, 2**40)


@pytest.mark.parametrize(
    ("pattern", "same"),
    [(r"\w+ = \w+", r"\w = \w"), (r"x*ab?", "a"), (r"\s*?def \w+?", r"def \w"), (r"\.+", r"\.")],
)
def test_a_repetition_at_an_end_counts_by_its_least_number(pattern: str, same: str):
    assert pattern_shape(pattern) == pattern_shape(same) is not None


NO_SHAPE = r"a* ^ \b \w+ a+b+c a|b (a) [ab]c a{2} \x61 \W \Aa a\z ^*a \pL (?i)é (?-i)a \w\d (?m)a a\nb"


@pytest.mark.parametrize("pattern", NO_SHAPE.split())
def test_what_is_not_understood_has_no_shape(pattern: str):
    assert pattern_shape(pattern) is None


@pytest.mark.parametrize("pattern", [".", "a.b", "(?i)k", "(?i)asK", r"(?i)a\w"])
def test_what_may_match_outside_ascii_tells_only_about_ascii(pattern: str):
    shape = pattern_shape(pattern)
    assert shape is not None
    assert shape.ascii_alone


def test_a_text_outside_ascii_has_a_shape_unless_it_must_stand_alone():
    assert text_shape("né".encode(), alone_before=True, alone_behind=True) is None
    assert text_shape("né".encode(), alone_before=False, alone_behind=False) is not None
