"""Canonical JSON and digests: golden values that may never move."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repairlab.contract.canonical import canonical_json, digest_of

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text() | st.floats(-1e6, 1e6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def test_golden_bytes() -> None:
    value = {"z": [1, 2.0, 0.2, 1e21, -0.0], "a": {"é": "\u2028", "": None}, "b": True}
    expected = '{"a":{"":null,"é":"\u2028"},"b":true,"z":[1,2,0.2,1e+21,0]}'
    assert canonical_json(value) == expected.encode()


def test_golden_digest() -> None:
    # printf '{"a":[true,null],"b":1}' | sha256sum
    assert digest_of({"b": 1, "a": [True, None]}) == (
        "51705a2c9eb3e7e410a58f696a770c3ac3885a0cf43eb7fc88f5e47c11d4d30d"
    )


@given(VALUES)
def test_order_of_keys_has_no_influence(value: object) -> None:
    def reversed_keys(item: object) -> object:
        if isinstance(item, dict):
            return {key: reversed_keys(item[key]) for key in reversed(item)}
        return [reversed_keys(x) for x in item] if isinstance(item, list) else item

    assert canonical_json(value) == canonical_json(reversed_keys(value))


@given(VALUES)
def test_canonical_bytes_mean_the_same_value(value: object) -> None:
    assert json.loads(canonical_json(value)) == value


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 2**53, "\ud800"])
def test_values_without_a_canonical_form_are_refused(value: object) -> None:
    with pytest.raises(ValueError):
        canonical_json(value)
