"""Payments and the open items that they settle."""

from ledgerline.payments.allocate import Settlement, Strategy, allocate
from ledgerline.payments.open_items import OpenItem, Payment, ageing, open_items

__all__ = ["OpenItem", "Payment", "Settlement", "Strategy", "ageing", "allocate", "open_items"]
