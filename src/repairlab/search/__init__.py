"""What agents search with, built from git objects at a task's base commit."""
