"""Error bodies in the forms that the host is known to use: native objects, compatible objects, plain text."""

from __future__ import annotations

from dataclasses import dataclass

from repairlab.contract.canonical import Json


@dataclass(frozen=True, slots=True)
class Whole:
    """A reply that is sent at once."""

    status: int
    body: Json


def native_error(status: int, kind: str, message: str, code: str = "", param: str = "") -> Whole:
    """Form of the ``/api/v1`` routes."""
    error: dict[str, Json] = {"type": kind, "message": message}
    if code:
        error["code"] = code
    if param:
        error["param"] = param
    return Whole(status, {"error": error})


def compatible_error(status: int, message: str, code: str | None, param: str | None = None) -> Whole:
    """Form of the ``/v1`` routes."""
    return Whole(
        status,
        {"error": {"message": message, "type": "invalid_request_error", "param": param, "code": code}},
    )


def text_error(status: int, message: str) -> Whole:
    """The plain form of the ``/v1`` routes."""
    return Whole(status, {"error": message})


def unknown_route(method: str, path: str) -> Whole:
    """An unknown route is answered with success and an error in the body."""
    return text_error(200, f"Unexpected endpoint or method. ({method} {path})")
