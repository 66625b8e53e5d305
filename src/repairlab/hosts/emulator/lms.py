"""A double of the command-line tool ``lms`` that asks an emulated host, for tests of what asks ``lms``.

It prints what the real one prints, to the streams it prints it to, with its exit statuses. `write_doubles`
puts executables of that name into a folder. What the real tool gets wrong can be switched on for each double.
"""

from __future__ import annotations

import argparse
import http.client
import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from repairlab.contract.canonical import Json

ODDITIES = ("noisy-status", "status-says-stopped", "fails", "slow-json")
_MIB = 2**20
_MUCH_MIB = 2**20


def write_doubles(folder: Path, channel_url: str, oddities: Sequence[str] = ()) -> Path:
    """Write ``lms`` and ``nvidia-smi`` for one emulated host into `folder`; the path of ``lms``."""
    for name in ("lms", "nvidia-smi"):
        command = [sys.executable, "-P", "-m", "repairlab.hosts.emulator.lms", "--channel", channel_url]
        command += [f"--oddity={oddity}" for oddity in oddities] + ["--as", name, "--"]
        script = folder / name
        script.write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n', encoding="utf-8")
        script.chmod(0o755)
    return folder / "lms"


def main(arguments: Sequence[str]) -> int:
    """Run one command; its exit status."""
    parser = argparse.ArgumentParser(prog="lms double")
    parser.add_argument("--channel", required=True)
    parser.add_argument("--oddity", action="append", default=[], choices=ODDITIES)
    parser.add_argument("--as", dest="name", required=True)
    parser.add_argument("words", nargs=argparse.REMAINDER)
    options = parser.parse_args(arguments)
    words = [word for word in options.words if word != "--"]
    if "fails" in options.oddity:
        sys.stderr.write("Error: the daemon cannot be reached\n")
        return 1
    if options.name == "nvidia-smi":
        return _devices(options.channel, words)
    return _lms(options.channel, words, frozenset(options.oddity))


def _lms(channel: str, words: list[str], oddities: frozenset[str]) -> int:
    plain = [word for word in words if not word.startswith("-")]
    as_json = "--json" in words
    if plain == ["server", "status"]:
        return _status(channel, as_json, oddities)
    if plain[:2] in (["server", "start"], ["server", "stop"]):
        status, _ = _ask(channel, "POST", f"/server/{plain[1]}")
        sys.stderr.write(f"{plain[1]}: {'done' if status == 200 else 'the server is not running'}\n")
        return 0 if status == 200 else 1
    if plain == ["runtime", "ls"]:
        sys.stdout.write("LLM ENGINE           SELECTED\nemulator@1.0.0       yes\n")
        return 0
    if plain[:1] == ["unload"]:
        sys.stderr.write(f"Model Not Found: {' '.join(plain[1:])}\n")  # the real one exits with 0 here
        return 0
    if len(plain) == 1 and plain[0] in ("ps", "ls", "version") and as_json:
        _, body = _ask(channel, "GET", f"/{plain[0]}")
        indent = 2 if "slow-json" in oddities else None
        sys.stdout.write(json.dumps(body, indent=indent) + "\n")
        return 0
    sys.stderr.write(f"unknown command {' '.join(words)}\n")
    return 2


def _status(channel: str, as_json: bool, oddities: frozenset[str]) -> int:
    _, body = _ask(channel, "GET", "/status")
    running = bool(isinstance(body, dict) and body["running"]) and "status-says-stopped" not in oddities
    if "noisy-status" in oddities:
        sys.stdout.write(
            "The server is running on port 1234.\n" if running else "The server is not running.\n"
        )
    if as_json:
        port = body["port"] if isinstance(body, dict) else None
        sys.stdout.write(
            json.dumps({"running": running, "port": port} if running else {"running": False}) + "\n"
        )
    return 0


def _devices(channel: str, words: list[str]) -> int:
    if any("name" in word for word in words):
        sys.stdout.write("Emulated device, 1.0\n")
        return 0
    _, free = _ask(channel, "GET", "/memory")
    sys.stdout.write(f"{free // _MIB if isinstance(free, int) else _MUCH_MIB}\n")
    return 0


def _ask(channel: str, method: str, path: str) -> tuple[int, Json]:
    connection = http.client.HTTPConnection(channel.removeprefix("http://"), timeout=10)
    try:
        connection.request(method, path, b"" if method == "POST" else None)
        reply = connection.getresponse()
        return reply.status, json.load(reply)
    finally:
        connection.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
