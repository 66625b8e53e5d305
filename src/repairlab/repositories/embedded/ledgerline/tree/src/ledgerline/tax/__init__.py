"""Sales tax (value added tax)."""

from ledgerline.tax.compute import TaxLine, compute, net_from_gross, tax_on
from ledgerline.tax.rates import TaxRate, TaxTable

__all__ = ["TaxLine", "TaxRate", "TaxTable", "compute", "net_from_gross", "tax_on"]
