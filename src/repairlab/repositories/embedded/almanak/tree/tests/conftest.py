"""Records that many tests share."""

import datetime as dt

import pytest

from almanak import execute

TODAY = dt.date(2024, 6, 10)


@pytest.fixture
def tasks():
    """A small to-do list; some tasks have no day or no place."""
    return [
        {"title": "sow beans", "due": dt.date(2024, 5, 12), "hours": 2, "tags": ["garden"], "done": True},
        {"title": "mend gate", "due": dt.date(2024, 6, 20), "hours": 5, "tags": ["repair", "garden"], "done": False},
        {"title": "call aunt", "due": None, "hours": None, "tags": [], "done": False},
        {"title": "file taxes", "due": dt.date(2024, 6, 8), "hours": 3.5, "tags": ["paper"], "done": False},
    ]


@pytest.fixture
def run(tasks):
    """Runs a query on the to-do list and gives a list of rows."""

    def run(query):
        sources = {"tasks": tasks}
        return execute(query, sources.__getitem__, today=TODAY).rows()

    return run


@pytest.fixture
def titles(run):
    """Runs a query and gives the titles that come out."""

    def titles(query):
        return [row[0] for row in run(f"{query} | show title")]

    return titles
