"""Overhead of the host client: one streamed chat completion by `LMStudioClient` over the same by bare httpx.

Both talk to the same emulated host, alternating in one run, so that whatever else the machine does meets
both. The peer sends the same bytes, reads the stream to its end mark and parses each event; it keeps no
journal, checks no model, watches no deadline and types nothing. Each makes a connection of its own for each
request. The second row has the peer keep its connection: what a client of another design would save.

Usage: python benchmarks/host_client.py [--rounds N] [--statement-bytes N]
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import httpx

from repairlab.contract.canonical import Json
from repairlab.contract.failures import load_failures
from repairlab.hosts.chat import ChatReply, ChatRequest
from repairlab.hosts.client import CHAT, LMStudioClient
from repairlab.hosts.emulator.spawn import EmulatorProcess
from repairlab.hosts.failures import FailureRules
from repairlab.hosts.transport import Exchange, Patience

MODEL = "repairlab/calibration-floor"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--statement-bytes", type=int, default=20_000)
    options = parser.parse_args()
    request = _request(options.statement_bytes)
    journal: list[Exchange] = []
    rules = FailureRules(load_failures(Path(__file__).resolve().parent.parent / "contracts"))
    with EmulatorProcess() as process:
        client = LMStudioClient(
            process.url,
            None,
            time.monotonic,
            patience=Patience(silence=60),
            rules=rules,
            on_exchange=journal.append,
        )
        with client:
            client.load(MODEL, 65_536)

            def ours() -> str:
                reply = client.chat(request, math.inf)
                assert isinstance(reply, ChatReply)
                return reply.content

            print(
                f"{'peer':<28} {'client ms':>10} {'peer ms':>8} {'ratio':>6}   (medians of {options.rounds})"
            )
            for name, keeps in (("httpx, a connection each", 0), ("httpx, connection kept", 1)):
                limits = httpx.Limits(max_keepalive_connections=keeps)
                with httpx.Client(base_url=process.url, limits=limits, trust_env=False, timeout=60) as bare:
                    _compare(name, ours, partial(_bare, bare, request), options.rounds)


def _compare(name: str, ours: Callable[[], str], peer: Callable[[], str], rounds: int) -> None:
    assert ours() == peer()
    seconds: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for number, call in enumerate((ours, peer)):
            begun = time.perf_counter()
            call()
            seconds[number].append(time.perf_counter() - begun)
    one, other = (statistics.median(values) for values in seconds)
    print(f"{name:<28} {one * 1000:>10.2f} {other * 1000:>8.2f} {one / other:>6.2f}")


def _bare(client: httpx.Client, request: ChatRequest) -> str:
    """The same request by httpx alone; the content of its reply."""
    content = ""
    with client.stream("POST", CHAT, json=request.body()) as response:
        for line in response.iter_lines():
            if line.startswith("data: ") and line != "data: [DONE]":
                for choice in json.loads(line[6:])["choices"]:
                    content += choice["delta"].get("content") or ""
    return content


def _request(size: int) -> ChatRequest:
    user = {"role": "user", "content": "word " * (size // 5)}
    parameters: Json = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
    function = {"name": "search", "description": "Search.", "parameters": parameters}
    return ChatRequest(MODEL, (user,), ({"type": "function", "function": function},), 0.0, 1.0, 0, 8192)


if __name__ == "__main__":
    main()
