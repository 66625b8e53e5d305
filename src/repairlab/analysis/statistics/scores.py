"""Secondary scores of a patch. A part that does not exist is None and makes the sum None, never 0 or 1."""

from __future__ import annotations

from repairlab.contract.errors import BadInput


def no_regression(passing_after: int, passing_before: int) -> float | None:
    """Of the tests that passed before the patch, the share that passes after it; None where none passed.

    Args:
        passing_after: of the tests that passed before, how many pass after.
        passing_before: tests that passed before.

    Raises:
        BadInput: a negative count, or more after than before.
    """
    if not 0 <= passing_after <= passing_before:
        raise BadInput(f"{passing_after} of {passing_before} tests is no share")
    return passing_after / passing_before if passing_before else None


def fix_score(
    test_pass_rate: float | None, no_regression: float | None, code_quality: float | None
) -> float | None:
    """0.5 test pass rate + 0.3 no regression + 0.2 code quality; None if a part is None.

    Show the parts beside it, and the score of the empty patch, which is far from 0.

    Raises:
        BadInput: a part lies outside [0, 1].
    """
    parts = (test_pass_rate, no_regression, code_quality)
    for part in parts:
        if part is not None and not 0 <= part <= 1:
            raise BadInput(f"a part of the score lies between 0 and 1, not at {part}")
    if test_pass_rate is None or no_regression is None or code_quality is None:
        return None
    return 0.5 * test_pass_rate + 0.3 * no_regression + 0.2 * code_quality
