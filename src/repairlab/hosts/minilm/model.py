"""The loaded embedder: text in, vector out; the same vector on one machine, whatever was asked before."""

from __future__ import annotations

import importlib
import math
from dataclasses import dataclass

from repairlab.hosts.minilm.package import (
    NATIVE_DIMENSIONS,
    RUNTIME_PACKAGE,
    TOKENIZER_PACKAGE,
    MiniLmPackage,
)
from repairlab.hosts.minilm.windows import windows

DIMENSIONS = 1024
"""What the study asks for; behind the model's own there are zeros."""
_BEGIN, _END = 101, 102
"""The vocabulary's marks ``[CLS]`` and ``[SEP]``."""


@dataclass(frozen=True, slots=True)
class TextTooLong:
    """A text has more tokens than the context; it is not cut."""

    tokens: int


class MiniLm:
    """Model and tokenizer in this process, on one thread.

    Args:
        package: the pinned files.
    """

    def __init__(self, package: MiniLmPackage) -> None:
        runtime = importlib.import_module(RUNTIME_PACKAGE)
        options = runtime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = runtime.InferenceSession(
            str(package.weights), options, providers=["CPUExecutionProvider"]
        )
        tokenizer = importlib.import_module(TOKENIZER_PACKAGE)
        self._tokenizer = tokenizer.Tokenizer.from_file(str(package.vocabulary))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    def embed(self, text: str, context: int) -> list[float] | TextTooLong:
        """The vector of `text`: 1,024 numbers of unit length.

        Each window is asked alone, so that no vector depends on what stood beside it. Its vector is the
        mean over its tokens, brought to unit length; the text's is the mean over its windows, likewise.

        Args:
            text: at least one character.
            context: most tokens that the text may have.
        """
        readable = text.encode("utf-8", "replace").decode()
        tokens: list[int] = self._tokenizer.encode(readable, add_special_tokens=False).ids
        if len(tokens) > context:
            return TextTooLong(len(tokens))
        vectors = [self._window([_BEGIN, *window, _END]) for window in windows(tokens)]
        mean = _unit([math.fsum(column) for column in zip(*vectors, strict=True)])
        return [*mean, *[0.0] * (DIMENSIONS - NATIVE_DIMENSIONS)]

    def _window(self, tokens: list[int]) -> list[float]:
        count = len(tokens)
        (states,) = self._session.run(
            None, {"input_ids": [tokens], "attention_mask": [[1] * count], "token_type_ids": [[0] * count]}
        )
        return _unit(states[0].mean(axis=0, dtype="float64").tolist())


def _unit(values: list[float]) -> list[float]:
    norm = math.hypot(*values)
    return [value / norm for value in values]
