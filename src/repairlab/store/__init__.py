"""Attempts, sealing, sealed cells, integrity, locks. The only room that writes `raw/` and `incomplete/`."""
