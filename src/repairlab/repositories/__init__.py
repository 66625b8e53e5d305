"""Mirrors, templates, workspaces, unified diffs, the patch policy, reconstruction."""
