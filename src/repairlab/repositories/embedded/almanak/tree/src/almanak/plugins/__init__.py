"""Functions, filters and formats from elsewhere."""
