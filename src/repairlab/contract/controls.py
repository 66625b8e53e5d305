"""The shared controls of the study, one typed group for each part of ``contracts/shared.toml``.

A unit is part of a field's name. Each group enters the configuration of exactly those treatments that use it
(`repairlab.contract.treatments`), so that a changed number moves exactly the identities that depend on it.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from repairlab.contract.strict import StrictModel

Count = Field(ge=1, le=10_000)
Ratio = Field(ge=1, le=100)
"""Of rapidfuzz: 100 * (1 - d / (m + n)) for texts of m and n characters, d insertions and deletions apart."""
Weight = Field(gt=0, le=1)


class Budgets(StrictModel):
    """What one episode may use. ``finish`` is free; every other call counts once, refused ones included."""

    model_calls: int = Count
    tool_calls: int = Count
    public_test_runs: int = Field(ge=0, le=100)
    agent_clock_seconds: int = Field(ge=1, le=86_400)
    binding_clock: Literal["agent", "wall"]
    """Which of the clocks ends an episode. The residency clock never does."""


class Generation(StrictModel):
    """How every agent model is asked."""

    context_tokens: int = Field(ge=1024, le=2**20)
    completion_tokens: int = Field(ge=16, le=2**17)
    bytes_per_token: float = Field(gt=0, le=8)
    """The token rule: text of n UTF-8 bytes is taken for at most ceil(n / bytes_per_token) tokens.

    Source code has two to four bytes a token, rows of digits hardly more than one (a real tokenizer was seen
    at 0.99, its template counted), so 1 is the greatest value under which the rule is a bound. It costs
    little: it bounds only what came since the host's last count.
    """
    silence_seconds: int = Field(ge=1, le=7200)
    """No token and no sign of prompt processing for so long is a failure of the host, not of the model."""
    fresh_load_for_each_cell: bool


class Interaction(StrictModel):
    """How replies of a model are taken. One policy for all arms."""

    calls_per_reply: int = Count
    """Calls beyond this number in one reply are refused; each still counts."""
    argument_bytes: int = Field(ge=1024, le=2**26)
    calls_in_text: Literal["reminder"]
    """A call written as text is not executed; the reply counts as one without a valid call."""
    reasoning_in_history: bool
    """Whether a reply's reasoning is sent back in later requests."""


class View(StrictModel):
    """How much of a file one call shows."""

    read_lines: int = Count
    line_characters: int = Field(ge=80, le=100_000)
    """A longer line is cut, with a note of how much was cut."""
    answer_characters: int = Field(ge=1000, le=1_000_000)
    """A longer answer of any tool is cut at its end, with a note of how much was cut."""


class Search(StrictModel):
    """What every search tool returns, whatever finds it."""

    files: int = Count
    snippet_lines: int = Count
    query_characters: int = Field(ge=16, le=100_000)


class Corpus(StrictModel):
    """Which files of the base commit are searched: the same in every treatment."""

    python_suffixes: tuple[str, ...]
    go_suffixes: tuple[str, ...]
    file_bytes: int = Field(ge=1024, le=2**30)
    """Larger files are left out and listed with the reason."""
    generated: Literal["behind-all-others"]
    """Where a generated file stands in every ranking of files, whatever its score."""
    generated_lines: int = Count
    """A file is generated if a comment among its first so many lines says "generated" and "do not edit"."""


class Exact(StrictModel):
    """Literal, substring and regular-expression scan."""

    engine: Literal["re2"]
    order: Literal["matching-lines-then-path"]
    instructions: int = Field(ge=100, le=10_000)
    """Largest size of a compiled pattern; a larger one is refused."""
    steps: int = Field(ge=1)
    """Largest product of a pattern's instructions and the bytes to scan; RE2's worst time goes with it.

    A limit in steps, unlike one in seconds, refuses the same queries on every machine. The slowest pattern
    known took 33 s at 40,000,000,000 steps, over 27 MB on one core.
    """


class Paths(StrictModel):
    """Listing files by name."""

    listed_files: int = Count
    """More files that match are counted, not named."""


class Dense(StrictModel):
    """Chunks and vectors of dense retrieval."""

    chunk_lines: int = Count
    chunk_overlap_lines: int = Field(ge=0)
    chunk_characters: int = Field(ge=100)
    dimensions: int = Count
    query_instruction: str = Field(min_length=1)
    chunks_shown: int = Count
    """How many best chunks give their files to a dense-first answer."""
    document_form: Literal["chunk-text"]
    """What is embedded of a chunk: its text alone, so that equal texts share one vector."""
    query_form: Literal["qwen3-instruct"]
    """``Instruct: <instruction>`` and ``Query:<query>`` on two lines."""
    bytes_per_token: float = Field(gt=0, le=8)
    """The token rule of the embedder. At 2 the longest chunk, all of four-byte characters, still fits a
    context of 32,768; a text that the rule forbids is an error and never cut."""
    score_digits: Literal[6]
    """Scores are rounded to so many digits before they are ordered."""
    snippet: Literal["most-query-words"]
    """Which window of a chunk is shown: the one with most distinct words of the query, then the earliest."""

    @model_validator(mode="after")
    def _overlap_is_shorter(self) -> Dense:
        if self.chunk_overlap_lines >= self.chunk_lines:
            raise ValueError("chunk_overlap_lines must be less than chunk_lines")
        return self


class Lexical(StrictModel):
    """BM25 (Okapi) over the frozen chunks."""

    k1: float = Field(gt=0)
    b: float = Field(ge=0, le=1)
    epsilon: float = Field(ge=0)


class Fuzzy(StrictModel):
    """What stands in for a token of a lexical query that the corpus does not hold."""

    characters: int = Count
    """Shorter tokens are left without a replacement."""
    cutoff: int = Ratio
    """Least ratio of a replacement."""
    tokens: int = Count
    """At most so many replacements of one token."""
    weight: float = Field(gt=0, le=1)
    """Factor on their impacts, times the ratio / 100."""


class NamedPaths(StrictModel):
    """When a path in a lexical query brings its file to the front."""

    cutoff: int = Ratio
    """Least ratio."""
    files: int = Count
    """A named path that fits more files than this is passed over."""
    paths: int = Count
    """Only so many named paths of a query are read, the first ones."""


class Symbols(StrictModel):
    """Weights and limits of looking names up. Exact and qualified names weigh 1."""

    last_part_weight: float = Weight
    """Where a dotted term fits by its last part only."""
    folded_weight: float = Weight
    """Where case differs."""
    prefix_weight: float = Weight
    """Where the term is the beginning of a name."""
    similar_weight: float = Weight
    """Where a name is similar, times its ratio / 100."""
    use_weight: float = Weight
    """Share of a file that uses a name, times n / (n + 1) for n uses."""
    prefix_characters: int = Count
    """Shorter terms are no beginning of anything."""
    similar_characters: int = Count
    """Shorter terms are similar to nothing."""
    cutoff: int = Ratio
    """Least ratio of a similar name."""
    names: int = Count
    """At most so many names by beginning or similarity."""


class Fusion(StrictModel):
    """Reciprocal rank fusion: the sum of 1 / (constant + rank) over components (Cormack et al. 2009)."""

    constant: int = Count
    files_for_each_component: int = Count


class Graph(StrictModel):
    """Symbol graph around fused seeds, and its bounds."""

    hops: int = Count
    candidates: int = Count
    """A name that more methods have leads nowhere."""
    references: int = Count
    """Only the first so many references to a node's name are resolved, by path and line."""
    edges: int = Count
    """Of each node and relation only the first so many are kept, by path and line."""
    seeds: int = Count
    """Only the first so many seeds are expanded."""
    relations_shown: int = Count
    """So many relations of a file are told; the others are counted."""


class Staged(StrictModel):
    """A001: what its stages are shown and what of their answers is taken."""

    skeleton_tokens: int = Field(ge=256, le=2**20)
    """Cap of the first stage's paths and names."""
    selected_files: int = Count
    """How many files the first stage may select."""
    source_tokens: int = Field(ge=256, le=2**20)
    """Cap of the source that the second and the third stage are shown."""
    locations: int = Count
    """How many places the second stage may name."""
    margin_lines: int = Field(ge=0, le=10_000)
    """Lines shown before and after each place in the third stage."""
    line_characters: int = Field(ge=80, le=100_000)
    """A longer line is cut, with a note of how much was cut."""
    light_bytes_per_token: int = Field(ge=1, le=16)
    """The token rule of the caps: ASCII letters, underscores and blanks count the n-th part of a token, every
    other byte one. See `repairlab.agents.staged.measure`."""


class PatchRules(StrictModel):
    """How a model's diff is read, and which files it may touch."""

    diff_bytes: int = Field(ge=1024, le=2**26)
    normalisation: tuple[Literal["unwrap-one-fence", "add-final-newline", "recount-hunks"], ...]
    python_suffixes: tuple[str, ...]
    go_suffixes: tuple[str, ...]
    protected_names: tuple[str, ...]
    """File names that no patch may touch or create, such as ``conftest.py``. Shell patterns, any folder."""
    protected_folders: tuple[str, ...]
    """Folder names (any depth) whose contents no patch may touch."""


class Evaluation(StrictModel):
    """How tests are run and what of their result a model sees."""

    hash_seed: int = Field(ge=0, le=2**32 - 1)
    locale: str
    time_zone: str
    output_bytes: int = Field(ge=1024, le=2**30)
    """Cap on what tested code may print before the rest is dropped."""
    shown_failures: int = Count
    """How many failing public tests `run_tests` describes; the others are counted."""
    shown_failure_lines: int = Count
    timeout_reproductions: int = Field(ge=1, le=5)
    """A run over its limit is scored only after so many runs ended the same way."""


class Infrastructure(StrictModel):
    """What happens after a failure that is no outcome."""

    attempts: int = Count
    """A cell is blocked after so many infrastructure attempts."""


class SharedControls(StrictModel):
    """The whole of ``contracts/shared.toml``."""

    schema_version: Literal[1]
    budgets: Budgets
    generation: Generation
    interaction: Interaction
    view: View
    search: Search
    corpus: Corpus
    exact: Exact
    paths: Paths
    dense: Dense
    lexical: Lexical
    fuzzy: Fuzzy
    named_paths: NamedPaths
    symbols: Symbols
    fusion: Fusion
    graph: Graph
    staged: Staged
    patch: PatchRules
    evaluation: Evaluation
    infrastructure: Infrastructure
