"""From an experiment to its cells: expansion, order, identity, freeze and verify."""
