"""Where repositories come from: one setting, a template over the parts of a task's repository URL."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from repairlab.contract.errors import BadInput
from repairlab.repositories.embedded import PREFIX

UPSTREAM: Final = "{url}"

_FIELDS: Final = ("url", "host", "owner", "name")
_FIELD: Final = re.compile(r"\{([^{}]*)\}")
_PART: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")


@dataclass(frozen=True, slots=True)
class Sources:
    """The setting. `template` may hold ``{url}``, ``{host}``, ``{owner}`` and ``{name}``.

    The default is the task's own URL. A folder of clones is named by an absolute path, such as
    ``/clones/{owner}/{name}.git``. Embedded repositories do not depend on it.

    Raises:
        BadInput: an unknown field, or a path that is not absolute.
    """

    template: str = UPSTREAM

    def __post_init__(self) -> None:
        unknown = sorted(set(_FIELD.findall(self.template)) - set(_FIELDS))
        rest = _FIELD.sub("", self.template)
        if unknown or "{" in rest or "}" in rest:
            wrong = f"{{{unknown[0]}}}" if unknown else "an unpaired brace"
            raise BadInput(
                f"the template of sources holds {wrong}: {self.template}",
                repair="Fields: " + ", ".join(f"{{{field}}}" for field in _FIELDS),
            )
        if not self.template.startswith(("{url}", "/")) and "://" not in self.template:
            raise BadInput(f"the template of sources is neither a URL nor an absolute path: {self.template}")

    def locate(self, repository: str) -> str:
        """URL or absolute path that ``git clone`` takes for a task's `repository`.

        Raises:
            BadInput: an embedded repository (it has no place), or a URL without the parts that are asked for.
        """
        if repository.startswith(PREFIX):
            raise BadInput(f"{repository} is built, not fetched")
        parts = _parts(repository)
        asked = set(_FIELD.findall(self.template))
        for field in sorted(asked):
            if not parts[field]:
                raise BadInput(f"{repository}: no {field} in this URL for the template {self.template}")
        return _FIELD.sub(lambda match: parts[match[1]], self.template)


def slug(repository: str) -> str:
    """A folder name for `repository`, different for different ones: ``github.com+owner+name``."""
    if repository.startswith(PREFIX):
        return "embedded+" + repository.removeprefix(PREFIX)
    split = urlsplit(repository)
    path = split.path.strip("/").removesuffix(".git")
    return "+".join(re.sub(r"[^A-Za-z0-9._-]", "_", part) for part in [split.netloc, *path.split("/")])


def _parts(repository: str) -> dict[str, str]:
    split = urlsplit(repository)
    names = split.path.strip("/").removesuffix(".git").split("/")
    if split.scheme != "https" or not all(_PART.fullmatch(name) for name in names):
        raise BadInput(f"not the URL of a repository: {repository}")
    owner = names[-2] if len(names) > 1 else ""
    return {"url": repository, "host": split.netloc, "owner": owner, "name": names[-1]}
