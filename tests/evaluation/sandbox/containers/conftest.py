"""Real engines: podman as this user, over descriptors and over streams; podman without root; docker.

Run by `make test-containers` (``pytest -m containers``), never as part of another selection. What is missing
is a failure that says what to install, not a skip.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import pickle
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from repairlab.contract.errors import InfrastructureFailure
from repairlab.evaluation.sandbox.container import Container
from repairlab.evaluation.sandbox.container_engine import Engine
from repairlab.evaluation.sandbox.container_image import Image, Recipe, build_image, find_image
from repairlab.evaluation.sandbox.model import Finished, Job, Limits, Tree

PATHS = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
LIMITS = Limits(
    wall_seconds=30,
    cpu_seconds=30,
    memory_bytes=256 * 2**20,
    processes=40,
    file_bytes=4 * 2**20,
    output_bytes=65536,
)
HANDSHAKE = "exec 9>&$1; printf R >&9; cat >/dev/null\n"
INSTALL = "apt-get install podman runc crun uidmap mmdebstrap docker.io"
BOXES = ("podman", "podman-streams", "podman-rootless", "docker")
HERE = Path(__file__).parent


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "containers: needs podman and docker; run by `make test-containers`")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """These tests are chosen by name of their marker or not at all; pytest counts them as deselected."""
    if "containers" not in (config.option.markexpr or ""):
        mine = [item for item in items if HERE in item.path.parents]
        items[:] = [item for item in items if HERE not in item.path.parents]
        config.hook.pytest_deselected(items=mine)


@dataclass(frozen=True)
class Box:
    """A backend, and as which user the harness has to be to use it."""

    container: Container
    user: pwd.struct_passwd | None = None


@pytest.fixture(scope="session")
def podman() -> Engine:
    program = shutil.which("podman", path=PATHS)
    if program is None:
        pytest.fail(f"podman is missing: {INSTALL}")
    return Engine("podman", Path(program), (), variables(os.environ.get("HOME", "/")))


def variables(home: str, **others: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("XDG_RUNTIME_DIR",) if name in os.environ}
    return {"PATH": PATHS, "HOME": home, **kept, **others}


@pytest.fixture(scope="session")
def image(podman: Engine, tmp_path_factory: pytest.TempPathFactory) -> Image:
    return build_image(podman, Recipe(), tmp_path_factory.mktemp("image"), {"PATH": PATHS})


@pytest.fixture(scope="session")
def archive(podman: Engine, image: Image) -> Iterator[Path]:
    """The image as a file that anybody can read."""
    folder = Path(tempfile.mkdtemp(prefix="repairlab-image-"))
    folder.chmod(0o755)
    podman.ask("save", "--quiet", "--output", str(folder / "image.tar"), NAME)
    (folder / "image.tar").chmod(0o644)
    yield folder / "image.tar"
    shutil.rmtree(folder)


NAME = f"localhost/repairlab:{Recipe().key[:16]}"


@pytest.fixture(scope="session")
def box_podman(podman: Engine, image: Image, tmp_path_factory: pytest.TempPathFactory) -> Box:
    return Box(Container.open(tmp_path_factory.mktemp("podman"), podman, image, "descriptors"))


@pytest.fixture(scope="session")
def box_podman_streams(podman: Engine, image: Image, tmp_path_factory: pytest.TempPathFactory) -> Box:
    return Box(Container.open(tmp_path_factory.mktemp("podman-streams"), podman, image, "streams"))


@pytest.fixture(scope="session")
def box_podman_rootless(box_podman: Box, archive: Path) -> Iterator[Box]:
    """Podman with a store of its own, for a user who has subordinate user numbers."""
    if os.geteuid() != 0:
        yield box_podman
        return
    user = subordinate_user()
    with user_folder(user) as folder:
        engine = dataclasses.replace(
            box_podman.container.engine,
            options=(
                *("--root", str(folder / "store"), "--runroot", str(folder / "run")),
                *("--storage-driver", "overlay"),
            ),
            variables=variables(user.pw_dir, XDG_RUNTIME_DIR=str(folder)),
        )

        def work() -> Container:
            engine.ask("load", "--quiet", "--input", str(archive))
            found = find_image(engine, NAME)
            assert found is not None
            return Container.open(folder / "scratch", engine, found)

        yield Box(as_user(user, work), user)


@contextlib.contextmanager
def user_folder(user: pwd.struct_passwd) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="repairlab-rootless-")).resolve()
    os.chown(folder, user.pw_uid, user.pw_gid)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def subordinate_user() -> pwd.struct_passwd:
    names = [line.partition(":")[0] for line in Path("/etc/subuid").read_text().splitlines()]
    known = {user.pw_name: user for user in pwd.getpwall() if user.pw_uid != 0}
    for name in names:
        if name in known:
            return known[name]
    pytest.fail("no ordinary user has a line in /etc/subuid: useradd --create-home somebody")


@pytest.fixture(scope="session")
def box_docker(archive: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Box]:
    """The machine's docker; a daemon of this test's own where none answers and the user is root."""
    with contextlib.ExitStack() as stack:
        engine = stack.enter_context(docker())
        engine.ask("load", "--quiet", "--input", str(archive))
        found = find_image(engine, NAME)
        assert found is not None
        yield Box(Container.open(tmp_path_factory.mktemp("docker"), engine, found))


@contextlib.contextmanager
def docker() -> Iterator[Engine]:
    program, daemon = shutil.which("docker", path=PATHS), shutil.which("dockerd", path=PATHS)
    if program is None:
        pytest.fail(f"docker is missing: {INSTALL}")
    engine = Engine("docker", Path(program), (), variables(os.environ.get("HOME", "/")))
    if engine.attempt("version").returncode == 0:
        yield engine
        return
    if daemon is None or os.geteuid() != 0:
        pytest.fail(f"docker does not answer: start it, or run as root and {INSTALL}")
    folder = Path(tempfile.mkdtemp(prefix="repairlab-docker-"))
    address = f"unix://{folder}/socket"
    command = [daemon, "--host", address, "--pidfile", f"{folder}/pid", "--iptables=false", "--bridge=none"]
    command += ["--data-root", f"{folder}/data", "--exec-root", f"{folder}/exec"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env={"PATH": PATHS})
    try:
        engine = dataclasses.replace(engine, variables={**engine.variables, "DOCKER_HOST": address})
        if not within(60, lambda: engine.attempt("version").returncode == 0):
            pytest.fail(f"dockerd did not start: {(folder / 'log').read_text()[-2000:]}")
        yield engine
    finally:
        process.terminate()
        process.wait(60)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=BOXES)
def box(request: pytest.FixtureRequest) -> Box:
    chosen: Box = request.getfixturevalue(f"box_{request.param.replace('-', '_')}")
    return chosen


@pytest.fixture(params=[name for name in BOXES if name != "podman-rootless"])
def sandbox(request: pytest.FixtureRequest) -> Container:
    """For the fixture `run`, whose environment may lie where an ordinary user cannot look."""
    chosen: Box = request.getfixturevalue(f"box_{request.param.replace('-', '_')}")
    return chosen.container


@pytest.fixture
def home(box: Box) -> Iterator[Path]:
    """A folder that the box's user owns and everybody can enter."""
    folder = Path(tempfile.mkdtemp(prefix="repairlab-escape-")).resolve()
    template = folder / "template"
    template.mkdir()
    (template / "file").write_text("base\n")
    for path, mode in ((folder, 0o755), (template, 0o755), (template / "file", 0o644)):
        path.chmod(mode)
        if box.user is not None:
            os.chown(path, box.user.pw_uid, box.user.pw_gid)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def make_job(home: Path) -> Callable[..., Job]:
    def make(script: str, limits: Limits = LIMITS, payload: bytes = b"") -> Job:
        argv = ("/bin/bash", "-c", HANDSHAKE + script, "bash", "@report")
        return Job(Tree(home / "template"), argv, limits, payload, {})

    return make


@pytest.fixture
def hostile(box: Box, make_job: Callable[..., Job]) -> Callable[..., Finished]:
    """Run a script in the container."""

    def run(script: str, limits: Limits = LIMITS) -> Finished:
        job = make_job(script, limits)
        result: Finished = as_user(box.user, lambda: box.container.run(job))
        return result

    return run


@pytest.fixture
def outcome(box: Box) -> Callable[[Callable[[], Any]], Any]:
    """What a function returns as the box's user, or the kind of its infrastructure failure."""

    def run(work: Callable[[], Any]) -> Any:
        def guarded() -> Any:
            try:
                return work()
            except InfrastructureFailure as failure:
                return failure.kind

        return as_user(box.user, guarded)

    return run


@pytest.fixture
def harness(box: Box) -> Iterator[Callable[[Job], int]]:
    """Start a harness of its own that runs a job; its process, for killing it."""
    children: list[int] = []

    def begin(job: Job) -> int:
        child, reading = fork(box.user, lambda: box.container.run(job))
        os.close(reading)
        children.append(child)
        return child

    yield begin
    for child in children:
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def as_user(user: pwd.struct_passwd | None, work: Callable[[], Any]) -> Any:
    """What `work` returns, in a child that has become `user`."""
    if user is None:
        return work()
    child, reading = fork(user, work)
    with os.fdopen(reading, "rb") as stream:
        data = stream.read()
    os.waitpid(child, 0)
    assert data, "the child failed; see the captured output"
    return pickle.loads(data)


def fork(user: pwd.struct_passwd | None, work: Callable[[], Any]) -> tuple[int, int]:
    """Start `work` in a child. It can load no further module where the interpreter is closed to `user`: a
    container has been opened before as the user who runs the tests, so everything is loaded."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            if user is not None:
                os.chdir("/")
                os.setgroups([])
                os.setgid(user.pw_gid)
                os.setuid(user.pw_uid)
            with os.fdopen(writing, "wb") as stream:
                stream.write(pickle.dumps(work()))
        except BaseException:
            os.write(2, traceback.format_exc().encode())
            raise
        finally:
            os._exit(0)
    os.close(writing)
    return child, reading


@pytest.fixture
def alive() -> Callable[[str], bool]:
    """Whether any process of this machine sleeps for that many seconds."""

    def running(marker: str) -> bool:
        for entry in Path("/proc").iterdir():
            if entry.name.isdecimal():
                with contextlib.suppress(OSError):
                    words = (entry / "cmdline").read_bytes().split(b"\0")
                    if words[0].endswith(b"sleep") and marker.encode() in words:
                        return True
        return False

    return running


@pytest.fixture
def eventually() -> Callable[[float, Callable[[], bool]], bool]:
    return within


def within(seconds: float, condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return False
