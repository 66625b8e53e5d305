"""Outside timestamps of a freeze: a signed git tag, or a token of a time-stamp authority (RFC 3161).

The clock of the machine that freezes proves nothing. A tag that was pushed, and a token beside the file
(``<file>.tsr``), are checked here; what could not be checked is said, never passed over.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Literal, NamedTuple

State = Literal["holds", "not checked", "fails"]
_FORGED = ("BADSIG", "BAD signature", "incorrect signature", "no signature found")


class Witness(NamedTuple):
    """What an outside timestamp says of one file."""

    file: str
    state: State
    said: str

    @property
    def line(self) -> str:
        """For people."""
        return f"{self.file}: timestamp {self.state}: {self.said}"


def witnesses(file: Path, tag: str, authority: Path | None) -> tuple[Witness, ...]:
    """Every outside timestamp of `file`; one that says so where there is none.

    Args:
        file: a freeze record or an amendment.
        tag: the tag that it names; empty for none.
        authority: certificates of the time-stamp authority that is trusted (PEM).
    """
    token = token_file(file)
    found = [_tagged(file, tag)] if tag else []
    if token.is_file():
        found.append(_stamped(file, token, authority))
    if not found:
        found.append(Witness(file.name, "not checked", "there is none; only this machine says when"))
    return tuple(found)


def token_file(file: Path) -> Path:
    """Where the token (TimeStampResp, DER) of `file` is expected."""
    return file.with_name(f"{file.name}.tsr")


def _tagged(file: Path, tag: str) -> Witness:
    def said(state: State, text: str) -> Witness:
        return Witness(file.name, state, f"tag {tag}: {text}")

    kind = _git(file.parent, "cat-file", "-t", f"refs/tags/{tag}")
    if kind is None:
        return said("not checked", "git is missing")
    if kind.returncode != 0:
        return said("fails", "is not in the repository around the study")
    if kind.stdout.strip() != b"tag":
        return said("fails", "is a lightweight tag, and carries no signature")
    held = _git(file.parent, "show", f"refs/tags/{tag}:./{file.name}")
    if held is None or held.returncode != 0:
        return said("fails", "its commit does not hold the file")
    if held.stdout != file.read_bytes():
        return said("fails", "its commit holds other bytes of the file")
    verified = _git(file.parent, "verify-tag", "--raw", tag)
    if verified is None:
        return said("not checked", "git is missing")
    if verified.returncode == 0:
        return said("holds", "good signature, and its commit holds the file")
    text = (verified.stderr + verified.stdout).decode("utf-8", "replace")
    last = text.strip().splitlines()[-1] if text.strip() else "git says nothing"
    if any(word in text for word in _FORGED):
        return said("fails", last)
    return said("not checked", f"its commit holds the file, its signature cannot be verified here ({last})")


def _stamped(file: Path, token: Path, authority: Path | None) -> Witness:
    def said(state: State, text: str) -> Witness:
        return Witness(file.name, state, f"token {token.name}: {text}")

    openssl = shutil.which("openssl")
    if openssl is None:
        return said("not checked", "the program openssl is missing")
    if authority is None:
        return said("not checked", "no certificate of its authority was given (--authority FILE)")
    command = [openssl, "ts", "-verify", "-data", str(file), "-in", str(token), "-CAfile", str(authority)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0 and "Verification: OK" in done.stdout + done.stderr:
        return said("holds", f"{_time_of(openssl, token)}, by the authority given")
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    return said("fails", lines[-1].strip() if lines else "openssl does not verify it")


def _time_of(openssl: str, token: Path) -> str:
    done = subprocess.run(
        [openssl, "ts", "-reply", "-in", str(token), "-text"], capture_output=True, text=True, check=False
    )
    times = [line for line in done.stdout.splitlines() if line.startswith("Time stamp: ")]
    return times[0].removeprefix("Time stamp: ") if times else "a time that openssl does not show"


def _git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes] | None:
    program = shutil.which("git")
    if program is None:
        return None
    return subprocess.run([program, "-C", str(folder), *arguments], capture_output=True, check=False)
