import hashlib
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repairlab.contract.errors import BadInput
from repairlab.search.cache import Cache
from repairlab.search.chunks import ChunkRules, CorpusChunks, chunk_text, cut, distinct_digests


@pytest.fixture
def frozen(controls):
    return ChunkRules.of(controls.dense)


def spans(data: bytes, rules: ChunkRules) -> list[tuple[int, int]]:
    return [(place.start, place.end) for place, _ in cut(data, rules)]


def test_the_frozen_rules_are_the_contract_s(frozen):
    assert frozen == ChunkRules(120, 20, 16_000)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (0, []),
        (1, [(1, 1)]),
        (120, [(1, 120)]),
        (121, [(1, 120), (101, 121)]),
        (220, [(1, 120), (101, 220)]),
        (221, [(1, 120), (101, 220), (201, 221)]),
    ],
)
def test_windows_of_120_lines_overlap_by_20(frozen, lines, expected):
    assert spans(b"x\n" * lines, frozen) == expected


def test_a_last_line_without_newline_counts(frozen):
    assert spans(b"x\n" * 120 + b"y", frozen) == [(1, 120), (101, 121)]


def test_the_text_is_that_of_the_lines_and_the_digest_that_of_the_text(frozen):
    data = "".join(f"line {n} ä\n" for n in range(1, 131)).encode()
    (first, text), (second, _) = cut(data, frozen)
    assert text == "\n".join(f"line {n} ä" for n in range(1, 121))
    assert first.digest == hashlib.sha256(text.encode()).hexdigest()
    assert second.start == 101
    assert chunk_text(data, second, frozen) == "\n".join(f"line {n} ä" for n in range(101, 131))


def test_the_cap_counts_characters_and_not_bytes():
    rules = ChunkRules(4, 1, 10)
    # Two lines of five characters are eleven with the line feed between them; of four, nine.
    assert spans("äääää\näääää\n".encode(), rules) == [(1, 1), (2, 2)]
    assert spans("ääää\nääää\n".encode(), rules) == [(1, 2)]


def test_a_chunk_over_the_cap_ends_with_its_last_whole_line_and_no_line_is_lost(frozen):
    data = b"".join(b"%04d %s\n" % (n, b"z" * 795) for n in range(100))
    texts = [text for _, text in cut(data, frozen)]
    assert all(len(text) <= 16_000 for text in texts)
    shown = {line for text in texts for line in text.split("\n")}
    assert shown == set(data.decode().split("\n")) - {""}


def test_a_shorter_chunk_overlaps_in_proportion_so_that_long_lines_do_not_multiply(frozen):
    data = (b"z" * 799 + b"\n") * 1000
    # 20 lines fit; they share 20 * 20 // 120 = 3 with the next chunk, not all of them.
    assert spans(data, frozen)[:3] == [(1, 20), (18, 37), (35, 54)]


def test_a_chunk_that_would_add_no_line_to_the_one_before_it_is_not_made():
    # Line 2 stands in the first chunk and does not fit together with line 3: nothing is shared.
    assert spans(b"\na\na", ChunkRules(2, 1, 2)) == [(1, 2), (3, 3)]
    assert spans(b"a\nb\nccc\n", ChunkRules(3, 2, 5)) == [(1, 2), (2, 3)]


def test_s04_a_line_too_long_by_itself_is_a_chunk_cut_at_the_cap(frozen):
    chunks = list(cut(b"a\n" + b"x" * 260_000 + b"\nlast\n", frozen))
    assert [(place.start, place.end, len(text)) for place, text in chunks] == [
        (1, 1, 1),
        (2, 2, 16_000),
        (3, 3, 4),
    ]


def test_a_chunk_of_white_space_is_left_out_but_not_what_is_behind_it(frozen):
    assert spans(b"\n" * 120, frozen) == []
    assert spans(b"\n", frozen) == []
    assert spans(b" \n" * 250 + b"x\n", frozen) == [(201, 251)]


def test_s01_bytes_that_are_not_utf8_become_replacement_characters(frozen):
    ((_, text),) = cut(b"caf\xe9 = 1\r\n", frozen)
    assert text == "caf\ufffd = 1\r"


@pytest.mark.parametrize(("lines", "overlap", "characters"), [(20, 20, 100), (20, -1, 100), (20, 5, 0)])
def test_rules_that_could_not_advance_are_refused(lines, overlap, characters):
    with pytest.raises(BadInput, match="cannot overlap"):
        ChunkRules(lines, overlap, characters)


some_rules = st.integers(1, 8).flatmap(
    lambda lines: st.builds(ChunkRules, st.just(lines), st.integers(0, lines - 1), st.integers(1, 40))
)
some_data = st.lists(st.text("ab \r\u2028ä", max_size=12), max_size=40).map(lambda ls: "\n".join(ls).encode())


@given(data=some_data | st.binary(max_size=200), rules=some_rules)
def test_every_visible_line_is_in_a_chunk_and_no_limit_is_passed(data, rules):
    chunks = list(cut(data, rules))
    lines = data.decode("utf-8", "replace").split("\n")
    covered = {number for place, _ in chunks for number in range(place.start, place.end + 1)}
    for number, line in enumerate(lines, start=1):
        # The part behind the cap of a line too long by itself is in no chunk; it may be all that is visible.
        assert number in covered or not line[: rules.characters].strip()
    for place, text in chunks:
        assert 1 <= place.start <= place.end <= len(lines)
        assert place.end - place.start < rules.lines
        assert 0 < len(text) <= rules.characters
        assert text == "\n".join(lines[place.start - 1 : place.end])[: rules.characters]
    assert all(a.start < b.start and a.end < b.end for (a, _), (b, _) in pairwise(chunks))


@given(data=some_data, rules=some_rules)
def test_each_chunk_text_can_be_read_alone(data, rules):
    assert all(chunk_text(data, place, rules) == text for place, text in cut(data, rules))


def test_the_chunks_of_a_corpus_stand_in_the_order_of_every_tie(memory_corpus, frozen, tmp_path):
    long = b"x = 1\n" * 130
    corpus = memory_corpus({"b.py": long, "a.py": b"y\n", "a/z.py": long, "Z.py": b"y\n"})
    chunks = CorpusChunks(corpus, frozen, Cache(tmp_path))
    where = [(corpus.files[chunk.file].path, chunk.place.start) for chunk in chunks.all]
    assert where == [("Z.py", 1), ("a.py", 1), ("a/z.py", 1), ("a/z.py", 101), ("b.py", 1), ("b.py", 101)]
    assert list(chunks.texts()) == [chunks.text(chunk) for chunk in chunks.all]
    assert len(distinct_digests(chunks.all)) == 3


def test_chunks_read_from_a_warm_cache_are_those_that_were_cut(memory_corpus, frozen, tmp_path):
    corpus = memory_corpus({"a.py": b"x\n" * 500, "b.py": b"", "c.py": b"x\n" * 500, "d.py": b"e\n"})
    cold = CorpusChunks(corpus, frozen, Cache(tmp_path))
    warm = CorpusChunks(corpus, frozen, Cache(tmp_path))
    assert warm.all == cold.all
    assert sum(table.entries for table in Cache(tmp_path).stats()) == 3  # two files are one blob


def test_other_rules_are_other_entries(memory_corpus, frozen, tmp_path):
    corpus = memory_corpus({"a.py": b"x\n" * 130})
    assert len(CorpusChunks(corpus, frozen, Cache(tmp_path)).all) == 2
    assert len(CorpusChunks(corpus, ChunkRules(130, 20, 16_000), Cache(tmp_path)).all) == 1
