"""``python -m repairlab.cli``: the same as the command ``repairlab``."""

from repairlab.cli.main import entry

entry()
