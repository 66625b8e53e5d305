"""The one setting that says where repositories come from."""

from __future__ import annotations

import pytest

from repairlab.contract.errors import BadInput
from repairlab.repositories.sources import Sources, slug

URL = "https://github.com/owner-1/na.me"


@pytest.mark.parametrize(
    ("template", "place"),
    [
        ("{url}", URL),
        ("/clones/{owner}+{name}/repo", "/clones/owner-1+na.me/repo"),
        (
            "https://mirror.invalid/{host}/{owner}/{name}.git",
            "https://mirror.invalid/github.com/owner-1/na.me.git",
        ),
    ],
)
def test_template_is_filled_in(template, place):
    assert Sources(template).locate(URL) == place


def test_default_is_the_tasks_own_url():
    assert Sources().locate(URL) == URL


def test_ending_of_a_git_url_is_no_part_of_the_name():
    assert Sources("/c/{name}").locate(URL + ".git") == "/c/na.me"


@pytest.mark.parametrize("template", ["/c/{repo}", "/c/{owner", "relative/{name}", "{owner}/x", "/c/{}"])
def test_malformed_template_is_bad_input(template):
    with pytest.raises(BadInput, match="template of sources"):
        Sources(template)


@pytest.mark.parametrize(
    "repository", ["https://h.invalid/../etc", "https://h.invalid/a/..", "ftp://h/a/b", "https://h.invalid/"]
)
def test_url_that_could_leave_the_template_is_bad_input(repository):
    with pytest.raises(BadInput):
        Sources("/c/{owner}/{name}").locate(repository)


def test_url_without_an_owner_is_bad_input_only_where_one_is_asked_for():
    assert Sources("/c/{name}").locate("https://h.invalid/tools") == "/c/tools"
    with pytest.raises(BadInput, match="no owner"):
        Sources("/c/{owner}/{name}").locate("https://h.invalid/tools")


def test_embedded_repository_has_no_place():
    with pytest.raises(BadInput, match="built"):
        Sources().locate("embedded:small")


def test_slugs_differ_for_different_repositories():
    urls = [
        URL,
        URL + "x",
        "https://gitlab.com/owner-1/na.me",
        "embedded:small",
        "https://github.com/owner-1/a/b",
    ]
    assert len({slug(url) for url in urls}) == len(urls)
    assert all("/" not in slug(url) for url in urls)
