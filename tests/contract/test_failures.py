from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from repairlab.contract.errors import BadInput
from repairlab.contract.failures import CONDITIONS, QUIRKS, FailureTable, load_failures

CONTRACTS = Path(__file__).resolve().parents[2] / "contracts"


@pytest.fixture(scope="module")
def table() -> FailureTable:
    return load_failures(CONTRACTS)


@pytest.fixture
def changed(tmp_path: Path) -> Callable[[str, str], Path]:
    """The folder of a copy of the table in which one text is replaced by another."""

    def change(old: str, new: str) -> Path:
        text = (CONTRACTS / "failures.toml").read_text(encoding="utf-8")
        assert old in text
        (tmp_path / "failures.toml").write_text(text.replace(old, new, 1), encoding="utf-8")
        return tmp_path

    return change


def test_each_quirk_and_each_condition_has_exactly_one_row(table: FailureTable):
    numbers = [row.quirk for row in table.failure if row.quirk is not None]
    assert sorted(numbers) == list(range(1, QUIRKS + 1))
    assert sorted(name for row in table.failure for name in row.conditions) == sorted(CONDITIONS)


def test_only_three_rows_repeat_anything_and_each_only_once(table: FailureTable):
    repeated = {row.id: row.retries for row in table.failure if row.retries}
    assert repeated == {"resources-refused": 1, "call-dropped": 1, "embedding-malformed": 1}


def test_text_of_the_model_is_looked_for_before_anything_that_it_may_quote(table: FailureTable):
    assert table.failure[0].id == "arguments-not-json"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("quirk = 7\n", "", "quirk 7 has no row"),
        ("quirk = 7\n", "quirk = 8\n", "quirk 8 has two rows"),
        ("quirk = 7\n", "quirk = 41\n", "less than or equal to 40"),
        ('conditions = ["model-gone"]\n', "", "condition model-gone has no row"),
        ('conditions = ["model-gone"]', 'conditions = ["model-gon"]', "conditions"),
        ('id = "grammar"', 'id = "template"', "id template has two rows"),
        ('markers = ["n_tokens = 0"]', 'markers = ["exit code 7"]', "caught before by worker-crashed"),
        ('markers = ["n_tokens = 0"]', 'markers = ["N_tokens"]', "lower case"),
        ('in_run = "accept"', 'in_run = "ignore"', "in_run"),
        ("retries = 0", "retries = 9", "retries"),
        ("retries = 0", "tries = 0", "unknown key"),
        ("schema_version = 1", "schema_version = 2", "schema_version"),
    ],
)
def test_a_table_with_a_hole_or_a_double_is_refused(
    changed: Callable[[str, str], Path], old: str, new: str, said: str
):
    with pytest.raises(BadInput, match=r"failures\.toml") as caught:
        load_failures(changed(old, new))
    assert said in str(caught.value)


def test_a_refusal_without_a_repair_is_refused(changed: Callable[[str, str], Path]):
    folder = changed('repair = "Close what else loads models at this host, and update the server."\n', "")
    with pytest.raises(BadInput, match="says how to repair"):
        load_failures(folder)
