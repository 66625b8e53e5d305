"""Version specifiers for interpreters: the part of PEP 440 that speaks about released versions.

``>=3.11,<3.14`` is a conjunction of clauses. Known operators: ``>=  <=  >  <  ==  !=  ~=``; ``==3.12.*`` and
``!=3.12.*`` match a prefix. Pre-releases and local versions are not versions of an interpreter that a study
should run on, and are refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from repairlab.contract.errors import BadInput

Release = tuple[int, ...]

_CLAUSE = re.compile(r"^\s*(>=|<=|==|!=|~=|>|<)\s*(\d+(?:\.\d+)*)(\.\*)?\s*$")


@dataclass(frozen=True, slots=True)
class Clause:
    """One comparison, such as ``>=3.11``."""

    operator: str
    release: Release
    prefix: bool

    def admits(self, version: Release) -> bool:
        """Whether `version` (such as ``(3, 12, 1)``) satisfies the clause."""
        if self.prefix:
            same = version[: len(self.release)] == self.release
            return same if self.operator == "==" else not same
        have, want = _padded(version, self.release)
        if self.operator == "~=":
            return have >= want and version[: len(self.release) - 1] == self.release[:-1]
        return {
            ">=": have >= want,
            "<=": have <= want,
            ">": have > want,
            "<": have < want,
            "==": have == want,
            "!=": have != want,
        }[self.operator]


def parse_specifier(text: str) -> tuple[Clause, ...]:
    """Clauses of `text`; the empty text admits every version.

    Raises:
        BadInput: for anything but comma-separated clauses over released versions.
    """
    return tuple(_clause(part, text) for part in text.split(",")) if text.strip() else ()


def admits(clauses: tuple[Clause, ...], version: Release) -> bool:
    """Whether every clause admits `version`."""
    return all(clause.admits(version) for clause in clauses)


def _clause(part: str, whole: str) -> Clause:
    match = _CLAUSE.match(part)
    if match is None:
        raise BadInput(f"python specifier {whole!r}: cannot read the clause {part.strip()!r}")
    operator, digits, prefix = match.group(1), match.group(2), match.group(3) is not None
    release = tuple(int(number) for number in digits.split("."))
    if prefix and operator not in {"==", "!="}:
        raise BadInput(f"python specifier {whole!r}: '.*' goes with == and != only")
    if operator == "~=" and len(release) < 2:
        raise BadInput(f"python specifier {whole!r}: ~= needs at least two numbers")
    return Clause(operator, release, prefix)


def _padded(left: Release, right: Release) -> tuple[Release, Release]:
    width = max(len(left), len(right))
    return left + (0,) * (width - len(left)), right + (0,) * (width - len(right))
