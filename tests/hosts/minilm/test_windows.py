from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from repairlab.hosts.minilm.windows import WINDOW_TOKENS, windows


@settings(max_examples=60)
@given(st.integers(0, 3000), st.integers(1, 700))
def test_windows_are_few_equal_and_lose_nothing(length: int, most: int) -> None:
    tokens = list(range(length))
    parts = windows(tokens, most)
    assert [token for part in parts for token in part] == tokens
    assert len(parts) == max(1, -(-length // most))
    sizes = {len(part) for part in parts}
    assert max(sizes) <= most
    assert max(sizes) - min(sizes) <= 1


def test_a_window_leaves_room_for_both_marks() -> None:
    assert [len(part) for part in windows(range(WINDOW_TOKENS - 1))] == [256, 255]
    assert [len(part) for part in windows(range(WINDOW_TOKENS - 2))] == [510]
