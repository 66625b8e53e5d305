"""Adjusted p-values over a family without structure. Each function keeps the order of its input."""

from __future__ import annotations

from collections.abc import Sequence

from repairlab.contract.errors import BadInput


def bonferroni(p_values: Sequence[float]) -> tuple[float, ...]:
    """Bonferroni's adjusted p-values."""
    checked = checked_p_values(p_values)
    return tuple(min(1.0, p * len(checked)) for p in checked)


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Holm's step-down adjusted p-values (Scand J Stat 1979;6:65-70)."""
    checked = checked_p_values(p_values)
    return _step_down(checked, [len(checked) - place for place in range(len(checked))])


def tarone_holm(p_values: Sequence[float], least: Sequence[float]) -> tuple[float, ...]:
    """Holm's procedure for discrete tests, after Tarone (Biometrics 1990;46:515-522).

    A remaining hypothesis is counted only where its least attainable p does not exceed the p at hand: another
    could not have come out as small. This form is monotone in alpha (Hommel & Krummenauer, Biometrics
    1998;54:673-681) and never above Holm's.

    Args:
        p_values: raw p-values.
        least: the smallest p that each test could have given.

    Raises:
        BadInput: lengths differ, or a p lies below its own least value.
    """
    checked, floors = checked_p_values(p_values), checked_p_values(least)
    if len(checked) != len(floors) or any(p < floor for p, floor in zip(checked, floors, strict=True)):
        raise BadInput("each p needs the least p of its own test, which it cannot undercut")
    order = _order(checked)
    counted = [
        sum(1 for other in order[place:] if floors[other] <= checked[one]) for place, one in enumerate(order)
    ]
    return _step_down(checked, counted)


def benjamini_hochberg(p_values: Sequence[float]) -> tuple[float, ...]:
    """Benjamini & Hochberg's q-values (J R Stat Soc B 1995;57:289-300), for exploratory lists alone."""
    checked = checked_p_values(p_values)
    adjusted, smallest = [1.0] * len(checked), 1.0
    for place, one in reversed(list(enumerate(_order(checked), start=1))):
        smallest = min(smallest, checked[one] * len(checked) / place)
        adjusted[one] = smallest
    return tuple(adjusted)


def checked_p_values(p_values: Sequence[float]) -> tuple[float, ...]:
    """The p-values as floats.

    Raises:
        BadInput: one lies outside [0, 1] or is not a number.
    """
    numbers = tuple(float(p) for p in p_values)
    if any(not 0 <= p <= 1 for p in numbers):
        raise BadInput(f"a p-value lies between 0 and 1: {numbers}")
    return numbers


def _order(p_values: Sequence[float]) -> list[int]:
    return sorted(range(len(p_values)), key=lambda index: (p_values[index], index))


def _step_down(p_values: Sequence[float], factors: Sequence[int]) -> tuple[float, ...]:
    """Multiply the p-values, from the smallest on, by their factors; none falls below its predecessor."""
    adjusted, largest = [1.0] * len(p_values), 0.0
    for one, factor in zip(_order(p_values), factors, strict=True):
        largest = max(largest, min(1.0, p_values[one] * factor))
        adjusted[one] = largest
    return tuple(adjusted)
