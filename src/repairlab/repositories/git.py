"""The one place that starts git. Nothing of the user's, the machine's or the repository's taste gets in.

Every process gets an environment built from nothing: no system or user configuration (`HOME` is a folder of
this package), no prompts, no hooks, no replacement objects, no lazy fetches, messages in English. Input and
output are bytes. Repositories are named by `git_dir`, never found by walking upwards.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, cast

from repairlab.contract.errors import InfrastructureFailure, RefuseToStart

HOME: Final = Path(__file__).parent / "home"
SEARCH_PATH: Final = "/usr/local/bin:/opt/homebrew/bin:/usr/bin:/bin"
OLDEST_VERSION: Final = (2, 30)
LOCAL_SECONDS: Final = 120.0
NETWORK_SECONDS: Final = 3600.0

RAW_ATTRIBUTES: Final = b"* -text !eol !filter !ident !working-tree-encoding !crlf !diff !merge !whitespace\n"
"""For ``info/attributes``, which beats every ``.gitattributes``: a checkout holds the bytes of the blobs, and
a diff does not depend on which drivers a commit names."""

_FIRM: Final = ("-c", "core.hooksPath=/dev/null", "-c", "core.autocrlf=false", "-c", "core.fsmonitor=false")
_VERSION: Final = re.compile(rb"git version (\d+)\.(\d+)")


@dataclass(frozen=True, slots=True)
class Completed:
    """What an ended git process left: its exit status and both streams."""

    status: int
    stdout: bytes
    stderr: bytes

    @property
    def complaint(self) -> str:
        """Standard error as text for a message, without the trailing newline."""
        return self.stderr.decode("utf-8", "replace").strip()


def attempt(
    arguments: Sequence[str],
    *,
    git_dir: Path | None = None,
    cwd: Path = Path("/"),
    stdin: bytes = b"",
    environment: Mapping[str, str] | None = None,
    timeout_seconds: float = LOCAL_SECONDS,
) -> Completed:
    """Run ``git ARGUMENTS`` and return whatever became of it.

    Args:
        arguments: without the word git.
        git_dir: the repository; without it git sees none but what the arguments name.
        cwd: working folder of the process; paths in a patch are relative to it.
        stdin: what the process reads.
        environment: variables to add, such as ``GIT_INDEX_FILE`` or a proxy for the network.
        timeout_seconds: limit on the wall clock.

    Raises:
        RefuseToStart: no git on `SEARCH_PATH`.
        InfrastructureFailure: kind ``git-timeout`` or ``git-start``.
    """
    with _start_errors(arguments, cwd):
        process = subprocess.Popen(
            ["git", *_FIRM, *arguments],
            cwd=cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=_environment(git_dir, cwd, environment or {}),
            start_new_session=True,
        )
    with process:
        try:
            stdout, stderr = process.communicate(stdin, timeout_seconds)
        except subprocess.TimeoutExpired as error:
            raise InfrastructureFailure(
                f"git {arguments[0]} took longer than {timeout_seconds:g} s", kind="git-timeout"
            ) from error
        finally:
            _end(process)
    return Completed(process.returncode, stdout, stderr)


def run(
    arguments: Sequence[str],
    *,
    git_dir: Path | None = None,
    cwd: Path = Path("/"),
    stdin: bytes = b"",
    environment: Mapping[str, str] | None = None,
    timeout_seconds: float = LOCAL_SECONDS,
) -> bytes:
    """Run ``git ARGUMENTS``, which must succeed, and return its standard output.

    Raises:
        InfrastructureFailure: kind ``git-failed`` with git's own words, or as `attempt`.
    """
    ended = attempt(
        arguments,
        git_dir=git_dir,
        cwd=cwd,
        stdin=stdin,
        environment=environment,
        timeout_seconds=timeout_seconds,
    )
    if ended.status != 0:
        raise InfrastructureFailure(
            f"git {arguments[0]} ended with status {ended.status}: {ended.complaint}", kind="git-failed"
        )
    return ended.stdout


@contextmanager
def stream(
    arguments: Sequence[str],
    *,
    git_dir: Path,
    stdin: bytes,
    timeout_seconds: float = LOCAL_SECONDS,
) -> Iterator[IO[bytes]]:
    """Run ``git ARGUMENTS`` and give its standard output as a file while it runs.

    Raises:
        InfrastructureFailure: kind ``git-failed`` on leaving, when git failed or the time limit stopped it.
    """
    here = Path("/")
    with tempfile.TemporaryFile() as questions, _start_errors(arguments, here):
        questions.write(stdin)
        questions.seek(0)
        process = subprocess.Popen(
            ["git", *_FIRM, *arguments],
            cwd=here,
            stdin=questions,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(git_dir, here, {}),
            start_new_session=True,
        )
    watch = threading.Timer(timeout_seconds, _end, [process])
    watch.daemon = True
    watch.start()
    try:
        with process:
            yield cast("IO[bytes]", process.stdout)
    finally:
        watch.cancel()
        _end(process)
    if process.returncode != 0:
        raise InfrastructureFailure(
            f"git {arguments[0]} ended with status {process.returncode}", kind="git-failed"
        )


def version() -> tuple[int, int]:
    """Major and minor version of the git that is used.

    Raises:
        RefuseToStart: none, or older than `OLDEST_VERSION`.
    """
    match = _VERSION.match(run(["--version"]))
    found = (int(match[1]), int(match[2])) if match else (0, 0)
    if found < OLDEST_VERSION:
        raise RefuseToStart(f"git {found[0]}.{found[1]} is too old", repair="Install git 2.30 or newer.")
    return found


def init_bare(path: Path) -> None:
    """Make an empty bare repository at `path`: SHA-1 objects, no template files, raw attributes."""
    run(
        [
            "init",
            "--quiet",
            "--bare",
            "--object-format=sha1",
            "--template=",
            "--initial-branch=main",
            str(path),
        ]
    )
    write_attributes(path)


def write_attributes(git_dir: Path) -> None:
    """Switch off every conversion and diff driver in one repository (see `RAW_ATTRIBUTES`)."""
    info = git_dir / "info"
    info.mkdir(exist_ok=True)
    (info / "attributes").write_bytes(RAW_ATTRIBUTES)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill git and its helpers (a transport, a pack reader), unless git has ended by itself."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)


@contextmanager
def _start_errors(arguments: Sequence[str], cwd: Path) -> Iterator[None]:
    """Say in the error tree's terms why a process could not be started."""
    try:
        yield
    except FileNotFoundError as error:
        if not cwd.is_dir():
            raise InfrastructureFailure(f"git {arguments[0]}: no folder {cwd}", kind="git-start") from error
        raise RefuseToStart(
            f"git is not installed (looked in {SEARCH_PATH})", repair="Install git 2.30 or newer."
        ) from error
    except OSError as error:
        raise InfrastructureFailure(f"git cannot start: {error}", kind="git-start") from error


def _environment(git_dir: Path | None, cwd: Path, extra: Mapping[str, str]) -> dict[str, str]:
    environment = {
        "PATH": SEARCH_PATH,
        "HOME": str(HOME),
        "XDG_CONFIG_HOME": str(HOME / "none"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_CEILING_DIRECTORIES": os.fspath(cwd.absolute().parent),
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "",
        "SSH_ASKPASS": "",
        "GIT_SSH_COMMAND": "ssh -oBatchMode=yes",
        "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "LC_ALL": "C",
        "TZ": "UTC",
    }
    if git_dir is not None:
        environment["GIT_DIR"] = os.fspath(git_dir.absolute())
    return environment | dict(extra)
