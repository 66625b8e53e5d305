"""What needs no engine: recipes, command lines, refusals."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repairlab.contract.errors import InfrastructureFailure, RefuseToStart
from repairlab.evaluation.sandbox import container_arguments
from repairlab.evaluation.sandbox.container import Container
from repairlab.evaluation.sandbox.container_arguments import Setting
from repairlab.evaluation.sandbox.container_engine import Engine
from repairlab.evaluation.sandbox.container_image import Image, Recipe, build_image
from repairlab.evaluation.sandbox.container_init import HEAD, TRAILER
from repairlab.evaluation.sandbox.model import Job, Limits, Tree

LIMITS = Limits(10, 10, 2**28, 40, 2**22, 2**16)
PODMAN = Engine("podman", Path("/usr/bin/podman"), ("--runtime", "runc"))
DOCKER = Engine("docker", Path("/usr/bin/docker"))
PODMAN_AS_ROOT = Setting(PODMAN, "sha256:1", "descriptors", "cgroup", root=True)


@pytest.fixture
def job(tmp_path: Path) -> Job:
    (tmp_path / "template").mkdir()
    (tmp_path / "template" / "file").write_bytes(bytes(5000))
    return Job(Tree(tmp_path / "template"), ("/bin/true", "@report"), LIMITS, b"", {"runner.py": b"x"})


def words(job: Job, setting: Setting, tmp_path: Path) -> tuple[str, ...]:
    return container_arguments.command(job, setting, tmp_path / "run", "repairlab-1")


SETTINGS = [
    PODMAN_AS_ROOT,
    dataclasses.replace(PODMAN_AS_ROOT, root=False, bounds="watch"),
    Setting(DOCKER, "sha256:1", "streams", "cgroup", root=False),
]


@pytest.mark.parametrize("setting", SETTINGS)
def test_every_container_is_closed(job, setting, tmp_path):
    text = " ".join(words(job, setting, tmp_path))
    for part in (
        *("--rm", "--network none", "--read-only", "--cap-drop ALL", "--security-opt no-new-privileges"),
        *("--pull never", "--log-driver none", "--ipc private", "--shm-size 4194304"),
    ):
        assert part in text
    for part in ("--privileged", "--device", "--volume", "--pid", "host", "SYS_", "NET_", "DAC_"):
        assert f" {part} " not in text


@pytest.mark.parametrize("setting", SETTINGS)
def test_every_mount_from_outside_is_read_only(job, setting, tmp_path):
    shown = dataclasses.replace(job, environment=tmp_path, read_only=(tmp_path / "python",))
    command = words(shown, setting, tmp_path)
    mounts = [command[at + 1] for at, word in enumerate(command) if word == "--mount"]
    assert len(mounts) == 5
    assert all(mount.startswith("type=bind,") and mount.endswith(",readonly") for mount in mounts)


def test_bounds_of_the_control_group(job, tmp_path):
    command = words(job, PODMAN_AS_ROOT, tmp_path)
    memory = 2**28 * 3 // 2 + 4 * 2**22 + 8192
    assert (
        command[command.index("--memory") + 1] == command[command.index("--memory-swap") + 1] == str(memory)
    )
    assert command[command.index("--pids-limit") + 1] == "41"


def test_a_folder_with_a_comma_is_quoted_and_one_with_a_quote_refused(job, tmp_path):
    command = words(dataclasses.replace(job, environment=Path("/a,b")), PODMAN_AS_ROOT, tmp_path)
    assert 'type=bind,"source=/a,b",target=/env,readonly' in command
    with pytest.raises(RefuseToStart):
        words(dataclasses.replace(job, environment=Path('/a"b')), PODMAN_AS_ROOT, tmp_path)


def test_files_of_a_run_can_be_read_by_another_user_and_name_no_secret(job, tmp_path):
    folder = tmp_path / "run"
    folder.mkdir(mode=0o700)
    changed = dataclasses.replace(
        job, tree=Tree(job.tree.template, {"file": None, "n\u00e9w": b"1"}), payload=b"key"
    )
    container_arguments.write_inputs(changed, PODMAN_AS_ROOT, folder)
    for path in folder.rglob("*"):
        assert path.stat().st_mode & 0o777 == (0o755 if path.is_dir() else 0o644)
        assert path.is_dir() or b"key" not in path.read_bytes() or path.name == "container_init.py"
    plan = json.loads((folder / "inside" / "plan.json").read_bytes())
    assert plan["removals"] == [b"file".hex()]
    assert plan["writes"] == [["n\u00e9w".encode().hex(), 0o644]]


@given(st.lists(st.integers(0, 20_000), max_size=5))
def test_the_size_of_a_tree_covers_its_pages(tmp_path_factory, sizes):
    folder = tmp_path_factory.mktemp("tree")
    changes = {f"f{number}": bytes(size) for number, size in enumerate(sizes)}
    found = container_arguments.tree_bytes(Tree(folder, changes))
    assert found % 4096 == 0
    assert sum(sizes) <= found < sum(sizes) + 4096 * (len(sizes) + 1)


@pytest.mark.parametrize(
    ("path", "expected"),
    [("/usr", True), ("/usr/lib/go", True), ("/usr/local", False), ("/opt/python", False)],
)
def test_what_belongs_to_the_system(path, expected):
    assert container_arguments.of_the_system(Path(path)) is expected


def test_a_recipe_is_known_by_its_content():
    """A golden value: images are found by it."""
    assert Recipe().key == Recipe(packages=Recipe().packages).key
    assert Recipe(epoch=1).key != Recipe().key != Recipe(suite="trixie").key
    assert Recipe(suite="s", packages=("p",), mirrors=(), epoch=0).key.startswith("dce3409f5633e2ef")


def test_a_missing_engine_says_what_to_install(tmp_path):
    with pytest.raises(RefuseToStart, match="podman is missing") as caught:
        Engine.find("podman", str(tmp_path), {})
    assert "apt-get install podman" in caught.value.repair
    gone = Engine("docker", tmp_path / "docker")
    probe = Container(tmp_path / "scratch", gone, Image("x", "y", ""), "streams", "watch").probe()
    assert not probe.usable
    assert "docker" in probe.why_not
    assert "install" in probe.repair
    with pytest.raises(RefuseToStart, match="does not work here"):
        Container.open(tmp_path / "scratch", gone, Image("x", "y", ""))


def test_a_missing_builder_says_what_to_install(tmp_path):
    engine = tmp_path / "engine"
    engine.write_text('#!/bin/sh\n[ "$1" = version ]\n')
    engine.chmod(0o755)
    with pytest.raises(RefuseToStart, match="mmdebstrap is missing"):
        build_image(Engine("podman", engine), Recipe(), tmp_path / "s", {"PATH": str(tmp_path)})


def test_an_engine_that_fails_is_infrastructure(tmp_path):
    engine = tmp_path / "engine"
    engine.write_text("#!/bin/sh\necho no daemon >&2; exit 1\n")
    engine.chmod(0o755)
    with pytest.raises(InfrastructureFailure, match="no daemon") as caught:
        build_image(Engine("docker", engine), Recipe(), tmp_path / "s", {})
    assert caught.value.kind == "container-engine"


def test_the_frame_and_the_trailer_keep_their_form():
    """The first process in the container and the harness read the same bytes."""
    assert (HEAD.size, TRAILER.size) == (24, 29)
