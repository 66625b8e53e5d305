"""Fixed texts that a preflight sends. None comes from a task of a study."""

from __future__ import annotations

STATEMENT = (
    "Totals of a shopping basket are wrong after a voucher was removed.\n\n"
    "When a voucher is taken back, `Basket.total` still subtracts it until the basket is stored and read "
    "again. Expected: the total is right at once."
)
"""A report of a fault, in the place of a task's statement."""
FILE = "shop/basket.py"
COUNT_UP = "Write the whole numbers from 1 to 4000 in order, one a line, and nothing else. Leave none out."
COUNT_AGAIN = (
    "Write the whole numbers from 7001 to 11000 in order, one a line, and nothing else. Leave none out."
)
CODE = '''
class Basket:
    """Lines of an order, and vouchers that lower its total."""

    def __init__(self, lines=(), vouchers=()):
        self._lines = list(lines)
        self._vouchers = {voucher.code: voucher for voucher in vouchers}
        self._cached_total = None

    def add(self, article, quantity=1, *, note=""):
        if quantity < 1:
            raise ValueError(f"quantity must be positive, not {quantity!r}")
        self._lines.append(Line(article, quantity, note))
        self._cached_total = None

    def remove_voucher(self, code):
        return self._vouchers.pop(code, None)

    @property
    def total(self):
        if self._cached_total is None:
            subtotal = sum(line.price * line.quantity for line in self._lines)
            self._cached_total = max(0, subtotal - sum(v.amount for v in self._vouchers.values()))
        return self._cached_total


func (b *Basket) Total(ctx context.Context) (int64, error) {
\tif b == nil || len(b.lines) == 0 {
\t\treturn 0, nil
\t}
\tvar total int64
\tfor _, line := range b.lines {
\t\tif err := ctx.Err(); err != nil {
\t\t\treturn 0, fmt.Errorf("total of %q: %w", b.id, err)
\t\t}
\t\ttotal += line.price * int64(line.quantity)
\t}
\treturn total, nil
}
'''
"""Source code in the two languages of a study."""
DENSE = "\n".join(
    ", ".join(str((row * 7919 + column * 104729) % 1000003) for column in range(12)) for row in range(40)
)
"""Rows of numbers: tokenizers that take each digit alone need most tokens here."""


def numbered(text: str) -> str:
    """`text` with line numbers, as tools show it."""
    return "\n".join(f"{number}: {line}" for number, line in enumerate(text.split("\n"), start=1))
