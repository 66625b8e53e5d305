"""Fiscal calendars, closing and deferrals."""

from ledgerline.periods.calendar import FiscalCalendar, Period, add_months, end_of_month

__all__ = ["FiscalCalendar", "Period", "add_months", "end_of_month"]
