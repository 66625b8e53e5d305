"""Errors of a host: one reader for every form they come in, one table for what each means.

An ``error`` key is a failure at every HTTP status and inside a stream; its value may be text or an object.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from repairlab.contract.errors import InfrastructureFailure, RefuseToStart, RepairlabError
from repairlab.hosts.assemble import is_object

_MESSAGE_CHARACTERS = 600


@dataclass(frozen=True, slots=True)
class HostError:
    """What a host says went wrong."""

    message: str
    type: str = ""
    code: str = ""

    def says(self, *markers: str) -> bool:
        """Whether message, type or code holds one of `markers` (lower case)."""
        text = f"{self.message}\n{self.type}\n{self.code}".lower()
        return any(marker in text for marker in markers)


def error_in(body: object) -> HostError | None:
    """The error that a parsed reply or stream frame carries, or ``None``. ``"error": null`` is none."""
    if not is_object(body) or body.get("error") is None:
        return None
    error = body["error"]
    if is_object(error):
        message = error.get("message", error.get("title", body.get("message")))
        return HostError(
            _word(message) or json.dumps(error), _word(error.get("type")), _word(error.get("code"))
        )
    return HostError(error if isinstance(error, str) else json.dumps(error), "", _word(body.get("code")))


def _word(value: object) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)


def written_by_the_model(error: HostError) -> bool:
    """Whether the host failed on the text that the model wrote for a tool call: no fault of the host."""
    return error.says("failed to parse tool call", "tool call arguments as json", "parse tool call arguments")


_OVERFLOW = (
    "exceed_context_size_error",
    "tokens to keep from the initial prompt",
    "cannot truncate prompt with n_keep",
    "context size has been exceeded",
    "exceeds the available context size",
    "context length of only",
)
_REFUSALS: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (
        ("unexpected endpoint or method",),
        "the host does not know the route",
        "Check the base URL (no path after the port) and the server's version (0.4 or newer).",
    ),
    (
        ("parse grammar", "initialize samplers"),
        "the host cannot turn the tool schemas into a grammar",
        "Another runtime version of the host may; the schemas use type, properties, required and enum only.",
    ),
    (
        ("jinja", "prompt template", "chat template"),
        "the model's chat template refuses the conversation",
        "Choose a model whose template knows tools, or another runtime version of the host.",
    ),
    (
        ("unrecognized_keys", "unrecognized key"),
        "the host refuses a field of the request",
        "The server's version is not one that this protocol was written for.",
    ),
)
_KINDS: tuple[tuple[tuple[str, ...], str], ...] = (
    (_OVERFLOW, "host-context-overflow"),
    (("model unloaded", "no models loaded", "model_not_found", "not loaded"), "host-model-not-loaded"),
    (("crashed", "exit code"), "host-model-crashed"),
    (("insufficient system resources", "out of memory"), "host-resources"),
)


def to_exception(error: HostError, where: str, status: int) -> RepairlabError:
    """What the caller has to raise for `error`.

    Args:
        error: what the host says.
        where: method and route of the request.
        status: HTTP status of the reply.

    Returns:
        `RefuseToStart` for what no retry can cure (route, grammar, template, a field refused), else
        `InfrastructureFailure` whose kind names the failure. ``host-context-overflow`` is a kind of its own:
        whoever counted the tokens of the request decides whose failure that was.
    """
    message = error.message[:_MESSAGE_CHARACTERS]
    for markers, what, repair in _REFUSALS:
        if error.says(*markers):
            return RefuseToStart(f"{where}: {what} (status {status}): {message}", repair=repair)
    kind = next((kind for markers, kind in _KINDS if error.says(*markers)), "host-error")
    return InfrastructureFailure(f"{where}: status {status}: {message}", kind=kind)


def bare_status(where: str, status: int, text: str) -> RepairlabError:
    """For a status that is no success, with a body that names no error."""
    if status == 404:
        return to_exception(HostError("unexpected endpoint or method"), where, status)
    return to_exception(HostError(text or "an empty body"), where, status)


def rejected_authorization(where: str, status: int) -> RefuseToStart:
    """For 401 and 403. The reply is not quoted: it may echo a part of the token."""
    return RefuseToStart(
        f"{where}: the host refuses the authorization (status {status})",
        repair="Give a token of that host with the permission to list, load and unload models and to chat.",
    )


def parse_json(text: str, where: str) -> Mapping[str, Any]:
    """The JSON object that a reply's body must be.

    Raises:
        InfrastructureFailure: kind ``host-protocol``.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InfrastructureFailure(
            f"{where}: the reply is not JSON ({error})", kind="host-protocol"
        ) from error
    if not is_object(value):
        raise InfrastructureFailure(f"{where}: the reply is no JSON object", kind="host-protocol")
    return value
