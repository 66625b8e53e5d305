"""Packed source never exceeds its cap, numbers lines as the file does, and keeps the order of its files."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from repairlab.agents.staged.measure import TokenRule
from repairlab.agents.staged.packing import Packed, Packer, SourceFile, Span
from repairlab.hosts.emulator.engines.shown import lines_shown

RULE = TokenRule(4)
LINE = st.binary(max_size=12).filter(lambda data: b"\n" not in data and b"\0" not in data)


@st.composite
def source_files(draw: st.DrawFn) -> list[SourceFile]:
    files = []
    for number in range(draw(st.integers(1, 4))):
        lines = tuple(draw(st.lists(LINE, max_size=25)))
        starts = draw(st.sets(st.integers(1, max(1, len(lines))), max_size=6))
        files.append(SourceFile(f"pkg/f{number}.py", lines, tuple(sorted(starts))))
    return files


def numbers(packed: Packed, path: str) -> list[int]:
    return [n for one in packed.shown if one.path == path for n in range(one.start_line, one.end_line + 1)]


def check(packed: Packed, files: list[SourceFile], cap: int) -> None:
    assert RULE.tokens(RULE.size(packed.text)) == packed.tokens <= cap
    known = {file.path: file.lines for file in files}
    order = list(dict.fromkeys(span.path for span in packed.shown))
    assert order == [file.path for file in files if file.path in order]
    for path in order:
        assert numbers(packed, path) == sorted(set(numbers(packed, path)))
    rows = [row for row in packed.text.split("\n") if re.match(r"\d+\t", row)]
    expected = [
        f"{n}\t{known[path][n - 1].decode('utf-8', 'replace')}"
        for path in order
        for n in numbers(packed, path)
    ]
    assert rows == [row for row in expected if "\n" not in row]


@settings(max_examples=80, deadline=None)
@given(source_files(), st.integers(0, 400))
def test_whole_files_keep_the_cap_and_show_each_file_its_share(files: list[SourceFile], cap: int) -> None:
    packer = Packer(files, RULE, 1000)
    packed = packer.whole_files(cap)
    check(packed, files, cap)
    everything = packer.whole_files(10**6)
    assert everything.left_out == ()
    if everything.tokens + 4 * len(files) <= cap:
        assert packed == everything
    for file in files:
        alone = Packer([file], RULE, 1000).whole_files(10**6).tokens + 2
        if alone <= cap // len(files):
            assert len(numbers(packed, file.path)) == len(file.lines)


@settings(max_examples=80, deadline=None)
@given(source_files(), st.integers(0, 400), st.data())
def test_places_keep_the_cap_and_earlier_places_come_first(
    files: list[SourceFile], cap: int, data: st.DataObject
) -> None:
    spans = []
    for _ in range(data.draw(st.integers(0, 4))):
        file = data.draw(st.sampled_from(files))
        if file.lines:
            first = data.draw(st.integers(1, len(file.lines)))
            spans.append(Span(file.path, first, data.draw(st.integers(first, len(file.lines)))))
    packed = Packer(files, RULE, 1000).places(spans, cap)
    check(packed, files, cap)
    if spans:
        alone = Packer(files, RULE, 1000).places(spans[:1], cap)
        assert set(numbers(alone, spans[0].path)) <= set(numbers(packed, spans[0].path))
    whole = Packer(files, RULE, 1000).places(spans, 10**6)
    for span in spans:
        assert set(range(span.start_line, span.end_line + 1)) <= set(numbers(whole, span.path))


def test_a_file_that_is_too_large_shows_the_heads_of_all_its_definitions() -> None:
    lines = tuple(b"def f%d(): # %s" % (n // 20, b"x" * 40) if n % 20 == 0 else b"    y" for n in range(400))
    starts = tuple(range(1, 401, 20))
    file = SourceFile("pkg/large.py", lines, starts)
    packed = Packer([file], RULE, 1000).whole_files(900)
    shown = numbers(packed, "pkg/large.py")
    assert set(starts) <= set(shown)
    heads = {sum(n in shown for n in range(start, start + 18)) for start in starts}
    assert len(heads) == 1  # every definition shows as many lines
    assert packed.left_out == ("pkg/large.py",)
    assert packed.text.count("\n...") == 20


def test_a_gap_of_one_line_is_filled() -> None:
    file = SourceFile("a.py", tuple(b"line" for _ in range(9)), ())
    packed = Packer([file], RULE, 1000).places(
        [Span("a.py", 2, 3), Span("a.py", 5, 5), Span("a.py", 8, 8)], 99
    )
    assert numbers(packed, "a.py") == [1, 2, 3, 4, 5, 8, 9]


def test_the_lines_are_read_back_as_they_stand_in_the_file() -> None:
    file = SourceFile("pkg/a.py", (b"x = 1", b"", b"\ty  ", b"z" * 2000), ())
    packed = Packer([file], RULE, 1000).whole_files(5000)
    assert packed.text.startswith("pkg/a.py, lines 1 to 4 of 4:\n1\tx = 1\n2\t\n3\t\ty  \n4\t")
    assert packed.text.endswith(" [cut: 1000 characters]")
    shown = lines_shown([packed.text])["pkg/a.py"]
    assert (shown[1], shown[2], shown[3]) == ("x = 1", "", "\ty  ")


def test_an_empty_file_is_shown_by_nothing() -> None:
    assert Packer([SourceFile("a.py", (), ())], RULE, 1000).whole_files(10) == Packed("", 0, (), ())
