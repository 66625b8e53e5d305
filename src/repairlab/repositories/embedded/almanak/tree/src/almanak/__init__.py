"""Queries and reports over small collections of records."""

from almanak.engine.run import Result, execute
from almanak.errors import AlmanakError
from almanak.syntax.parser import parse_query

__all__ = ["AlmanakError", "Result", "execute", "parse_query"]
__version__ = "0.7.2"
