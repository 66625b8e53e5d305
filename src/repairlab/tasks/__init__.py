"""Frozen tasks and the material derived for them from a clone: gold patch, hidden tests."""
