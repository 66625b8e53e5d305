from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from repairlab.contract.errors import BadInput
from repairlab.repositories import embedded
from repairlab.search.cache import Cache
from repairlab.search.corpus import build_corpus
from repairlab.search.graph import Link, SymbolGraph
from repairlab.search.graph_resolve import How
from repairlab.search.graph_search import GraphSearch, Relation, Seed
from repairlab.search.symbols_index import build_symbols

EMBEDDED = Path(embedded.__file__).parent / "embedded"


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("graph")


@pytest.fixture
def graph(memory_source, rules, folder, controls):
    def build(files, language="python", **rule) -> SymbolGraph:
        data = {path: text.encode() for path, text in files.items()}
        corpus = build_corpus(memory_source(data), "", language, rules, cache=folder)
        index = build_symbols(corpus, language, cache=Cache(folder), folder=folder)
        return SymbolGraph(index, controls.graph.model_copy(update=rule))

    return build


@pytest.fixture
def finder(graph, controls):
    def make(files, language="python", **rule) -> GraphSearch:
        return GraphSearch(graph(files, language, **rule), controls.search, controls.view, controls.fusion)

    return make


def node_of(graph: SymbolGraph, name: str) -> int:
    """The symbol with this qualified name, or the file with this path."""
    file = graph.index.corpus.id_of(name)
    if file is not None:
        return len(graph.index.definitions) + file
    found = [n for n in range(len(graph.index.definitions)) if graph.index.symbol(n).qualified == name]
    assert len(found) == 1, (name, found)
    return found[0]


def edges(graph: SymbolGraph, name: str, link: Link) -> set[tuple[str, str, How]]:
    """(source, target, how) of the edges at a node."""
    found, _ = graph.edges_at(node_of(graph, name))
    return {(graph.node(e.source).name, graph.node(e.target).name, e.how) for e in found if e.link is link}


def called_by(graph: SymbolGraph, name: str) -> set[tuple[str, How]]:
    """What a node calls, and how that is known."""
    return {(target, how) for source, target, how in edges(graph, name, Link.CALLS) if source == name}


class TestPythonCalls:
    def test_a_plain_name_is_looked_up_from_the_inside_out(self, graph):
        built = graph(
            {
                "m.py": "def help(): ...\n\ndef outer():\n    def help(): ...\n    def inner():\n"
                "        help()\n    inner()\n\nclass C:\n    def help(self): ...\n"
                "    def run(self):\n        help()\n"
            }
        )
        assert called_by(built, "m.outer.inner") == {("m.outer.help", How.SCOPE)}
        assert called_by(built, "m.outer") == {("m.outer.inner", How.SCOPE)}
        assert called_by(built, "m.C.run") == {("m.help", How.SCOPE)}  # methods are no plain names

    def test_imports_lead_to_other_files_under_any_alias(self, graph):
        built = graph(
            {
                "p/__init__.py": "from .core import make as build\n",
                "p/core.py": "def make(): ...\nclass Box:\n    def open(self): ...\n",
                "p/sub.py": "from . import core\nfrom .core import *\ndef f():\n    core.make()\n    Box()\n",
                "use.py": "import p.core\nimport p.core as q\nfrom p import build\n"
                "from p.core import Box as B\n"
                "def a(): p.core.make()\ndef b(): q.make()\ndef c(): build()\ndef d(): B.open(1)\n"
                "def e():\n    p.build()\n",
            }
        )
        make = {("p.core.make", How.IMPORT)}
        for name in ("a", "b", "c", "e"):
            assert called_by(built, f"use.{name}") == make, name
        assert called_by(built, "use.d") == {("p.core.Box.open", How.IMPORT)}
        assert called_by(built, "p.sub.f") == make | {("p.core.Box", How.IMPORT)}
        callers = {source for source, _, _ in edges(built, "p.core.make", Link.CALLS)}
        assert callers == {"use.a", "use.b", "use.c", "use.e", "p.sub.f"}

    def test_self_and_super_go_by_the_class_and_its_bases(self, graph):
        built = graph(
            {
                "base.py": "class Base:\n    def shared(self): ...\n    def mine(self): ...\n",
                "m.py": "import base\nclass Mid(base.Base): ...\nclass C(Mid):\n    def mine(self):\n"
                "        super().mine()\n        self.mine()\n        self.shared()\n"
                "class Other:\n    def shared(self): ...\n    def mine(self): ...\n",
            }
        )
        assert called_by(built, "m.C.mine") == {
            ("base.Base.mine", How.SCOPE),
            ("base.Base.shared", How.SCOPE),
        }

    def test_an_unknown_receiver_goes_by_name_as_far_as_the_rule_lets_it(self, graph):
        several = "".join(f"class C{n}:\n    def common(self): ...\n" for n in range(3))
        files = {
            "m.py": several + "class D:\n    def only(self): ...\n\ndef only(): ...\n",
            "use.py": "def f(x):\n    x.only()\n    x[0].common()\n    x.nowhere()\n",
        }
        ambiguous = {(f"m.C{n}.common", How.AMBIGUOUS) for n in range(3)}
        unique = {("m.D.only", How.UNIQUE)}

        assert called_by(graph(files, candidates=3), "use.f") == unique | ambiguous
        assert called_by(graph(files, candidates=2), "use.f") == unique

    def test_foreign_names_lead_nowhere(self, graph):
        built = graph(
            {
                "m.py": "def dumps(): ...\ndef len(): ...\nclass K:\n    def get(self): ...\n",
                "use.py": "import json\nfrom os import path\n"
                "def f(cb):\n    json.dumps(1)\n    len([])\n    cb()\n    path.get(1)\n",
            }
        )
        assert called_by(built, "use.f") == set()

    def test_a_star_of_a_foreign_module_leaves_names_open(self, graph):
        built = graph({"m.py": "def helper(): ...\n", "use.py": "from foreign import *\ndef f(): helper()\n"})

        assert called_by(built, "use.f") == {("m.helper", How.UNIQUE)}

    def test_module_level_code_calls_in_the_name_of_its_file(self, graph):
        built = graph({"m.py": "def f(): ...\nf()\n"})

        assert edges(built, "m.f", Link.CALLS) == {("m.py", "m.f", How.SCOPE)}

    def test_recursion_is_no_neighbour(self, graph):
        assert called_by(graph({"m.py": "def f(): f()\n"}), "m.f") == set()

    @pytest.mark.parametrize(
        "files",
        [
            {"m.py": "class A(A.B):\n    def f(self): self.g()\n"},
            {"m.py": "class A(B): ...\nclass B(A):\n    def f(self): self.g()\n"},
            {"m.py": "class A(B.X):\n    def f(self): self.g()\nclass B(A.X): ...\n"},
            {
                "a.py": "from b import *\nfrom b import g\ndef f(): g()\n",
                "b.py": "from a import *\nfrom a import g\n",
            },
            {"m.py": "from m import g\nimport m\ndef f():\n    g()\n    m.m.m.g()\n"},
        ],
    )
    def test_circles_of_bases_and_imports_come_to_an_end(self, graph, files):
        built = graph(files)
        for number in range(len(built.index.definitions)):
            assert isinstance(built.edges_at(number), tuple)

    def test_many_modules_that_pass_everything_on_to_each_other_come_to_an_end(self, graph):
        stars = "".join(f"from m{n} import *\n" for n in range(40))
        files = {f"m{n}.py": stars for n in range(40)} | {"use.py": "from m0 import *\ndef f(): missing()\n"}
        begin = time.process_time()
        assert called_by(graph(files), "use.f") == set()
        assert time.process_time() - begin < 5


GO = {
    "store/store.go": "package store\n\ntype Memory struct{}\n\n"
    "func New() *Memory { return check(&Memory{}) }\n",
    "store/more.go": "package store\n\nfunc check(m *Memory) *Memory { return m }\n\n"
    "func (m *Memory) Put(x int) { m.lock(); m.Put2(x); other.Put(1) }\n\nfunc (m *Memory) lock() {}\n",
    "store/store_test.go": 'package store_test\n\nimport "ex.org/mill/store"\n\n'
    "func TestPut() { store.New().Put(1) }\n",
    "main.go": 'package main\n\nimport (\n\ts "ex.org/mill/store"\n\t"sort"\n)\n\n'
    "func main() { s.New(); sort.New(); q := s.New(); q.lock(); New() }\n",
}


class TestGo:
    @pytest.fixture
    def built(self, graph):
        return graph(GO, "go")

    def test_a_package_is_one_scope_over_its_files(self, built):
        assert called_by(built, "store.New") == {("store.check", How.SCOPE)}

    def test_receivers_and_imports_are_followed(self, built):
        # `other` is unknown, and Put the only method of this name: but a call of itself is no neighbour.
        assert called_by(built, "store.Memory.Put") == {("store.Memory.lock", How.SCOPE)}
        assert called_by(built, "main.main") == {
            ("store.New", How.IMPORT),
            ("store.Memory.lock", How.UNIQUE),
        }
        assert called_by(built, "store_test.TestPut") == {
            ("store.New", How.IMPORT),
            ("store.Memory.Put", How.UNIQUE),
        }

    def test_a_type_defines_its_methods_wherever_they_stand(self, built):
        assert edges(built, "store.Memory", Link.DEFINES) == {
            ("store.Memory", "store.Memory.Put", How.SCOPE),
            ("store.Memory", "store.Memory.lock", How.SCOPE),
            ("store/store.go", "store.Memory", How.SCOPE),
        }
        assert edges(built, "store/more.go", Link.DEFINES) == {("store/more.go", "store.check", How.SCOPE)}

    def test_an_import_leads_to_the_files_of_the_package_but_its_tests(self, built):
        imports = {
            ("main.go", "store/store.go", How.IMPORT),
            ("main.go", "store/more.go", How.IMPORT),
        }
        assert edges(built, "main.go", Link.IMPORTS) == imports
        assert ("main.go", "store/more.go", How.IMPORT) in edges(built, "store/more.go", Link.IMPORTS)


def test_imports_are_seen_from_both_ends(graph):
    built = graph(
        {
            "p/__init__.py": "",
            "p/core.py": "def make(): ...\n",
            "p/sib.py": "from .core import make\n",
            "use.py": "from p import core\n",
            "star.py": "from p.core import *\n",
        }
    )
    importers = {source for source, _, _ in edges(built, "p/core.py", Link.IMPORTS)}

    assert importers == {"p/sib.py", "use.py", "star.py"}
    assert edges(built, "p.core.make", Link.IMPORTS) == {("p/sib.py", "p.core.make", How.IMPORT)}
    assert edges(built, "use.py", Link.IMPORTS) == {
        ("use.py", "p/core.py", How.IMPORT),
        ("use.py", "p/__init__.py", How.IMPORT),
    }


def test_of_modules_that_share_a_name_the_one_in_the_same_folder_is_meant(graph):
    built = graph(
        {"a/util.py": "def u(): ...\n", "b/util.py": "def u(): ...\n", "b/use.py": "import util\nutil.u()\n"}
    )
    assert edges(built, "b/use.py", Link.IMPORTS) == {("b/use.py", "b/util.py", How.IMPORT)}


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(
        st.sampled_from(["a.py", "b.py", "p/__init__.py", "p/c.py"]),
        st.lists(
            st.sampled_from(
                [
                    "def f(): g()\n",
                    "def g(x): x.f()\n",
                    "class T:\n def f(self): self.g()\n def g(self): f()\n",
                    "class U(T): ...\n",
                    "from b import *\n",
                    "from p.c import f as g\n",
                    "import a\na.g()\n",
                    "g()\n",
                    "from . import c\n",
                    "class V(p.c.T):\n def f(self): super().f()\n",
                    "import p.c\np.c.f()\n",
                ]
            ),
            max_size=5,
        ).map("".join),
        min_size=1,
    )
)
def test_an_edge_is_seen_from_both_ends_and_from_a_fresh_graph(graph, files):
    built = graph(files)
    total = len(built.index.definitions) + len(built.index.corpus.files)
    at = {node: built.edges_at(node)[0] for node in range(total)}
    fresh = graph(files)
    for node in reversed(range(total)):  # another order of questions, the same answers
        assert fresh.edges_at(node)[0] == at[node]
        for edge in at[node]:
            other = edge.target if edge.source == node else edge.source
            ends = {(e.source, e.target, e.link, e.how) for e in at[other]}
            assert (edge.source, edge.target, edge.link, edge.how) in ends


CHAIN = {
    "a.py": "from b import middle\n\n\ndef top():\n    middle()\n",
    "b.py": "from c import leaf\n\n\ndef middle():\n    leaf()\n",
    "c.py": "def leaf():\n    pass\n",
    "d.py": "from c import leaf\nprint(1)\n",
}


class TestSearch:
    def test_one_step_around_the_seeds_with_the_relation(self, finder):
        ranking, hits = finder(CHAIN).find([Seed("b.py", 5)])
        relations = {(n.relation, n.node.name, n.line) for file in ranking.files for n in file.neighbours}

        assert [hit.path for hit in hits] == ["c.py", "a.py", "b.py"]
        assert relations == {
            (Relation.CALLS, "c.leaf", 1),
            (Relation.CALLED_BY, "a.top", 5),
            (Relation.IMPORTED_BY, "a.py", 1),
            (Relation.DEFINED_IN, "b.py", 1),
        }
        assert hits[1].matching_lines == (1, 5)
        assert hits[0].components == {"graph": 1}

    def test_the_answer_in_words(self, finder):
        search = finder(CHAIN)
        ranking, _ = search.find([Seed("b.py", 5), Seed("none.py", 1)])

        assert search.summary(ranking) == (
            "seed 1: b.middle (b.py, line 4)\n"
            "1. seed 1 calls c.leaf (line 1)\n"
            "2. seed 1 called by a.top (line 5); seed 1 imported by a.py (line 1)\n"
            "3. seed 1 defined in b.py (line 1)\n"
            "note: none.py, line 1: not in the graph"
        )

    def test_a_line_outside_of_every_symbol_stands_for_its_file(self, finder):
        ranking, hits = finder(CHAIN).find([Seed("d.py", 2)])

        assert ranking.seeds[0].name == "d.py"
        assert [hit.path for hit in hits] == ["c.py"]

    def test_a_file_next_to_more_seeds_comes_first(self, finder):
        ranking = finder(CHAIN).rank([Seed("c.py", 1), Seed("a.py", 4)], 5)

        assert ranking.files[0].path == "b.py"
        assert {n.rank for n in ranking.files[0].neighbours} == {1, 2}

    def test_an_ambiguous_relation_counts_for_its_share(self, finder):
        files = {
            "k.py": "class K:\n    def m(self): ...\n",
            "l.py": "class L:\n    def m(self): ...\n",
            "seed.py": "from z import sure\n\ndef f(x):\n    x.m()\n    sure()\n",
            "z.py": "def sure(): ...\n",
        }
        search = finder(files)
        ranking = search.rank([Seed("seed.py", 3)], 5)

        assert [file.path for file in ranking.files] == ["z.py", "seed.py", "k.py", "l.py"]
        assert ranking.files[2].score * 2 == ranking.files[0].score
        assert "one of 2 with this name" in search.summary(ranking)

    @pytest.mark.parametrize(
        "seeds", [[], [Seed("none.py", 1)], [Seed("a.py", 0)], [Seed("a.py", 99)], [Seed("a.py", -1)]]
    )
    def test_s12_unknown_seeds_are_dropped_and_noted(self, finder, seeds):
        search = finder(CHAIN)
        ranking, hits = search.find(seeds)

        assert hits == ()
        assert ranking.seeds == ()
        assert len(ranking.notes) == len(seeds)
        assert search.summary(ranking).startswith("No seed is in the graph.")

    def test_s12_a_graph_without_edges_gives_an_empty_answer(self, finder):
        search = finder({"a.py": "", "b.py": "1\n"})
        ranking, hits = search.find([Seed("a.py", 1), Seed("b.py", 1)])

        assert hits == ()
        assert search.summary(ranking).splitlines()[2] == "Nothing in the graph is next to the seeds."

    def test_s12_an_empty_corpus_gives_an_empty_answer(self, finder):
        assert finder({}).find([Seed("a.py", 1)])[1] == ()

    def test_two_seeds_at_one_node_are_one_seed(self, finder):
        once = finder(CHAIN).rank([Seed("b.py", 4)], 5)
        twice = finder(CHAIN).rank([Seed("b.py", 4), Seed("b.py", 5)], 5)

        assert once == twice

    def test_bounds_hold_and_are_told(self, finder):
        files = {f"u{n}.py": "from c import leaf\nleaf()\n" for n in range(9)} | {"c.py": "def leaf(): ...\n"}
        few = finder(files, edges=3).rank([Seed("c.py", 1)], 50)
        cut = finder(files, references=4).rank([Seed("c.py", 1)], 50)

        assert few.matching_files == 4
        assert "c.leaf: the first 3 of 9 callers" in few.notes
        assert "c.leaf: callers among the first 4 of 9 calls by this name" in cut.notes
        assert len(finder(files, seeds=1).rank([Seed("c.py", 1), Seed("u1.py", 1)], 50).seeds) == 1

    def test_more_than_one_step_is_refused(self, graph, controls):
        with pytest.raises(BadInput, match="hops"):
            GraphSearch(graph(CHAIN, hops=2), controls.search, controls.view, controls.fusion)


def test_two_steps_reach_further_than_one(graph):
    built = graph(CHAIN)
    start = node_of(built, "a.top")
    one, _ = built.around([start], 1)
    two, _ = built.around([start], 2)

    assert node_of(built, "c.leaf") not in one
    assert node_of(built, "c.leaf") in two
    assert two.has_edge(start, node_of(built, "b.middle"), Link.CALLS)


def test_thirty_thousand_symbols_are_no_burden(finder):
    files = {
        f"m{n}.py": "".join(f"def f{n}_{k}():\n    common()\n    f{n}_{k + 1}()\n\n\n" for k in range(300))
        + "from hub import common\n"
        for n in range(100)
    } | {"hub.py": "def common(): ...\n"}
    search = finder(files)
    begin = time.process_time()
    ranking = search.rank([Seed("hub.py", 1), *(Seed(f"m{n}.py", 1) for n in range(4))], 50)
    spent = time.process_time() - begin

    assert len(ranking.seeds) == 5
    assert sum(len(file.neighbours) for file in ranking.files) <= 5 * 6 * 50
    assert "hub.common: callers among the first 5000 of 30000 calls by this name" in ranking.notes
    assert spent < 3


def test_the_embedded_repositories_have_edges_of_every_kind(memory_source, rules, folder, controls):
    for name, language in (("ledgerline", "python"), ("millrace", "go")):
        root = EMBEDDED / name / "tree"
        files = {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}
        corpus = build_corpus(memory_source(files), "", language, rules, cache=folder)
        built = SymbolGraph(
            build_symbols(corpus, language, cache=Cache(folder), folder=folder), controls.graph
        )
        total = len(built.index.definitions) + len(corpus.files)
        found = [edge for node in range(total) for edge in built.edges_at(node)[0]]
        kinds = {(edge.link, edge.how) for edge in found}

        assert {(Link.CALLS, How.SCOPE), (Link.CALLS, How.IMPORT), (Link.IMPORTS, How.IMPORT)} <= kinds
        assert (Link.CALLS, How.UNIQUE) in kinds
