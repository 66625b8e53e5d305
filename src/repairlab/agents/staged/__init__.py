"""A001: three stages, each a conversation of its own, and no tools."""
