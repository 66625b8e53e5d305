import multiprocessing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repairlab.contract.errors import InfrastructureFailure, IntegrityViolation
from repairlab.search.cache import Cache, Table, code_of

TABLE = Table("things", "1", {"n": 1})


def value_of(key: str) -> bytes:
    return key.encode() * 3


class Maker:
    """Makes values and remembers for which keys."""

    def __init__(self):
        self.asked: list[str] = []

    def __call__(self, keys):
        self.asked += keys
        return [(key, value_of(key)) for key in keys]


@pytest.fixture
def cache(tmp_path):
    return Cache(tmp_path / "cache")


def plain(values):
    return {key: bytes(value) for key, value in values.items()}


def packs(cache: Cache, table: Table = TABLE) -> list[Path]:
    return sorted(cache.table_folder(table).glob("*.pack"))


def damage(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 0xFF
    path.chmod(0o644)
    path.write_bytes(data)


def test_what_is_there_is_not_made_again(cache):
    make = Maker()
    assert plain(cache.get_or_make(TABLE, ["b", "a", "b"], make)) == {"a": b"aaa", "b": b"bbb"}
    assert plain(cache.get_or_make(TABLE, ["c", "a"], make)) == {"a": b"aaa", "c": b"ccc"}
    assert make.asked == ["a", "b", "c"]
    assert plain(cache.get(TABLE, ["a", "d"])) == {"a": b"aaa"}


def test_no_keys_make_no_file(cache):
    assert cache.get_or_make(TABLE, [], Maker()) == {}
    assert not cache.folder.exists()


@pytest.mark.parametrize(
    "other",
    [Table("others", "1", {"n": 1}), Table("things", "2", {"n": 1}), Table("things", "1", {"n": 2})],
)
def test_another_name_code_or_parameter_shares_nothing(cache, other):
    cache.get_or_make(TABLE, ["a"], Maker())
    assert cache.get(other, ["a"]) == {}


def test_code_of_follows_the_source(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    source = tmp_path / "a_module_of_this_test.py"
    source.write_text("A = 1\n")
    before = code_of("a_module_of_this_test")
    source.write_text("A = 2\n")
    assert code_of("a_module_of_this_test") != before
    assert code_of("repairlab.search.chunks") == code_of("repairlab.search.chunks")


@pytest.mark.parametrize("position", range(0, 700, 7))
def test_a_damaged_byte_anywhere_is_found_and_what_it_hit_made_again(cache, position):
    keys = [f"key{n}" for n in range(6)]
    cache.get_or_make(TABLE, keys, Maker())
    (pack,) = packs(cache)
    size = pack.stat().st_size
    damage(pack, position % size)
    make = Maker()
    expected = {key: value_of(key) for key in keys}
    assert plain(cache.get_or_make(TABLE, keys, make)) == expected
    assert plain(cache.get_or_make(TABLE, keys, Maker())) == expected
    again = Maker()
    cache.get_or_make(TABLE, keys, again)
    assert again.asked == []


def test_damage_to_one_value_loses_that_entry_alone(cache):
    keys = [f"key{n}" for n in range(6)]
    cache.get_or_make(TABLE, keys, Maker())
    (pack,) = packs(cache)
    damage(pack, pack.read_bytes().index(value_of("key2")))
    (stats,) = cache.stats()
    assert (stats.entries, stats.damaged) == (6, 1)
    make = Maker()
    cache.get_or_make(TABLE, keys, make)
    assert make.asked == ["key2"]


def test_r01_a_torn_pack_counts_as_absent(cache):
    cache.get_or_make(TABLE, ["a", "b"], Maker())
    (pack,) = packs(cache)
    data = pack.read_bytes()
    for length in (0, 1, 20, len(data) // 2, len(data) - 1):
        pack.chmod(0o644)
        pack.write_bytes(data[:length])
        assert cache.stats()[0].damaged == 1
        make = Maker()
        assert plain(cache.get_or_make(TABLE, ["a", "b"], make)) == {"a": b"aaa", "b": b"bbb"}
        assert make.asked == ["a", "b"]


def test_what_was_made_before_a_failure_is_kept(cache):
    def fails(keys):
        yield keys[0], value_of(keys[0])
        raise InfrastructureFailure("the host went away", kind="host-unreachable")

    with pytest.raises(InfrastructureFailure, match="went away"):
        cache.get_or_make(TABLE, ["a", "b"], fails)
    make = Maker()
    cache.get_or_make(TABLE, ["a", "b"], make)
    assert make.asked == ["b"]


@pytest.mark.parametrize("given_keys", [["a"], ["a", "b", "c"], ["a", "a", "b"], ["a", "c"]])
def test_a_maker_that_does_not_answer_what_was_asked_is_an_error(cache, given_keys):
    with pytest.raises(IntegrityViolation):
        cache.get_or_make(TABLE, ["a", "b"], lambda keys: [(key, b"") for key in given_keys])


@pytest.mark.parametrize("key", ["", "a b", "a\nb"])
def test_a_key_that_would_break_the_list_of_keys_is_an_error(cache, key):
    with pytest.raises(ValueError, match="white space"):
        cache.get_or_make(TABLE, [key], lambda keys: [(key, b"") for key in keys])


def test_the_first_value_of_a_key_stays(cache):
    """A writer that comes second gets the first one's value, so that both build the same index."""
    other = Cache(cache.folder)

    def slow(keys):
        other.get_or_make(TABLE, ["b"], lambda _: [("b", b"first")])
        return [(key, b"second") for key in keys]

    assert plain(cache.get_or_make(TABLE, ["a", "b"], slow)) == {"a": b"second", "b": b"first"}
    assert plain(cache.get(TABLE, ["a", "b"])) == {"a": b"second", "b": b"first"}


def _write_in_a_process(folder, name, exclusive, barrier, results):
    made = []

    def make(keys):
        for key in keys:
            made.append(key)
            yield key, f"{key} by {name}".encode()

    barrier.wait()
    keys = [f"k{n}" for n in range(40)]
    values = Cache(folder).get_or_make(TABLE, keys, make, exclusive=exclusive)
    results.put((len(made), {key: bytes(value) for key, value in values.items()}))


@pytest.mark.parametrize("exclusive", [False, True])
def test_writers_at_the_same_time_agree(cache, exclusive):
    context = multiprocessing.get_context("fork")
    barrier, results = context.Barrier(4), context.Queue()
    processes = [
        context.Process(target=_write_in_a_process, args=(cache.folder, name, exclusive, barrier, results))
        for name in range(4)
    ]
    for process in processes:
        process.start()
    answers = [results.get(timeout=60) for _ in processes]
    for process in processes:
        process.join()
    first = answers[0][1]
    assert all(values == first for _, values in answers)
    assert plain(cache.get(TABLE, first)) == first
    if exclusive:
        assert sorted(count for count, _ in answers) == [0, 0, 0, 40]


def test_clear_deletes_packs_and_nothing_else(cache):
    cache.get_or_make(TABLE, ["a"], Maker())
    foreign = cache.folder / "notes.txt"
    foreign.write_text("mine")
    inside = cache.table_folder(TABLE) / "notes.txt"
    inside.write_text("mine")
    (stats,) = cache.stats()
    assert (stats.packs, stats.entries, stats.damaged) == (1, 1, 0)
    assert cache.clear() == stats.size > 0
    assert foreign.exists()
    assert inside.exists()
    assert cache.stats()[0].packs == 0
    make = Maker()
    cache.get_or_make(TABLE, ["a"], make)
    assert make.asked == ["a"]


def test_a_value_stays_readable_while_the_cache_is_cleared(cache):
    cache.get_or_make(TABLE, ["a"], Maker())
    values = cache.get(TABLE, ["a"])
    cache.clear()
    assert plain(values) == {"a": b"aaa"}


def test_a_folder_that_cannot_be_made_is_infrastructure(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InfrastructureFailure) as failure:
        Cache(tmp_path / "file").get_or_make(TABLE, ["a"], Maker())
    assert failure.value.kind == "cache-write"


names = st.sampled_from([f"k{n}" for n in range(12)])


@given(rounds=st.lists(st.sets(names), max_size=6), exclusive=st.booleans())
def test_cold_warm_and_partly_new_reads_are_equal(tmp_path_factory, rounds, exclusive):
    cache = Cache(tmp_path_factory.mktemp("cache"))
    made: list[str] = []
    for keys in rounds:
        make = Maker()
        values = cache.get_or_make(TABLE, keys, make, exclusive=exclusive)
        assert plain(values) == {key: value_of(key) for key in keys}
        assert list(values) == sorted(keys)
        made += make.asked
    assert sorted(made) == sorted(set().union(*rounds))
