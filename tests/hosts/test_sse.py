from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repairlab.hosts.sse import Event, EventDecoder


def decode(*pieces: bytes) -> list[Event]:
    decoder = EventDecoder()
    events = [event for piece in pieces for event in decoder.feed(piece)]
    return events + decoder.end()


def test_events_end_at_an_empty_line_and_data_lines_are_joined():
    body = b": a comment\nevent: error\ndata: one\ndata:two\n\ndata: [DONE]\n\n"
    assert decode(body) == [Event("error", "one\ntwo"), Event("", "[DONE]")]


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r"])
def test_each_line_end_of_the_standard_ends_a_line(line_end: bytes):
    body = line_end.join([b"data: a", b"", b"data: b", b"", b""])
    assert decode(body) == [Event("", "a"), Event("", "b")]


@pytest.mark.parametrize("character", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c"])
def test_a_character_that_str_splitlines_splits_at_stays_inside_the_event(character: str):
    assert decode(f"data: a{character}b\n\n".encode()) == [Event("", f"a{character}b")]


def test_an_event_that_lacks_its_last_line_end_counts_when_the_body_ended_properly():
    assert decode(b"data: [DONE]") == [Event("", "[DONE]")]


def test_bytes_that_are_not_utf8_are_an_error_and_not_replaced():
    with pytest.raises(UnicodeDecodeError):
        decode(b"data: \xff\n\n")


@given(
    texts=st.lists(st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"])), max_size=6),
    cuts=st.lists(st.integers(0, 400), max_size=12),
    line_end=st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_how_the_bytes_are_cut_changes_nothing(texts: list[str], cuts: list[int], line_end: str):
    body = "".join(f"data: {text}{line_end}{line_end}" for text in texts).encode()
    places = sorted({0, len(body), *(cut for cut in cuts if cut < len(body))})
    pieces = [body[start:end] for start, end in pairwise(places)]
    assert decode(*pieces) == [Event("", text) for text in texts]


def test_c13_a_line_of_megabytes_in_small_pieces_is_read_in_linear_time():
    decoder = EventDecoder()
    piece = b"x" * 4096
    decoder.feed(b"data: ")
    started = time.process_time()
    for _ in range(4000):
        decoder.feed(piece)
    (event,) = decoder.feed(b"\n\n")
    assert len(event.data) == 4000 * 4096
    assert time.process_time() - started < 5  # scanning it anew for each piece takes minutes
