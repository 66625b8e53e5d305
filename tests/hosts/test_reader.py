"""When a reply's time is over, at any pace of its parts, and whose the time before its first token is."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from repairlab.hosts.reader import TOKENS_A_SECOND, ReplyReader, Unpaid
from repairlab.hosts.transport import Head

HEAD = Head(200, "text/event-stream")
DEADLINE, MOST = 10.0, 5.0
GAPS = st.integers(0, 80).map(lambda tenths: tenths / 8)


def piece(finish: str | None = None, tokens: int | None = None, **delta: str) -> bytes:
    frame = {"model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
    usage = {} if tokens is None else {"usage": {"prompt_tokens": 9, "completion_tokens": tokens}}
    return f"data: {json.dumps(frame | usage)}\n\n".encode()


def read(
    gaps: list[float], texts: int, tokens: int | None, unpaid: bool
) -> tuple[ReplyReader, float, float | None]:
    """The reader after a stream with these waits before its parts; the seconds it took, and what was told."""
    now, told = [100.0], list[float]()
    reader = ReplyReader(
        "chat", "m", lambda: now[0], 100.0 + DEADLINE, Unpaid(MOST, told.append) if unpaid else None
    )
    parts = [
        piece(role="assistant"),
        *[piece(content="x")] * texts,
        piece("stop", tokens),
        b"data: [DONE]\n\n",
    ]
    for gap, part in zip(gaps, parts, strict=False):
        now[0] += gap
        if reader.take(HEAD, part):
            break
    assert len(told) <= 1
    return reader, now[0] - 100.0, told[0] if told else None


@settings(max_examples=150)
@given(st.lists(GAPS, min_size=7, max_size=7), st.integers(0, 4), st.none() | st.integers(0, 40_000))
def test_a_reply_is_late_exactly_when_its_own_time_reaches_the_deadline(
    gaps: list[float], texts: int, tokens: int | None
) -> None:
    reader, seconds, told = read(gaps, texts, tokens, unpaid=True)
    own = seconds - (told or 0.0)
    assert reader.late == (own >= DEADLINE)
    assert told is None or 0 < told <= MOST
    first = sum(gaps[:2])  # the part after the role is the first that holds a token, or ends the reply
    if told is not None and reader.done:
        assert told == min(first, MOST)
        count = texts + 2 if tokens is None else tokens
        assert count <= (seconds - first) * TOKENS_A_SECOND


@settings(max_examples=60)
@given(st.lists(GAPS, min_size=7, max_size=7), st.integers(0, 4))
def test_without_unpaid_time_all_of_it_is_the_asker_s(gaps: list[float], texts: int) -> None:
    reader, seconds, told = read(gaps, texts, 10, unpaid=False)
    assert told is None
    assert reader.late == (seconds >= DEADLINE)
