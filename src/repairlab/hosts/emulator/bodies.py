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


def unknown_route(status: int, method: str, path: str) -> Whole:
    """An unknown route is answered with success (or 404, as versions differ) and an error in the body."""
    return text_error(status, f"Unexpected endpoint or method. ({method} {path})")


def unauthorized(authorization: str, form: str) -> Whole:
    """Status 401; the message echoes the beginning of what was offered, as the real host does."""
    offered = authorization.removeprefix("Bearer ")
    message = (
        f"An LM Studio API token is required; {offered[:6]}... is none" if offered else "A token is needed"
    )
    code = "invalid_api_key"
    if form == "text":
        return Whole(401, {"error": message, "code": code})
    return Whole(401, {"error": {"message": message, "type": "invalid_request", "code": code}})
