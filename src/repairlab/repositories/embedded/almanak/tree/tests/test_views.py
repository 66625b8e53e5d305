import pytest

from almanak.errors import ConfigProblem
from almanak.syntax.parser import parse_query
from almanak.views.store import Views


@pytest.fixture
def views(tmp_path):
    return Views(tmp_path / "almanak.views")


@pytest.mark.parametrize(
    "text",
    [
        "tasks | where not done | sort by due",
        'tasks | where title = "say \\"hi\\": now"',
        'tasks | where note = "two\\nlines"',
        "tasks | where `due date` < 2024-06-01",
        'tasks | where title = "odd\u2028break"',
    ],
)
def test_save_and_load(views, text):
    views.save("mine", parse_query(text))
    assert views.load("mine") == parse_query(text)


def test_names_and_order(views):
    for name in ("b", "a"):
        views.save(name, parse_query("tasks"))
    assert views.names() == ["a", "b"]


def test_comments_stay(views, tmp_path):
    path = tmp_path / "almanak.views"
    path.write_text("# mine\na: tasks\n\nb: notes\n")
    views.save("a", parse_query("tasks | take 1"))
    views.remove("b")
    assert path.read_text() == "# mine\na: tasks | take 1\n\n"


@pytest.mark.parametrize(
    ("text", "problem"),
    [("a: x\na: y\n", ":2: a second view"), ("nonsense\n", ":1: no view"), ("a: x |\n", "view 'a': line 1")],
)
def test_bad_files(views, tmp_path, text, problem):
    (tmp_path / "almanak.views").write_text(text)
    with pytest.raises(ConfigProblem, match=problem):
        views.load("a")


def test_refusals(views):
    for action in (lambda: views.load("x"), lambda: views.remove("x"), lambda: views.save("Bad Name", parse_query("t"))):
        with pytest.raises(ConfigProblem):
            action()
