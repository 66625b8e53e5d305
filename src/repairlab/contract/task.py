"""A frozen task: one real bug as facts and digests. No source, test or patch text stands in it.

The material itself (gold patch, hidden-test patch) is derived from the repository's history and held against
the digests here; see `repairlab.tasks`.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from repairlab.contract.canonical import Json, digest_of, sha256_hex
from repairlab.contract.strict import StrictModel

CommitId = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{1,60}$")]


def _contained(path: str) -> str:
    if path.startswith("/") or any(part in ("", ".", "..") for part in path.split("/")):
        raise ValueError("not a plain relative path")
    return path


RelativePath = Annotated[
    str, StringConstraints(pattern=r"^[^\x00-\x1f\\]+$", max_length=400), AfterValidator(_contained)
]
TestId = Annotated[str, StringConstraints(min_length=1, max_length=1000)]
Language = Literal["python", "go"]


class Environment(StrictModel):
    """What the tests of a task run in. The installed environment is keyed by these facts."""

    python: str = ""
    """A version specifier such as ``>=3.11,<3.14``; empty for Go."""
    requirements: tuple[str, ...] = ()
    """The full closure, each as ``name==version``; nothing is resolved at run time."""
    pythonpath: tuple[str, ...] = (".",)
    """Folders of the checkout on the import path, relative to its root."""
    framework: Literal["pytest", "unittest", "django"] = "pytest"
    """What runs a Python task's tests."""
    plugins: tuple[str, ...] = ()
    """pytest plugins to load by name; none is loaded because it happens to be installed."""
    django_settings: str = ""
    """Settings module of a Django project; empty for every other framework."""
    go: str = ""
    """A version specifier of the toolchain, such as ``>=1.23``; empty for Python."""


class Limits(StrictModel):
    """Absolute limits of a test run. Frozen for each task, so that no machine changes a verdict silently."""

    public_seconds: int = Field(gt=0, le=3600)
    evaluation_seconds: int = Field(gt=0, le=7200)
    memory_bytes: int = Field(default=4 * 2**30, ge=2**26)
    processes: int = Field(default=256, ge=8, le=8192)


class TaskDigests(StrictModel):
    """SHA-256 of what is derived from the clone (see `repairlab.tasks.material` for the exact bytes)."""

    gold_patch: Sha256
    hidden_tests: Sha256


class Task(StrictModel):
    """One bug: where it is, how it is stated, how a repair is judged."""

    schema_version: Literal[1]
    id: Name
    repository: str = Field(pattern=r"^(https://[^\s]+|embedded:[a-z0-9-]+)$")
    """``https://...`` of the upstream project, or ``embedded:NAME`` for one that repairlab carries."""
    language: Language
    base: CommitId
    fix: CommitId
    statement: str = Field(min_length=40)
    """The public statement, the same in every treatment. It names no file of the fix."""
    production_files: tuple[RelativePath, ...] = Field(min_length=1)
    """The gold files, those of the fix that are not tests. Existing or created."""
    created_files: tuple[RelativePath, ...] = ()
    """Those of `production_files` that do not exist at the base."""
    hidden_test_files: tuple[RelativePath, ...] = Field(min_length=1)
    """Laid over the patched base before scoring, byte for byte as they are at `fix`."""
    fail_to_pass: tuple[TestId, ...] = Field(min_length=1)
    pass_to_pass: tuple[TestId, ...]
    public_tests: tuple[RelativePath, ...] = Field(min_length=1)
    """The frozen public allowlist: test files at the base that `run_tests` runs."""
    environment: Environment
    limits: Limits
    digests: TaskDigests

    @model_validator(mode="after")
    def _consistent(self) -> Task:
        overlap = set(self.fail_to_pass) & set(self.pass_to_pass)
        if overlap:
            raise ValueError(f"a test is both fail-to-pass and pass-to-pass: {min(overlap)}")
        if not set(self.created_files) <= set(self.production_files):
            raise ValueError("created_files must be among production_files")
        if bool(self.environment.go) != (self.language == "go"):
            raise ValueError("environment.go belongs to Go tasks, and every Go task names it")
        if set(self.production_files) & set(self.hidden_test_files):
            raise ValueError("a file is both a production file and a hidden test file")
        for field in ("fail_to_pass", "pass_to_pass", "public_tests", "production_files"):
            values: tuple[str, ...] = getattr(self, field)
            if len(set(values)) != len(values):
                raise ValueError(f"{field} lists an entry twice")
        return self

    @property
    def statement_digest(self) -> str:
        """SHA-256 of the statement's UTF-8 bytes; calibration engines know a task by it."""
        return sha256_hex(self.statement.encode())

    @property
    def required_tests(self) -> tuple[str, ...]:
        """Every test that must pass for `resolved_at_1` = 1, fail-to-pass first."""
        return self.fail_to_pass + self.pass_to_pass

    def facts(self) -> Json:
        """All facts as JSON values; what the task's digest covers."""
        facts: Json = self.model_dump(mode="json")
        return facts

    def digest(self) -> str:
        """Identity of the task: SHA-256 over the canonical JSON of every fact."""
        return digest_of(self.facts())
