"""Simulated stores: outcomes drawn by a seeded generator, in the real format, for tests and for teaching."""
