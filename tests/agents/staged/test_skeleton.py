"""The skeleton never exceeds its cap, favours no file for its name, and drops from the end of its levels."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from repairlab.agents.staged.measure import TokenRule, largest
from repairlab.agents.staged.skeleton import Outline, build_skeleton

RULE = TokenRule(4)
NAMES = st.text("abXY_9é", min_size=1, max_size=8)
FILES = st.lists(
    st.builds(
        Outline,
        st.builds("{}{}.py".format, st.sampled_from(["", "a/", "a/b/", "z/", "é/"]), NAMES),
        st.booleans(),
        st.lists(NAMES, max_size=6, unique=True).map(tuple),
        st.lists(st.tuples(NAMES, NAMES), max_size=6, unique=True).map(tuple),
    ),
    max_size=12,
    unique_by=lambda one: one.path,
)


def outline(path: str, tops: int = 0, methods: int = 0, *, protected: bool = False) -> Outline:
    return Outline(
        path,
        protected,
        tuple(f"top{n}" for n in range(tops)),
        tuple(("top0", f"method{n}") for n in range(methods)),
    )


def test_a_small_repository_is_shown_whole_by_folder() -> None:
    files = [outline("pkg/deep/b.py", 1), outline("a.py", 2, 2), outline("pkg/c.py"), outline("pkg/b.py", 1)]
    skeleton = build_skeleton(files, RULE, 1000)
    assert skeleton.text.split("\n") == [
        "./",
        "  a.py: top0(method0, method1), top1",
        "pkg/",
        "  b.py: top0",
        "  c.py",
        "pkg/deep/",
        "  b.py: top0",
    ]
    assert skeleton.complete
    assert skeleton.names == {"a.py": 4, "pkg/deep/b.py": 1, "pkg/b.py": 1}


def test_methods_of_a_type_that_another_file_defines_stand_under_its_name() -> None:
    files = [Outline("a.go", False, ("New",), (("Buffer", "Read"), ("Buffer", "Write")))]
    assert build_skeleton(files, RULE, 1000).text == "./\n  a.go: New, Buffer(Read, Write)"


@settings(max_examples=60, deadline=None)
@given(FILES, st.integers(0, 120), st.randoms(use_true_random=False))
def test_no_cap_is_exceeded_and_no_order_matters(files: list[Outline], cap: int, random: object) -> None:
    skeleton = build_skeleton(files, RULE, cap)
    assert RULE.tokens(RULE.size(skeleton.text)) == skeleton.tokens <= cap
    shuffled = list(files)
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # hypothesis types its Random as object
    assert build_skeleton(shuffled, RULE, cap) == skeleton
    larger = build_skeleton(files, RULE, cap + 1)
    assert larger.named >= skeleton.named or len(larger.named) >= len(skeleton.named)


@settings(max_examples=60, deadline=None)
@given(FILES, st.integers(0, 120))
def test_every_file_of_a_level_shows_as_many_names_as_any_other(files: list[Outline], cap: int) -> None:
    skeleton = build_skeleton(files, RULE, cap)
    if len(skeleton.named) < len(files):
        assert not skeleton.names
        return
    for protected in (False, True):
        short = [
            (skeleton.names.get(one.path, 0), len(one.tops), len(one.methods))
            for one in files
            if one.protected is protected
        ]
        # Either tops are limited to one number, and no method is shown, or methods are.
        tops = {shown for shown, tops, methods in short if shown < tops}
        methods = {shown - tops for shown, tops, methods in short if tops <= shown < tops + methods}
        assert len(tops) <= 1
        assert not tops or all(shown <= max(tops) for shown, _, _ in short)
        assert tops or len(methods) <= 1


def test_what_no_patch_may_touch_is_dropped_first() -> None:
    files = [outline("pkg/a.py", 3, 3), outline("tests/test_a.py", 3, protected=True)]
    whole = build_skeleton(files, RULE, 1000).tokens
    skeleton = build_skeleton(files, RULE, whole - 1)
    assert skeleton.names["pkg/a.py"] == 6
    assert skeleton.names["tests/test_a.py"] < 3
    assert skeleton.text.endswith(" +")
    assert not skeleton.complete


def test_where_paths_alone_are_too_many_the_alphabet_does_not_decide() -> None:
    files = [outline(f"pkg/{letter}{n}.py", 2) for letter in "abcdefgh" for n in range(10)]
    skeleton = build_skeleton(files, RULE, 150)
    assert 10 < len(skeleton.named) < 80
    assert len({path[4] for path in skeleton.named}) > 4
    assert not skeleton.names


@given(st.integers(0, 50), st.integers(-1, 60))
def test_the_largest_number_that_fits_is_found(most: int, limit: int) -> None:
    assert largest(most, lambda n: n <= limit) == max(0, min(most, limit))


def test_the_token_rule_counts_light_bytes_in_parts() -> None:
    assert RULE.tokens(RULE.size("")) == 0
    assert RULE.tokens(RULE.size("abcd")) == 1
    assert RULE.tokens(RULE.size("abc_ efg")) == 2
    assert RULE.tokens(RULE.size("1,2\n")) == 4
    assert RULE.tokens(RULE.size("é")) == 2  # two bytes of UTF-8
    assert RULE.tokens(RULE.size("a\ud800")) == 4  # half of a surrogate pair is three bytes
