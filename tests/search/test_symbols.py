from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from repairlab.contract.errors import InfrastructureFailure
from repairlab.repositories import embedded
from repairlab.search import symbols_cache
from repairlab.search.cache import Cache
from repairlab.search.corpus import build_corpus
from repairlab.search.results import QueryError
from repairlab.search.symbols import NO_NAMES, SymbolSearch
from repairlab.search.symbols_blob import NONE, Kind, Use
from repairlab.search.symbols_cache import _FEWEST_BYTES, symbols_by_blob
from repairlab.search.symbols_index import SymbolIndex, build_symbols
from repairlab.search.symbols_lookup import SymbolLookup, Tier
from repairlab.search.symbols_worker import framed, unframed

EMBEDDED = Path(embedded.__file__).parent / "embedded"

SOURCES = {
    "pkg/__init__.py": b"",
    "pkg/shapes.py": b"class Circle:\n    def area(self):\n        return square(self.radius)\n\n"
    b"    def radius_of(self):\n        pass\n",
    "pkg/tools.py": b"from pkg.shapes import Circle\n\n\ndef square(x):\n    return x * x\n\n\ndef area(c):\n"
    b"    return c.area()\n\n\nAREA = area(Circle())\n",
    "tests/test_tools.py": b"from pkg.tools import square\n\n\ndef test_square():\n"
    b"    square(2)\n    square(3)\n",
}


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("symbols")


@pytest.fixture
def index(memory_source, rules, folder):
    def build(files, language="python") -> SymbolIndex:
        corpus = build_corpus(memory_source(files), "", language, rules, cache=folder)
        return build_symbols(corpus, language, cache=Cache(folder), folder=folder)

    return build


@pytest.fixture
def search(index, controls):
    def make(files=SOURCES, language="python") -> SymbolSearch:
        built = index(files, language)
        return SymbolSearch(built.corpus, built, controls.search, controls.view, controls.symbols)

    return make


def tree(name: str) -> dict[str, bytes]:
    root = EMBEDDED / name / "tree"
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_a_symbol_says_where_it_is_and_what_it_stands_in(index):
    built = index(SOURCES)
    circle, area = built.symbol(0), built.symbol(1)

    assert (circle.qualified, circle.kind, circle.parent) == ("pkg.shapes.Circle", Kind.TYPE, None)
    assert (area.qualified, area.kind, area.parent) == ("pkg.shapes.Circle.area", Kind.METHOD, 0)
    assert (area.path, area.owner, area.line, area.first, area.last) == ("pkg/shapes.py", "Circle", 2, 2, 3)
    source = SOURCES["pkg/shapes.py"]
    assert source[area.start : area.end] == b"def area(self):\n        return square(self.radius)"
    assert [built.symbol(n).name for n in built.symbols_of(2)] == ["square", "area", "AREA"]
    assert list(built.symbols_of(0)) == []


def test_the_innermost_symbol_around_a_line(index):
    built = index(SOURCES)

    assert [built.around(1, line) for line in (1, 2, 3, 4, 5, 6, 7)] == [0, 1, 1, 0, 2, 2, None]
    assert built.around(0, 1) is None


def test_rows_of_files_are_merged_without_mixing_them_up(index):
    built = index(SOURCES)
    calls = [
        (built.corpus.files[file].path, built.text(ref.receiver), built.text(ref.name), ref.enclosing)
        for file in range(len(built.corpus.files))
        for ref in (built.reference(row) for row in built.references_of(file))
        if ref.use == Use.CALL
    ]
    area, test = built.defining("area")[1], built.defining("test_square")[0]
    assert calls == [
        ("pkg/shapes.py", "", "square", 1),
        ("pkg/tools.py", "c", "area", area),
        ("pkg/tools.py", "", "area", -1),
        ("pkg/tools.py", "", "Circle", -1),
        ("tests/test_tools.py", "", "square", test),
        ("tests/test_tools.py", "", "square", test),
    ]
    assert built.files_of_references(built.referring("square")).tolist() == [1, 3, 3]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(
        st.sampled_from([f"{c}.py" for c in "abcdef"]),
        st.lists(
            st.sampled_from(
                [
                    "def f(): g()\n",
                    "class g: x = f()\n",
                    "import a\n",
                    "",
                    "def é(): pass\n",
                    "h(1)\n",
                    "def (\n",
                ]
            ),
            max_size=6,
        ).map(lambda parts: "".join(parts).encode()),
        max_size=6,
    )
)
def test_an_index_holds_what_each_file_holds_alone(index, files):
    built = index(files)

    def rows(part: SymbolIndex, file: int) -> tuple[object, ...]:
        first = part.symbols_of(file).start
        symbols = [part.symbol(number) for number in part.symbols_of(file)]
        references = [part.reference(row) for row in part.references_of(file)]
        imports = [part.imported(row) for row in part.imports_of(file)]
        return (
            [(s.qualified, s.kind, s.parent and s.parent - first, s.line, s.start, s.end) for s in symbols],
            [(part.text(r.name), part.text(r.receiver), r.line) for r in references],
            [r.enclosing - first if r.enclosing != NONE else NONE for r in references],
            [(part.text(i.module), part.text(i.name), i.line) for i in imports],
            file in part.with_errors,
        )

    for number, file in enumerate(built.corpus.files):
        assert rows(built, number) == rows(index({file.path: files[file.path]}), 0)
    assert built.texts == sorted(set(built.texts))


class TestLookup:
    @pytest.fixture
    def lookup(self, index, controls):
        return SymbolLookup(index(SOURCES), controls.symbols)

    @pytest.fixture
    def names(self, index):
        built = index(SOURCES)
        return lambda ids: [built.symbol(number).qualified for number in ids]

    def test_exact(self, lookup, names):
        assert names(lookup.exact("area")) == ["pkg.shapes.Circle.area", "pkg.tools.area"]
        assert names(lookup.exact("Area")) == []

    @pytest.mark.parametrize(
        ("dotted", "found"),
        [
            ("Circle.area", ["pkg.shapes.Circle.area"]),
            ("shapes.Circle.area", ["pkg.shapes.Circle.area"]),
            ("pkg.tools.area", ["pkg.tools.area"]),
            ("rcle.area", []),
            ("area", ["pkg.shapes.Circle.area", "pkg.tools.area"]),
        ],
    )
    def test_qualified_names_are_compared_by_whole_parts(self, lookup, names, dotted, found):
        assert names(lookup.qualified(dotted)) == found

    def test_whatever_the_case(self, lookup, names):
        assert names(lookup.folded("area")) == ["pkg.shapes.Circle.area", "pkg.tools.area", "pkg.tools.AREA"]
        assert names(lookup.folded("cIRCLE")) == ["pkg.shapes.Circle"]

    def test_by_beginning_the_shortest_first(self, lookup):
        assert lookup.prefix("radi") == ("radius_of",)
        assert lookup.prefix("") == ("AREA", "area", "Circle", "square", "radius_of")

    def test_by_similarity(self, lookup):
        assert [name for name, _ in lookup.similar("sqare")] == ["square"]
        assert lookup.similar("nothing_like_it") == ()

    @pytest.mark.parametrize(
        ("term", "tiers"),
        [
            ("Circle.area", {Tier.QUALIFIED}),
            ("area", {Tier.EXACT}),
            ("thing.area", {Tier.LAST}),
            ("circle", {Tier.FOLDED}),
            ("radius", {Tier.PREFIX}),
            ("sqare", {Tier.SIMILAR}),
            ("nothing_like_it", set()),
        ],
    )
    def test_only_the_best_tier_counts(self, lookup, term, tiers):
        assert {match.tier for match in lookup.matches(term, loose=True)} == tiers
        strict = tiers - {Tier.PREFIX, Tier.SIMILAR}
        assert {match.tier for match in lookup.matches(term, loose=False)} == strict

    def test_a_name_that_is_used_and_defined_elsewhere_is_no_misspelling(self, index, controls):
        lookup = SymbolLookup(index({"a.py": b"def dumped(): dumps()\n"}), controls.symbols)

        assert lookup.matches("dumps", loose=True) == ()

    def test_s08_a_ligature_is_found_by_its_letters_and_by_itself(self, index, controls):
        lookup = SymbolLookup(index({"a.py": "def \ufb01le_size(): ...\n".encode()}), controls.symbols)

        assert lookup.exact("file_size") == lookup.exact("\ufb01le_size") == (0,)

    def test_limits_are_those_of_the_rule(self, index, controls):
        files = {"a.py": b"".join(b"def name_%d(): ...\n" % number for number in range(9))}
        lookup = SymbolLookup(index(files), controls.symbols.model_copy(update={"names": 2}))

        assert lookup.prefix("name_") == ("name_0", "name_1")
        assert len(lookup.similar("name_x")) == 2


def paths(ranking) -> list[str]:
    return [file.path for file in ranking.files]


def test_files_that_define_come_before_files_that_use(search):
    finder = search()
    ranking = finder.rank("square", 5)

    assert paths(ranking) == ["pkg/tools.py", "tests/test_tools.py", "pkg/shapes.py"]
    assert [file.defines for file in ranking.files] == [True, False, False]
    assert [finder.lines(ranking, file) for file in ranking.files] == [(4,), (5, 6), (3,)]


def test_a_qualified_name_tells_namesakes_apart(search):
    assert paths(search().rank("Circle.area", 5))[0] == "pkg/shapes.py"
    assert paths(search().rank("tools.area", 5))[0] == "pkg/tools.py"


def test_rare_names_count_more_and_words_do_no_harm(search):
    ranking = search().rank("why is the area of a circle wrong, see radius_of", 5)

    assert paths(ranking)[0] == "pkg/shapes.py"
    assert [term.term for term in ranking.terms if term.symbols] == ["area", "circle", "radius_of"]


def test_words_of_a_sentence_are_not_taken_for_beginnings(search):
    assert paths(search().rank("squ rad", 5)) == []
    assert paths(search().rank("radius", 5)) == ["pkg/shapes.py"]
    assert paths(search().rank("the radius_o", 5)) == ["pkg/shapes.py"]


def test_a_name_defined_elsewhere_leads_to_its_uses(search):
    ranking = search({"a.py": b"json.dumps(1)\n", "b.py": b"json.dumps(2)\njson.dumps(3)\n"}).rank("dumps", 5)

    assert paths(ranking) == ["b.py", "a.py"]


def test_s09_a_generated_file_with_many_uses_does_not_hide_the_definition(search):
    generated = b"".join(b"def gen_%d():\n    return total_of_all()\n" % number for number in range(400))
    files = {"gen_pb2.py": generated, "hand.py": b"def total_of_all():\n    return 1\n"}

    assert paths(search(files).rank("total_of_all", 5)) == ["hand.py", "gen_pb2.py"]


def test_s02_a_file_with_a_nul_is_not_half_indexed(index):
    built = index(
        {"nul.py": b"def before(): ...\nX = '\0'\ndef after(): ...\n", "a.py": b"def fine(): ...\n"}
    )

    assert built.names == ["fine"]


def test_s06_a_query_without_names_is_an_answer_of_its_own(search):
    assert search().rank("$$ -- ?? 12", 5) == QueryError(NO_NAMES)
    assert isinstance(search().rank(" ", 5), QueryError)


def test_an_answer_shows_the_definition(search):
    hit = search().find("AREA")[0]

    assert (hit.path, hit.matching_lines, hit.components) == ("pkg/tools.py", (12,), {"symbols": 1})


def test_files_with_errors_are_listed(index):
    assert index({"a.py": b"def (:\n", "b.py": b"x = 1\n"}).with_errors == (0,)


def test_go_methods_are_qualified_by_package_and_type(search):
    finder = search(tree("millrace"), "go")
    ranking = finder.rank("Memory.Put", 5)
    matched = [finder.lookup.index.symbol(match.symbol) for match in ranking.terms[0].symbols]

    assert {symbol.qualified.split(".")[-2] for symbol in matched} <= {"Memory"}
    assert ranking.files


def test_embedded_repositories_are_read_without_errors(index):
    for name, language in (("almanak", "python"), ("ledgerline", "python"), ("millrace", "go")):
        built = index(tree(name), language)
        assert built.with_errors == ()
        assert len(built.definitions) > 100
        for number in range(0, len(built.definitions), 7):
            symbol = built.symbol(number)
            line = built.corpus.lines(symbol.file, symbol.line, symbol.line)[0]
            assert symbol.name.encode() in line


def test_processes_change_nothing_but_the_time(memory_source, rules, folder, tmp_path):
    source = b"".join(b"def f%d(): g%d()\n" % (number, number) for number in range(200))
    files = {f"{number}.py": source + b"# %d\n" % number + b"# filler\n" * 110_000 for number in range(5)}
    assert sum(map(len, files.values())) > _FEWEST_BYTES  # enough for further processes to be started
    corpus = build_corpus(memory_source(files), "", "python", rules, cache=folder)
    alone = symbols_by_blob(corpus, "python", Cache(tmp_path / "one"), 1)
    together = symbols_by_blob(corpus, "python", Cache(tmp_path / "two"), 2)

    assert alone.keys() == together.keys()
    assert all(alone[blob].texts == together[blob].texts for blob in alone)
    assert all(bytes(alone[blob].references) == bytes(together[blob].references) for blob in alone)


def test_a_parsing_process_that_ends_early_is_a_failure_of_the_machine(monkeypatch):
    monkeypatch.setattr(symbols_cache, "WORKER", "repairlab.search.no_such_module")

    with pytest.raises(InfrastructureFailure, match="no_such_module") as failure:
        list(symbols_cache._parsed("python", [b"# filler\n" * 300_000] * 2, 2))
    assert failure.value.kind == "symbol-worker"


@given(st.lists(st.binary(max_size=9)), st.integers(1, 4))
def test_frames_and_shares_lose_nothing(blobs, processes):
    joined = framed(blobs)
    shares = symbols_cache._shares(blobs, processes)

    assert list(unframed(joined)) == blobs
    assert sorted(number for share in shares for number in share) == list(range(len(blobs)))
    if blobs:
        with pytest.raises(ValueError, match="cut short"):
            list(unframed(joined[:-1]))


@pytest.mark.parametrize("first", [{}, {"pkg/shapes.py": b"class Circle: ...\n", "z.py": b"def z(): ...\n"}])
def test_cold_warm_and_partly_new_builds_give_the_same_bytes(memory_source, rules, folder, tmp_path, first):
    def built(where: Path, *others) -> bytes:
        for number, files in enumerate((*others, SOURCES)):
            corpus = build_corpus(memory_source(files), "", "python", rules, cache=folder)
            build_symbols(corpus, "python", cache=Cache(where), folder=where / str(number))
        return next((where / str(len(others))).glob("*.symbols")).read_bytes()

    assert built(tmp_path / "cold") == built(tmp_path / "partly", first) == built(tmp_path / "warm", SOURCES)
