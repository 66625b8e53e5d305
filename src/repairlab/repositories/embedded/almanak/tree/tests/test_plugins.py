import datetime as dt
import types

import pytest

from almanak.engine.functions import builtin as functions
from almanak.errors import PluginProblem
from almanak.formats.registry import Formats
from almanak.plugins.loader import Hooks, load_all
from almanak.templates.filters import builtin as filters


@pytest.fixture
def hooks():
    return Hooks(functions(dt.date(2024, 6, 10)), filters(), Formats())


def module(register):
    plugin = types.ModuleType("plugin")
    plugin.register = register
    return lambda name: plugin


def test_a_plugin_adds_to_all_three(hooks):
    def register(given):
        given.add_function("double", lambda v: v * 2, least=1, most=1)
        given.add_filter("shout", lambda v: f"{v}!")
        given.add_format("count", lambda result: str(len(result.records)))

    assert load_all(["p"], hooks, module(register)) == ["p"]
    assert hooks.functions.get("double")(4) == 8
    assert not hooks.functions.get("double").pure
    assert hooks.filters["shout"]("x") == "x!"
    assert "count" in hooks.formats.names()


@pytest.mark.parametrize(
    "claim",
    [
        lambda given: given.add_function("upper", str),
        lambda given: given.add_filter("pad", str),
        lambda given: given.add_format("table", str),
    ],
)
def test_what_is_taken(hooks, claim):
    with pytest.raises(PluginProblem, match="plugin 'p': there is a"):
        load_all(["p"], hooks, module(claim))


def test_no_module(hooks):
    with pytest.raises(PluginProblem, match="cannot be imported"):
        load_all(["almanak.no_such_plugin"], hooks)


def test_no_register(hooks):
    with pytest.raises(PluginProblem, match="no function register"):
        load_all(["almanak.values"], hooks)
