"""Two runs beside each other: nothing left out, nothing out of order, the first divergence where it is."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from repairlab.store.compare import first_difference, first_divergence, paired
from repairlab.store.steps import Budget, Step

KINDS = st.sampled_from(["request: a", "reply", "search", "read_file", "end: finished"])


def step(number: int, title: str, content: str) -> Step:
    return Step(number, title, "", (), content, False, Budget(0, 0, 0, 0.0, 0.0))


runs = st.lists(st.tuples(KINDS, st.sampled_from("xy")), max_size=12).map(
    lambda parts: [step(n, title, f'"{title}{mark}"') for n, (title, mark) in enumerate(parts)]
)


@given(runs, runs)
def test_every_step_stands_once_and_in_order(left: list[Step], right: list[Step]) -> None:
    pairs = list(paired(left, right))
    assert [pair.left for pair in pairs if pair.left] == left
    assert [pair.right for pair in pairs if pair.right] == right
    assert all(pair.left or pair.right for pair in pairs)


@given(runs, runs)
def test_up_to_the_first_divergence_rows_are_parallel_and_equal(left: list[Step], right: list[Step]) -> None:
    pairs = list(paired(left, right))
    first = first_divergence(pairs)
    common = len(pairs) if first is None else first
    assert [s.content for s in left[:common]] == [s.content for s in right[:common]]
    if first is None:
        assert [s.content for s in left] == [s.content for s in right]
    else:
        ahead = [run[first].content if first < len(run) else None for run in (left, right)]
        assert ahead[0] != ahead[1]


@given(runs)
def test_a_run_does_not_differ_from_itself(run: list[Step]) -> None:
    assert first_divergence(list(paired(run, run))) is None


def test_the_first_difference_is_named_by_field_and_character() -> None:
    left = step(0, "call", '{"shown": [{"end": 24, "path": "a.py"}], "text": "one two"}')
    right = step(0, "call", '{"shown": [{"end": 24, "path": "a.py"}], "text": "one too"}')
    assert first_difference(left, right) == 'text, character 6: "one two" | "one too"'
    shorter = step(0, "call", '{"shown": [{"end": 23, "path": "a.py"}], "text": "one two"}')
    assert first_difference(left, shorter) == "shown[0].end: 24 | 23"


def test_turns_stand_beside_each_other_though_one_run_took_a_step_more() -> None:
    def run(*titles: str) -> list[Step]:
        return [step(n, title, f'"{n} {title} {len(titles)}"') for n, title in enumerate(titles)]

    left = run("request: 1", "reply", "search", "search", "request: 2", "reply")
    right = run("request: 1", "reply", "search", "request: 2", "reply")
    rows = [(pair.left and pair.left.title, pair.right and pair.right.title) for pair in paired(left, right)]
    assert rows == [
        ("request: 1", "request: 1"),
        ("reply", "reply"),
        ("search", "search"),
        ("search", None),
        ("request: 2", "request: 2"),
        ("reply", "reply"),
    ]
