"""The tables of an experiment: one definition for reading, for the export and for its data dictionary."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

Type = pl.DataType | type[pl.DataType]


@dataclass(frozen=True, slots=True)
class Column:
    """One column: what it holds, in which unit, and what its null says."""

    name: str
    type: Type
    meaning: str
    unit: str = ""
    null: str = "never"


@dataclass(frozen=True, slots=True)
class Table:
    """One table. A row is what `row` says; the key columns are written in front of these."""

    name: str
    row: str
    columns: tuple[Column, ...]

    @property
    def schema(self) -> dict[str, Type]:
        """Name to type of the table's own columns, with the cell's sequence number in front."""
        return {"sequence": pl.UInt32, **{column.name: column.type for column in self.columns}}


KEYS: tuple[Column, ...] = (
    Column("sequence", pl.UInt32, "place of the cell in the frozen order, from 0"),
    Column("cell", pl.String, "name of the planned cell"),
    Column("task", pl.String, "the task"),
    Column("repository", pl.String, "where the task's project comes from; the stratum of the analysis"),
    Column("language", pl.String, "`python` or `go`"),
    Column("treatment", pl.String, "the arm"),
    Column(
        "label",
        pl.String,
        "`controlled adaptation` where the arm rebuilds another system under this study's controls; it"
        " is never an official score of that system. Empty for all others",
    ),
    Column("model", pl.String, "the agent model"),
    Column("calibration", pl.Boolean, "the model is a program of known behaviour and no language model"),
    Column("simulated", pl.Boolean, "the outcome was drawn by a random generator: no agent ran"),
    Column("seed", pl.UInt32, "sampling seed of the draw"),
    Column("repetition", pl.UInt32, "repetition of the draw"),
)
"""Every row of every table carries these: no file of an export loses a label when read alone."""

_UNSEALED = "the cell is not sealed"
_SECONDS = "seconds"

CELLS = Table(
    "cells",
    "one planned cell, sealed or not",
    (
        Column("sealed", pl.Boolean, "the cell has a sealed record whose seal holds"),
        Column("identity", pl.String, "SHA-256 of the planned identity"),
        Column("code", pl.String, "research-code revision of the planned identity: the evaluator's version"),
        Column("sealed_as", pl.String, "name of the folder in `raw/` that holds the record", null=_UNSEALED),
        Column("freeze", pl.String, "digest of the freeze record that the cell ran under", null=_UNSEALED),
        Column("seal", pl.String, "SHA-256 over the checksums of every artifact", null=_UNSEALED),
        Column("seal_outcome", pl.String, "the same without clocks", null=_UNSEALED),
        Column("resolved_at_1", pl.Int8, "1: the one final patch passes every hidden test", null=_UNSEALED),
        Column("status", pl.String, "`resolved` or `unresolved`", null=_UNSEALED),
        Column("reason", pl.String, "why the cell ended as it did, in one word", null=_UNSEALED),
        Column("end", pl.String, "what ended the episode: `finish` or a budget", null=_UNSEALED),
        Column("verdict", pl.String, "the evaluator's word", null=_UNSEALED),
        Column("required_tests", pl.UInt32, "hidden tests that must pass", "tests", _UNSEALED),
        Column("required_tests_passed", pl.UInt32, "those that did", "tests", _UNSEALED),
        Column("model_calls", pl.UInt32, "requests to the model that were answered", "calls", _UNSEALED),
        Column(
            "tool_calls", pl.UInt32, "tool calls, refused ones included, `finish` not", "calls", _UNSEALED
        ),
        Column(
            "tool_calls_refused_by_budget",
            pl.UInt32,
            "those of tool_calls that were counted and not executed",
            "calls",
            _UNSEALED,
        ),
        Column("public_test_runs", pl.UInt32, "executed runs of the public tests", "runs", _UNSEALED),
        Column(
            "prompt_tokens",
            pl.UInt64,
            "sum over replies",
            "tokens",
            "the cell is not sealed, or the host gave no usable count for a reply: unknown, not 0",
        ),
        Column(
            "completion_tokens",
            pl.UInt64,
            "sum over replies",
            "tokens",
            "the cell is not sealed, or the host gave no usable count for a reply: unknown, not 0",
        ),
        Column("patch_bytes", pl.UInt64, "size of the final patch", "bytes", _UNSEALED),
        Column(
            "agent_seconds",
            pl.Float64,
            "model and tools: the clock that the budget binds",
            _SECONDS,
            _UNSEALED,
        ),
        Column(
            "agent_seconds_at_last_start",
            pl.Float64,
            "the same when its last interval began: within the budget",
            _SECONDS,
            _UNSEALED,
        ),
        Column("residency_seconds", pl.Float64, "loading and unloading of models", _SECONDS, _UNSEALED),
        Column("evaluation_seconds", pl.Float64, "the hidden evaluation", _SECONDS, _UNSEALED),
        Column("wall_seconds", pl.Float64, "the whole cell", _SECONDS, _UNSEALED),
        Column("started_utc", pl.String, "when the sealed attempt began", null=_UNSEALED),
        Column("attempt", pl.UInt32, "number of the attempt that was sealed, from 1", null=_UNSEALED),
        Column("infrastructure_attempts", pl.UInt32, "attempts that ended without an outcome", "attempts"),
        Column("environment", pl.String, "digest of the test environment's key and versions", null=_UNSEALED),
        Column("sandbox", pl.String, "what contained the tests", null=_UNSEALED),
        Column("evaluator", pl.String, "version of repairlab that scored", null=_UNSEALED),
        Column("host_level", pl.String, "how the model's residency was verified", null=_UNSEALED),
    ),
)

ATTEMPTS = Table(
    "attempts",
    "one attempt at a cell: the sealed one, and every attempt that gave no outcome",
    (
        Column("attempt", pl.UInt32, "number of the attempt, from 1"),
        Column("end", pl.String, "`sealed`, `infrastructure` or `interrupted` (the runner was ended)"),
        Column(
            "kind",
            pl.String,
            "row of the frozen failure table",
            null="the attempt was no infrastructure failure",
        ),
        Column("message", pl.String, "what was seen", null="the attempt was no infrastructure failure"),
    ),
)

CALLS = Table(
    "calls",
    "one reply of the model, or one call of a tool",
    (
        Column("n", pl.UInt32, "record of the transcript"),
        Column("by", pl.String, "`model`: a reply; `tool`: a call and its answer"),
        Column("tool", pl.String, "name of the tool as the model wrote it", null="a reply of the model"),
        Column(
            "kind",
            pl.String,
            "what became of the call: the tool's name, or why not",
            null="a reply of the model",
        ),
        Column("accepted", pl.Boolean, "the call was executed and accepted", null="a reply of the model"),
        Column("answer_characters", pl.UInt64, "length of the answer", "characters", "a reply of the model"),
        Column(
            "files",
            pl.UInt32,
            "files that the answer showed or the patch changed",
            "files",
            "a reply of the model",
        ),
        Column(
            "finish_reason", pl.String, "why the reply ended, as the host says", null="a call, or not stated"
        ),
        Column(
            "prompt_tokens",
            pl.UInt64,
            "of this request",
            "tokens",
            "a call, or the host did not say: unknown",
        ),
        Column(
            "completion_tokens",
            pl.UInt64,
            "of this reply",
            "tokens",
            "a call, or the host did not say: unknown",
        ),
    ),
)

TRANSITIONS = Table(
    "transitions",
    "one verified change of which model is loaded",
    (
        Column("number", pl.UInt32, "0 is the load at the start of the cell; swaps follow"),
        Column("to", pl.String, "`agent` or `embedder`"),
        Column("host_model", pl.String, "key at the host", null="not recorded"),
        Column("level", pl.String, "how it was verified: `rest`, or `rest+lms`", null="not recorded"),
        Column("loaded", pl.Boolean, "a load took place", null="not recorded"),
        Column("unloaded", pl.UInt32, "instances that were unloaded first", "instances", "not recorded"),
        Column(
            "seconds",
            pl.Float64,
            "length of the change",
            _SECONDS,
            "the load at the start: see residency_seconds",
        ),
        Column(
            "first_token_seconds",
            pl.Float64,
            "from the next request to the first token of its reply, on the residency clock too",
            _SECONDS,
            "no swap to the agent, or a reply that was not streamed",
        ),
    ),
)

FILES = Table(
    "files",
    "one file as a tool returned it (a row for each component that ranked it), as opened, or as edited",
    (
        Column(
            "stage",
            pl.String,
            "`returned` by a search, `selected` by the first stage of three, `opened` (read at length),"
            " or `edited` in the final patch",
        ),
        Column("path", pl.String, "path in the repository"),
        Column("gold", pl.Boolean, "the fix changes this file"),
        Column("n", pl.UInt32, "record of the transcript", null="edited: the final patch has no record"),
        Column("rank", pl.UInt32, "place among the files of the answer, from 1", null="opened or edited"),
        Column("start_line", pl.UInt32, "first line shown", "lines", "selected or edited"),
        Column("end_line", pl.UInt32, "last line shown", "lines", "selected or edited"),
        Column(
            "component",
            pl.String,
            "the search component that ranked the file",
            null="selected, opened or edited",
        ),
        Column(
            "component_rank",
            pl.UInt32,
            "place in that component's own ranking, from 1",
            null="opened or edited",
        ),
    ),
)

TESTS = Table(
    "tests",
    "one required hidden test of one sealed cell",
    (
        Column("test", pl.String, "name of the test"),
        Column(
            "required",
            pl.String,
            "`fail-to-pass` or `pass-to-pass`",
            null="not among the task's required tests",
        ),
        Column("outcome", pl.String, "what became of it; only `passed` counts"),
    ),
)

TABLES: tuple[Table, ...] = (CELLS, ATTEMPTS, CALLS, TRANSITIONS, FILES, TESTS)
