import datetime as dt
import io

import pytest

from almanak.cli.main import main

CSV = "title,due,hours\nsow,2024-05-12,2\nmend,2024-06-20,5\ncall,,\n"


@pytest.fixture
def cli(tmp_path):
    """Runs the command line in a folder with one source."""
    (tmp_path / "almanak.toml").write_text("root = true\n")
    (tmp_path / "tasks.csv").write_text(CSV)

    def cli(*arguments):
        out, err = io.StringIO(), io.StringIO()
        status = main(arguments, base=tmp_path, today=dt.date(2024, 6, 10), out=out, err=err)
        return status, out.getvalue(), err.getvalue()

    return cli


def test_run(cli):
    assert cli("run", "tasks | where due < today()") == (0, "title  due         hours\n-----  ----------  -----\nsow    2024-05-12      2\n", "")


def test_formats_and_settings(cli):
    assert cli("--missing", "?", "run", "tasks | skip 2", "--format", "csv")[1] == "title,due,hours\ncall,?,?\n"
    assert cli("--width", "3", "run", "tasks | show title | take 2")[1] == "ti…\n---\nsow\nme…\n"


def test_views(cli):
    cli("run", "tasks | where hours > 2", "--save", "long", "--format", "csv")
    assert cli("views") == (0, "long\n", "")
    assert cli("view", "long", "--format", "csv")[1] == "title,due,hours\nmend,2024-06-20,5\n"
    assert cli("views", "--remove", "long")[1] == ""


def test_check(cli):
    assert cli("check", "tasks|where not(a=1)|take 3")[1] == "tasks | where not a = 1 | take 3\n"


def test_sources(cli):
    assert cli("sources")[1] == "tasks\n"


def test_report(cli, tmp_path):
    (tmp_path / "report.txt").write_text("{{ today }}\n{% for t in late %}\n- {{ t.title }}\n{% end %}\n")
    assert cli("report", "report.txt", "late=tasks | where due < today()")[1] == "2024-06-10\n- sow\n"


@pytest.mark.parametrize(
    ("arguments", "status", "problem"),
    [
        (["run", "tasks | where ?"], 2, "line 1, column 15"),
        (["run", "nothing"], 1, "no source 'nothing'"),
        (["run", "tasks | where title + 1"], 1, "a text and a number"),
        (["run", "tasks", "--format", "pdf"], 1, "not among the formats"),
        (["view", "gone"], 1, "no view 'gone'"),
        (["report", "gone.txt"], 1, "gone.txt"),
        (["report", "gone.txt", "x"], 1, "NAME=QUERY"),
        (["--width", "-1", "run", "tasks"], 1, "below 0"),
    ],
)
def test_problems(cli, arguments, status, problem):
    code, out, err = cli(*arguments)
    assert (code, out) == (status, "")
    assert problem in err
