import datetime as dt
import unittest

import pytest

from almanak.errors import SourceProblem
from almanak.sources.catalogue import Catalogue
from almanak.sources.fields import flatten
from almanak.sources.files import read, read_csv, read_jsonl, read_toml

DAY = dt.date(2024, 6, 1)


class CsvTest(unittest.TestCase):
    def test_values(self):
        rows = list(read_csv('name, day ,n\nx,2024-06-01,\n"a, b",,3\n', "t"))
        self.assertEqual(rows, [{"name": "x", "day": DAY, "n": None}, {"name": "a, b", "day": None, "n": 3}])

    def test_line_breaks_in_cells(self):
        self.assertEqual(list(read_csv('a\n"x\ny"\n', "t")), [{"a": "x\ny"}])

    def test_empty(self):
        self.assertEqual(list(read_csv("", "t")), [])


class JsonLinesTest(unittest.TestCase):
    def test_values(self):
        text = '{"a": "2024-06-01", "b": {"c": [1, "12"]}}\n\n{"a": "12"}\n'
        self.assertEqual(list(read_jsonl(text, "t")), [{"a": DAY, "b.c": [1, "12"]}, {"a": "12"}])


class TomlTest(unittest.TestCase):
    def test_values(self):
        text = "title = 'x'\n[[task]]\nday = 2024-06-01\nat = 2024-06-01T08:00:00\n[[task]]\nn = 1\n"
        self.assertEqual(list(read_toml(text, "t")), [{"day": DAY, "at": DAY}, {"n": 1}])


@pytest.mark.parametrize(
    ("reader", "text", "problem"),
    [
        (read_csv, "a,a\n1,2\n", "not all different"),
        (read_csv, "a,b\n1\n", "t:2: 1 cells under 2 names"),
        (read_csv, 'a\n"x\n', "t:2"),
        (read_jsonl, "{}\n[1]\n", "t:2: a record is an object"),
        (read_jsonl, "{\n", "t:1"),
        (read_toml, "a = 1\n", "0 arrays"),
        (read_toml, "a = \n", "t: "),
        (read_toml, "[[a]]\nt = 08:00:00\n", "cannot hold the time"),
    ],
)
def test_refusals(reader, text, problem):
    with pytest.raises(SourceProblem, match=problem):
        list(reader(text, "t"))


def test_flatten():
    assert flatten({"a": {"b": 1, "c": {"d": 2}}, "e": [{"x": 1, "y": "z"}, 3]}) == {"a.b": 1, "a.c.d": 2, "e": ["1 z", 3]}


def test_read_goes_by_the_suffix(tmp_path):
    path = tmp_path / "x.CSV"
    path.write_bytes(b"\xef\xbb\xbfa\n1\n")
    assert read(path) == [{"a": 1}]
    with pytest.raises(SourceProblem, match="not among"):
        read(tmp_path / "x.xls")
    with pytest.raises(SourceProblem, match=r"gone\.csv"):
        read(tmp_path / "gone.csv")


def test_catalogue(tmp_path):
    (tmp_path / "a.csv").write_text("n\n1\n")
    (tmp_path / "b.csv").write_text("n\n2\n")
    (tmp_path / "b.jsonl").write_text('{"n": 3}\n')
    catalogue = Catalogue(tmp_path, {"named": "b.jsonl"})
    catalogue.add("mine", [{"n": 4}])
    assert catalogue.names() == ["a", "b", "mine", "named"]
    assert [catalogue.lookup(name) for name in ("a", "named", "mine")] == [[{"n": 1}], [{"n": 3}], [{"n": 4}]]
    with pytest.raises(SourceProblem, match=r"b\.csv or b\.jsonl"):
        catalogue.lookup("b")
    with pytest.raises(SourceProblem, match="no source"):
        catalogue.lookup("c")
