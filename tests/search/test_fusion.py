from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repairlab.search.fusion import Fused, dense_first, reciprocal_rank, reciprocal_rank_score

paths = st.sampled_from([f"{folder}/{name}.py" for folder in "ab" for name in "pqrst"])
rankings = st.lists(paths, unique=True, max_size=10)
components = st.dictionaries(st.sampled_from(["exact", "lexical", "symbols", "dense"]), rankings)


def fuse(given_rankings, files=50):
    return reciprocal_rank(given_rankings, constant=60, files_for_each_component=files)


def test_scores_and_ranks_by_hand():
    fused = fuse({"exact": ["a", "b"], "dense": ["b", "c"], "lexical": ["c", "b"]})
    assert fused == (
        Fused("b", 1, {"dense": 1, "exact": 2, "lexical": 2}),
        Fused("c", 2, {"dense": 2, "lexical": 1}),
        Fused("a", 3, {"exact": 1}),
    )
    assert reciprocal_rank_score(fused[0].components, 60) == Fraction(1, 61) + 2 * Fraction(1, 62)


def test_equal_scores_go_by_path_bytes():
    # In code points U+10000 follows U+FFFF; in UTF-16 units it would not. Surrogate escapes are single bytes.
    names = ["z", "\uffff", "\U00010000", "Z", "\udcff"]
    fused = fuse({str(number): [name] for number, name in enumerate(names)})
    assert [item.path for item in fused] == ["Z", "z", "\uffff", "\U00010000", "\udcff"]


def test_a_tie_that_sums_of_floats_would_break_is_a_tie():
    ranks = sorted(([1, 2, 7], [7, 1, 2]), key=lambda places: sum(1 / (60 + rank) for rank in places))
    low, high = (sum(1 / (60 + rank) for rank in places) for places in ranks)
    assert low < high  # floats would put "y" first
    x, y = (dict(zip("abc", places, strict=True)) for places in ranks)
    given_rankings = {
        name: [
            "x" if rank == x[name] else "y" if rank == y[name] else f"{name}{rank}" for rank in range(1, 9)
        ]
        for name in "abc"
    }
    assert [item.path for item in fuse(given_rankings)][:2] == ["x", "y"]


def test_each_component_gives_its_best_fifty_and_no_more():
    fused = fuse({"exact": [f"{n:03}" for n in range(80)], "dense": ["079"]})
    assert len(fused) == 51
    assert {item.path: item.components for item in fused}["079"] == {"dense": 1}


def test_no_ranking_gives_no_file():
    assert fuse({}) == fuse({"exact": []}) == ()


def test_a_file_named_twice_is_an_error():
    with pytest.raises(ValueError, match="exact names a file twice"):
        fuse({"exact": ["a", "a"]})
    with pytest.raises(ValueError, match="dense names a file twice"):
        dense_first(["a", "a"], [], files=5)


@given(components, st.randoms())
def test_the_order_of_the_components_does_not_matter(given_rankings, chance):
    names = list(given_rankings)
    chance.shuffle(names)
    shuffled = fuse({name: given_rankings[name] for name in names})
    assert shuffled == fuse(given_rankings)
    assert [list(item.components) for item in shuffled] == [sorted(item.components) for item in shuffled]


@given(components)
def test_every_ranked_file_is_there_once_with_its_ranks_in_order_of_score_then_path(given_rankings):
    fused = fuse(given_rankings)
    assert {item.path for item in fused} == set().union(*given_rankings.values())
    assert [item.rank for item in fused] == list(range(1, len(fused) + 1))
    for item in fused:
        assert item.components == {
            name: ranking.index(item.path) + 1
            for name, ranking in given_rankings.items()
            if item.path in ranking
        }
    keys = [(-reciprocal_rank_score(item.components, 60), item.path) for item in fused]
    assert keys == sorted(keys)


@given(components, st.sampled_from(["exact", "dense"]), st.data())
def test_a_better_rank_in_one_component_never_makes_the_fused_rank_worse(given_rankings, name, data):
    ranking = given_rankings.get(name, [])
    if len(ranking) < 2:
        return
    place = data.draw(st.integers(1, len(ranking) - 1))
    path = ranking[place]
    better = [*ranking]
    better[place - 1], better[place] = better[place], better[place - 1]
    before = {item.path: item.rank for item in fuse(given_rankings)}
    after = {item.path: item.rank for item in fuse({**given_rankings, name: better})}
    assert after[path] <= before[path]


@given(rankings)
def test_one_component_alone_keeps_its_order(ranking):
    assert [item.path for item in fuse({"exact": ranking})] == ranking


def test_dense_comes_first_and_exact_fills_up():
    assert dense_first(["d1", "both"], ["e1", "both", "e2", "e3", "e4"], files=5) == (
        Fused("d1", 1, {"dense": 1}),
        Fused("both", 2, {"dense": 2, "exact": 2}),
        Fused("e1", 3, {"exact": 1}),
        Fused("e2", 4, {"exact": 3}),
        Fused("e3", 5, {"exact": 4}),
    )


@given(dense=rankings.map(lambda r: r[:5]), exact=rankings, files=st.integers(1, 8))
def test_dense_first_never_reorders_drops_or_repeats(dense, exact, files):
    fused = dense_first(dense, exact, files=files)
    order = [item.path for item in fused]
    assert order == [*dense, *(path for path in exact if path not in dense)][:files]
    for item in fused:
        expected = {"dense": dense, "exact": exact}
        assert item.components == {
            name: ranking.index(item.path) + 1 for name, ranking in expected.items() if item.path in ranking
        }
