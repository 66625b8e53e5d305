"""Running a program on a fresh tree, apart from the rest of the machine: one protocol, several backends."""
