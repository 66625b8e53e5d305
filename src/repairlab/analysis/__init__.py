"""From sealed cells to tables. Reads `raw/` and nothing else."""
