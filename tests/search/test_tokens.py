from __future__ import annotations

import unicodedata
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repairlab.search.tokens import MOST_CHARACTERS, Tokenizer, normal, query_fault, word_tokens

TEXTS = st.text(alphabet="abzABZ019_ .\n-\u00e9\u00c9\u00df\u00b5\ufb01\u0130\u0660\u65e5", max_size=60)


@pytest.mark.parametrize(
    ("word", "tokens"),
    [
        ("name", ("name",)),
        ("Name", ("name",)),
        ("parseHTTPHeader_v2", ("parsehttpheader_v2", "parse", "http", "header", "v2")),
        ("snake_case_name", ("snake_case_name", "snake", "case", "name")),
        ("__init__", ("__init__", "init")),
        ("HTTPServer", ("httpserver", "http", "server")),
        ("getHTTP2Stream", ("gethttp2stream", "get", "http2", "stream")),
        ("base64", ("base64",)),
        ("MAX_SIZE", ("max_size", "max", "size")),
        ("IOError", ("ioerror", "io", "error")),
        ("x", ("x",)),
        ("1234", ("1234",)),
        ("2nd", ("2nd", "2", "nd")),
        ("_", ("_",)),
        ("foo_foo", ("foo_foo", "foo", "foo")),
        ("größeÄndern", ("grösseändern", "grösse", "ändern")),
        ("日本語", ("日本語",)),
    ],
)
def test_a_word_gives_its_whole_form_and_its_parts(word, tokens):
    assert word_tokens(word) == tokens


def test_s08_a_ligature_and_a_micro_sign_are_what_python_reads():
    tokenizer = Tokenizer()

    assert tokenizer.tokens("def ﬁle_size(): µ") == tokenizer.tokens("def file_size(): μ")
    assert tokenizer.tokens(unicodedata.normalize("NFD", "é")) == ["é"]


@given(TEXTS)
def test_frequencies_count_tokens_in_the_order_of_their_first_place(text):
    tokens = Tokenizer().tokens(text)

    assert Tokenizer().frequencies(text) == Counter(tokens)
    assert list(Tokenizer().frequencies(text)) == list(dict.fromkeys(tokens))


@given(TEXTS, TEXTS)
def test_what_a_tokenizer_has_seen_changes_no_answer(first, second):
    used = Tokenizer()
    used.frequencies(first)

    assert used.tokens(second) == Tokenizer().tokens(second)


@given(st.text())
def test_lines_are_the_same_before_and_after_normalising(text):
    assert normal(text).count("\n") == text.count("\n")


def test_a_huge_word_is_read_up_to_its_limit():
    assert word_tokens("a" * 10_000) == ("a" * MOST_CHARACTERS,)
    assert word_tokens("a_" * 10_000)[0] == "a_" * (MOST_CHARACTERS // 2)


@pytest.mark.parametrize("query", ["", " \t\n", "x" * 51, "a\0b", "a\ud800"])
def test_s06_a_query_that_no_text_can_match_is_refused_with_the_reason(query):
    assert query_fault(query, 50)


def test_any_other_query_is_fine():
    assert query_fault("x" * 50, 50) == ""
    assert query_fault("--files-with-matches $$", 50) == ""
