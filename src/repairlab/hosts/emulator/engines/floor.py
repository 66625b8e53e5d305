"""The floor: looks around once or twice and finishes without an edit."""

from __future__ import annotations

import re

from repairlab.hosts.emulator.engines.history import first_user_text, past_calls, statement_of
from repairlab.hosts.emulator.engines.protocol import EngineReply, EngineRequest

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{3,79}")
_PATH = re.compile(r"[\w./-]+\.(?:py|go)\b")
_SIGN = "(calibration model: floor)"


class Floor:
    """Never edits. At most one search and one look into a file that the search named."""

    def reply(self, request: EngineRequest) -> EngineReply:
        past = past_calls(request.messages)
        if not past:
            call = request.call("search", query=_query(request), mode="substring")
            if call is not None:
                return EngineReply(f"I look for a word of the statement {_SIGN}.", (call,))
        if len(past) == 1 and past[0].name == "search":
            path = _PATH.search(past[0].result)
            call = request.call("read_file", path=path.group(), start_line=1, end_line=40) if path else None
            if call is not None:
                return EngineReply(f"I look into the first file named {_SIGN}.", (call,))
        done = f"I leave everything as it is {_SIGN}."
        finish = request.call("finish", summary=done)
        return EngineReply(done, (finish,) if finish else ())


def _query(request: EngineRequest) -> str:
    text = statement_of(request.messages) or first_user_text(request.messages)
    words = _WORD.findall(text)
    return max(words, key=len) if words else "main"
