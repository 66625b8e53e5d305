"""Tokens of the query language."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from almanak.values import Value


class Kind(Enum):
    """What sort of token."""

    NAME = "name"
    KEYWORD = "keyword"
    LITERAL = "literal"
    SYMBOL = "symbol"
    END = "end"


KEYWORDS = frozenset(
    """
    and or not in has matches is missing true false
    where let sort by asc desc take skip show as group into distinct
    """.split()
)

# The longest come first, so that "<=" is not read as "<" and "=".
SYMBOLS = ("!=", "<=", ">=", "=", "<", ">", "+", "-", "*", "/", "%", "(", ")", "[", "]", ",", "|")


@dataclass(frozen=True, slots=True)
class Token:
    """One token.

    Attributes:
        kind: what sort of token.
        text: as it stands in the query.
        offset: where it begins, from 0.
        value: of a literal.
    """

    kind: Kind
    text: str
    offset: int
    value: Value = None

    def is_keyword(self, *words: str) -> bool:
        """Whether this is one of the keywords."""
        return self.kind is Kind.KEYWORD and self.text in words

    def is_symbol(self, *symbols: str) -> bool:
        """Whether this is one of the symbols."""
        return self.kind is Kind.SYMBOL and self.text in symbols

    def describe(self) -> str:
        """For messages."""
        return "the end" if self.kind is Kind.END else repr(self.text)
