"""From a query and records to other records."""
