from __future__ import annotations

import pytest

from ledgerline.reports.table import Align, render


def test_columns_are_as_wide_as_needed():
    assert render(["Name", "Sum"], [["a", "1.00"], ["longer", "10.00"]]) == (
        "Name      Sum\n------  -----\na        1.00\nlonger  10.00\n"
    )


def test_footer():
    assert render(["N", "S"], [["a", "1"]], footer=["T", "1"]).splitlines()[-2:] == ["-  -", "T  1"]


def test_alignment():
    table = render(["Left", "Left"], [["a", "b"]], align=[Align.LEFT, Align.LEFT])
    assert table.splitlines()[-1] == "a     b"


def test_ragged_rows_are_refused():
    with pytest.raises(ValueError, match="1 cells"):
        render(["a", "b"], [["only one"]])
