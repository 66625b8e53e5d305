import datetime as dt
import json
import unittest

from almanak.engine.run import Result
from almanak.errors import ConfigProblem, PluginProblem
from almanak.formats.data import render_csv, render_jsonl
from almanak.formats.registry import Formats

RESULT = Result(
    ("day", "tags", "note"),
    ({"day": dt.date(2024, 6, 1), "tags": ["a", "b"], "note": 'say "hi", you'}, {"day": None, "tags": [], "note": "é"}),
)


class CsvTest(unittest.TestCase):
    def test_render(self):
        expected = 'day,tags,note\n2024-06-01,a;b,"say ""hi"", you"\n-,,é\n'
        self.assertEqual(render_csv(RESULT, missing="-"), expected)

    def test_no_columns(self):
        self.assertEqual(render_csv(Result((), ())), "")


class JsonLinesTest(unittest.TestCase):
    def test_render(self):
        records = [json.loads(line) for line in render_jsonl(RESULT, missing="-").splitlines()]
        self.assertEqual(records[0], {"day": "2024-06-01", "tags": ["a", "b"], "note": 'say "hi", you'})
        self.assertEqual(records[1], {"day": None, "tags": [], "note": "é"})


class RegistryTest(unittest.TestCase):
    def test_names(self):
        self.assertEqual(Formats().names(), ["csv", "jsonl", "markdown", "table"])

    def test_render(self):
        result = Result(("a",), ({"a": None},))
        self.assertEqual(Formats(missing="?").render("csv", result), "a\n?\n")

    def test_unknown(self):
        with self.assertRaisesRegex(ConfigProblem, "not among the formats"):
            Formats().render("pdf", RESULT)

    def test_taken(self):
        with self.assertRaises(PluginProblem):
            Formats().add("csv", str)
