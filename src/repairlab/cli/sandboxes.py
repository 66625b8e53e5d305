"""Which sandbox a command uses, by the name that the user gives it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from repairlab.contract.errors import BadInput, RefuseToStart
from repairlab.contract.study import Inputs
from repairlab.evaluation.sandbox.bubblewrap import Bubblewrap
from repairlab.evaluation.sandbox.container import Container
from repairlab.evaluation.sandbox.container_engine import Engine
from repairlab.evaluation.sandbox.container_image import Recipe, build_image
from repairlab.evaluation.sandbox.model import Sandbox
from repairlab.evaluation.sandbox.unsandboxed import Unsandboxed
from repairlab.runner.workplace import Workplace

SANDBOXES = ("bubblewrap", "copy", "podman", "docker", "none")
_ENGINE_VARIABLES = (
    "HOME", "XDG_RUNTIME_DIR", "DOCKER_HOST", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY",
    "http_proxy", "https_proxy", "no_proxy",
)  # fmt: skip


def choose_sandbox(
    name: str, inputs: Inputs, workplace: Workplace, environment: Mapping[str, str]
) -> Sandbox:
    """The sandbox called `name`, tried before it is returned.

    Args:
        name: one of `SANDBOXES`; ``copy`` is bubblewrap without an overlay.
        inputs: the experiment, which may forbid doing without.
        workplace: where folders of runs are made.
        environment: of the command line; container engines get the parts of it that they need.

    Raises:
        BadInput: no such name.
        RefuseToStart: it does not work here; or ``none`` where the experiment does not allow it.
    """
    scratch = workplace.root / "sandboxes"
    match name:
        case "bubblewrap":
            return Bubblewrap.open(scratch)
        case "copy":
            return Bubblewrap(scratch, Bubblewrap.open(scratch).tools, "copy")
        case "podman" | "docker":
            return container(name, workplace, environment)
        case "none":
            if not inputs.experiment.allow_unsandboxed:
                raise RefuseToStart(
                    f"{inputs.experiment.name} does not allow unsandboxed tests",
                    repair="install bubblewrap; only experiments on embedded repositories may do without",
                )
            return Unsandboxed(scratch)
        case _:
            raise BadInput(f"--sandbox {name}: there are {', '.join(SANDBOXES)}")


def container(
    kind: Literal["podman", "docker"], workplace: Workplace, environment: Mapping[str, str]
) -> Container:
    """The container backend with its image, which is made from Debian's packages when it is not there yet."""
    variables = {name: environment[name] for name in _ENGINE_VARIABLES if name in environment}
    path = environment.get("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
    engine = Engine.find(kind, path, variables)
    scratch = workplace.root / "sandboxes"
    scratch.mkdir(parents=True, exist_ok=True)
    image = build_image(engine, Recipe(), scratch, {"PATH": path, **variables})
    return Container.open(scratch, engine, image)
