import unittest

import pytest

from almanak.config.loader import load
from almanak.config.settings import Settings, check, merge
from almanak.errors import ConfigProblem


class MergeTest(unittest.TestCase):
    def test_nothing(self):
        self.assertEqual(merge(), Settings())

    def test_later_layers_win(self):
        self.assertEqual(merge({"width": 1, "format": "csv"}, {"width": 2}), Settings(width=2, format="csv"))

    def test_plugins_add_up(self):
        self.assertEqual(merge({"plugins": ["a", "b"]}, {"plugins": ["b", "c"]}).plugins, ("a", "b", "c"))

    def test_sources_add_up(self):
        merged = merge({"sources": {"x": "1", "y": "2"}}, {"sources": {"y": "3"}})
        self.assertEqual(merged.sources, {"x": "1", "y": "3"})


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ({"colour": "red"}, "not among"),
        ({"width": "wide"}, "want a int"),
        ({"width": True}, "want a int"),
        ({"width": -1}, "below 0"),
        ({"plugins": [1]}, "no text"),
        ({"sources": {"a": 1}}, "no text"),
    ],
)
def test_check_refuses(data, problem):
    with pytest.raises(ConfigProblem, match=problem):
        check(data, "here")


def test_nearer_files_win(tmp_path):
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "almanak.toml").write_text("root = true\nwidth = 10\nmissing = '?'\n[sources]\nx = 'data/x.csv'\n")
    (inner / "almanak.toml").write_text("width = 20\n")
    settings = load(inner, {"format": "csv"})
    assert (settings.width, settings.missing, settings.format) == (20, "?", "csv")
    assert settings.sources == {"x": "../../data/x.csv"}


def test_root_ends_the_search(tmp_path):
    inner = tmp_path / "a"
    inner.mkdir()
    (tmp_path / "almanak.toml").write_text("root = true\nwidth = 10\n")
    (inner / "almanak.toml").write_text("root = true\n")
    assert load(inner) == Settings()


@pytest.mark.parametrize(("text", "problem"), [("width =", "almanak.toml"), ("root = 1", "root is true or false")])
def test_bad_files(tmp_path, text, problem):
    (tmp_path / "almanak.toml").write_text(text)
    with pytest.raises(ConfigProblem, match=problem):
        load(tmp_path)
