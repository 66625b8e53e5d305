"""What agents read: the texts and tools under ``contracts/prompts/``, a file each.

``system.txt`` and ``task.txt`` are common to all treatments. ``interactive/`` and ``staged/`` fill their
slots for the two kinds of treatment; ``oracle.txt`` is the section of an oracle treatment; ``tools/`` has a
TOML file a tool. A dollar sign marks a slot; nothing else differs between tasks. The line feed that ends a
file is no part of its text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template

from repairlab.contract.errors import BadInput
from repairlab.contract.strict import StrictModel, load
from repairlab.contract.tools import Tool

FOLDER = "prompts"
_TOOLS = "tools"
_SLOTS: Mapping[str, frozenset[str]] = {
    "system.txt": frozenset({"access", "conduct"}),
    "task.txt": frozenset({"statement", "oracle", "work"}),
    "oracle.txt": frozenset({"files"}),
    "interactive/access.txt": frozenset(),
    "interactive/conduct.txt": frozenset(),
    "interactive/budgets.txt": frozenset({"model_calls", "tool_calls", "public_test_runs"}),
    "interactive/reminder.txt": frozenset(),
    "staged/access.txt": frozenset(),
    "staged/conduct.txt": frozenset(),
    "staged/files.txt": frozenset({"skeleton", "selected_files"}),
    "staged/lines.txt": frozenset({"source", "locations"}),
    "staged/repair.txt": frozenset({"places", "source"}),
}
"""Every text, with the slots that it must have."""


class InteractivePrompts(StrictModel):
    """Texts of treatments that call tools."""

    access: str
    conduct: str
    budgets: str
    reminder: str
    """Answer to a reply without a valid call."""


class StagedPrompts(StrictModel):
    """Texts of treatments that work in stages; one for each stage."""

    access: str
    conduct: str
    files: str
    lines: str
    repair: str


class Prompts(StrictModel):
    """All texts."""

    system: str
    task: str
    oracle: str
    """The section that only an oracle treatment has."""
    interactive: InteractivePrompts
    staged: StagedPrompts


@dataclass(frozen=True, slots=True)
class Wording:
    """Prompts and tools."""

    prompts: Prompts
    tools: Mapping[str, Tool]
    """By the name of its file."""

    def offered(self, entries: tuple[str, ...]) -> dict[str, Tool]:
        """The tools of these entries by the names that the model calls, in their order.

        Raises:
            BadInput: two of them have one name.
        """
        found: dict[str, Tool] = {}
        for entry in entries:
            name = self.tools[entry].exposed or entry
            if name in found:
                raise BadInput(f"contracts/prompts/tools: two tools of one treatment are called {name!r}")
            found[name] = self.tools[entry]
        return found


def fill(text: str, **slots: str) -> str:
    """`text` with its slots filled. A dollar sign in a value stays one."""
    return Template(text).substitute(slots)


def load_wording(contracts: Path) -> Wording:
    """Read ``prompts/`` in the folder `contracts`, whole and strictly.

    Raises:
        BadInput: naming the file that is missing, unknown, or not of its form.
    """
    folder = contracts / FOLDER
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    tools = sorted(name for name in names if name.startswith(f"{_TOOLS}/") and name.endswith(".toml"))
    unknown = sorted(names - _SLOTS.keys() - set(tools))
    if unknown:
        raise BadInput(f"{folder / unknown[0]}: unknown file (texts here: {', '.join(_SLOTS)})")
    texts = {name: _text(folder / name, slots) for name, slots in _SLOTS.items()}
    prompts = Prompts(
        system=texts["system.txt"],
        task=texts["task.txt"],
        oracle=texts["oracle.txt"],
        interactive=InteractivePrompts(**_part(texts, "interactive")),
        staged=StagedPrompts(**_part(texts, "staged")),
    )
    return Wording(prompts, dict(_tools(folder, tools)))


def _part(texts: Mapping[str, str], kind: str) -> dict[str, str]:
    inside = {name.partition("/")[2]: text for name, text in texts.items() if name.startswith(f"{kind}/")}
    return {name.removesuffix(".txt"): text for name, text in inside.items()}


def _tools(folder: Path, names: list[str]) -> Iterator[tuple[str, Tool]]:
    for name in names:
        yield name.removeprefix(f"{_TOOLS}/").removesuffix(".toml"), load(Tool, folder / name)


def _text(path: Path, slots: frozenset[str]) -> str:
    try:
        text = path.read_bytes().decode("utf-8")
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: not UTF-8 (byte {error.start})") from error
    if not text.endswith("\n") or text.endswith("\n\n") or not text.strip() or "\r" in text:
        raise BadInput(f"{path}: must be text whose last line ends with a line feed and is not blank")
    template = Template(text)
    if not template.is_valid() or set(template.get_identifiers()) != slots:
        found = ", ".join(sorted(template.get_identifiers())) or "none"
        raise BadInput(f"{path}: slots: {found}; expected {', '.join(sorted(slots)) or 'none'}")
    return text.removesuffix("\n")
