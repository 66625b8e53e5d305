"""The three pipes between the harness and one run: payload in, output out, report out."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(slots=True)
class Pipes:
    """Descriptors of both sides. Those of the run are closed here once its first process has them."""

    payload: int
    output: int
    report: int
    run_payload: int
    run_output: int
    run_report: int
    _open: set[int] = field(default_factory=set)

    def close(self, *descriptors: int) -> None:
        """Close those of `descriptors` that are still open."""
        for descriptor in descriptors:
            if descriptor in self._open:
                self._open.discard(descriptor)
                os.close(descriptor)

    def close_run_side(self) -> None:
        """Call after the start, so that the ends of the streams are seen."""
        self.close(self.run_payload, self.run_output, self.run_report)


@contextmanager
def open_pipes() -> Iterator[Pipes]:
    """Three new pipes, none inherited by other processes; all closed at the end."""
    run_payload, payload = os.pipe()
    output, run_output = os.pipe()
    report, run_report = os.pipe()
    everything = {run_payload, payload, output, run_output, report, run_report}
    pipes = Pipes(payload, output, report, run_payload, run_output, run_report, everything)
    for descriptor in (payload, output, report):
        os.set_blocking(descriptor, False)
    try:
        yield pipes
    finally:
        pipes.close(*sorted(everything))
