"""The command line: thin commands, and the only room that knows about terminals and the environment."""
